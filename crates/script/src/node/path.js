// path, as on Linux; the current folder is /.
(need) => {
  const text = (value, name) => { if (typeof value !== 'string') throw new TypeError('The "' + name + '" argument must be of type string. Received ' + (value === null ? 'null' : typeof value)); return value; };
  const parts = (path, rooted) => {
    const out = [];
    for (const part of path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part !== '..') out.push(part);
      else if (out.length > 0 && out[out.length - 1] !== '..') out.pop();
      else if (!rooted) out.push('..');
    }
    return out.join('/');
  };
  const normalize = (path) => {
    if (text(path, 'path') === '') return '.';
    const rooted = path.startsWith('/'), inner = parts(path, rooted);
    const end = path.endsWith('/') && inner !== '' ? '/' : '';
    return (rooted ? '/' : '') + inner + end || (path.endsWith('/') ? './' : '.');
  };
  const join = (...list) => { const joined = list.filter((part) => text(part, 'path') !== '').join('/'); return joined === '' ? '.' : normalize(joined); };
  const resolve = (...list) => {
    let path = '';
    for (let i = list.length - 1; i >= 0 && !path.startsWith('/'); i--) if (text(list[i], 'path') !== '') path = path === '' ? list[i] : list[i] + '/' + path;
    return '/' + parts(path, true);
  };
  const bare = (path) => (path.length > 1 ? path.replace(/\/+$/, '') || '/' : path);
  const basename = (path, suffix) => {
    const name = bare(text(path, 'path')).split('/').pop();
    return suffix !== undefined && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  };
  const dirname = (path) => {
    const at = bare(text(path, 'path')).lastIndexOf('/');
    return at === -1 ? '.' : at === 0 ? '/' : path.slice(0, at).replace(/\/+$/, '') || '/';
  };
  const extname = (path) => { const name = basename(path), at = name.lastIndexOf('.'); return at <= 0 || /^\.+$/.test(name.slice(0, at + 1)) ? '' : name.slice(at); };
  const relative = (from, to) => {
    const a = resolve(from).split('/').filter(Boolean), b = resolve(to).split('/').filter(Boolean);
    let same = 0;
    while (same < a.length && same < b.length && a[same] === b[same]) same++;
    return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/');
  };
  const parse = (path) => {
    const base = basename(path), ext = extname(path), dir = path.includes('/') ? dirname(path) : '';
    return { root: path.startsWith('/') ? '/' : '', dir, base, ext, name: ext === '' ? base : base.slice(0, -ext.length) };
  };
  const format = (p) => { const dir = p.dir ?? p.root, base = p.base ?? (p.name ?? '') + (p.ext ?? ''); return !dir ? base : dir === p.root ? dir + base : dir + '/' + base; };
  const path = { normalize, join, resolve, basename, dirname, extname, relative, parse, format, isAbsolute: (p) => text(p, 'path').startsWith('/'), sep: '/', delimiter: ':', toNamespacedPath: (p) => p };
  path.posix = path;
  return path;
}
