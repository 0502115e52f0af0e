// fs over the file tools of the workspace, called in a way that waits. Text files; pictures can be read.
(need) => {
  const { Buffer } = need('buffer');
  const made = new Set();
  const CODES = { file_not_found: ['ENOENT', 'no such file or directory'], not_a_file: ['EISDIR', 'illegal operation on a directory'], not_a_directory: ['ENOTDIR', 'not a directory'], permission_denied: ['EACCES', 'permission denied'], quota_exceeded: ['ENOSPC', 'no space left in the workspace'] };
  const failed = (code, why, call, path) => Object.assign(new Error(code + ': ' + why + ', ' + call + " '" + path + "'"), { code, syscall: call, path });
  const tool = (call, path, work) => {
    try { return work(); } catch (error) {
      const known = CODES[error?.toolCode];
      if (known === undefined) throw error;
      throw failed(known[0], known[1], call, path);
    }
  };
  const absent = (name, instead) => { throw Object.assign(new Error('fs.' + name + ' is not available here: ' + instead), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }); };
  const place = (path) => {
    if (path instanceof URL) path = decodeURIComponent(path.pathname);
    if (path instanceof Uint8Array) path = Buffer.from(path).toString();
    if (typeof path !== 'string' || path === '') throw Object.assign(new TypeError('The "path" argument must be a string that is not empty'), { code: 'ERR_INVALID_ARG_TYPE' });
    if (path.includes('\0')) throw Object.assign(new TypeError('The "path" argument must not have null bytes'), { code: 'ERR_INVALID_ARG_VALUE' });
    const parts = [];
    for (const part of path.replace(/^\/workspace(?=\/|$)/, '').split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return parts.join('/') || '.';
  };
  const encodingOf = (options) => typeof options === 'string' ? options : options?.encoding;
  const bytesOf = (data, encoding) => data instanceof Uint8Array || data instanceof ArrayBuffer || ArrayBuffer.isView(data) ? Buffer.from(data.buffer ?? data, data.byteOffset, data.byteLength) : Buffer.from(String(data), encoding ?? 'utf8');
  const textOf = (data, encoding, path) => {
    if (typeof data === 'string' && (encoding === undefined || encoding === null || /^utf-?8$/i.test(encoding))) return data;
    try { return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(data, encoding)); }
    catch { return absent('writeFile', "the file tools write text, and the data for '" + path + "' is no text in UTF-8. Write it as base64 or hex, or with Python."); }
  };
  const wholeFile = (given) => {
    const path = place(given);
    const pages = [];
    for (let offset = 1; ;) {
      const page = tool('open', given, () => readSync({ path, offset }));
      const [text, picture] = page.content;
      if (picture?.data !== undefined) return Buffer.from(picture.data, 'base64');
      if (page.details === undefined && /^Read binary file \([0-9.]+[KMG]?B\)$/.test(text.text)) absent('readFile', "the file tools read text and pictures, and '" + given + "' is neither. Read it with Python.");
      if (page.details?.truncation?.firstLineExceedsLimit) absent('readFile', 'line ' + offset + " of '" + given + "' is longer than the file tools read. Read it with Python.");
      pages.push(String(page));
      if (page.nextOffset === undefined) break;
      offset = page.nextOffset;
    }
    return pages.join('\n');
  };
  const readFileSync = (path, options) => {
    const encoding = encodingOf(options);
    const data = wholeFile(path);
    if (encoding === undefined || encoding === null || encoding === 'buffer') return typeof data === 'string' ? Buffer.from(data) : data;
    return typeof data === 'string' && /^utf-?8$/i.test(encoding) ? data : Buffer.from(data).toString(encoding);
  };
  const writeFileSync = (path, data, options) => {
    if (/^a/.test(options?.flag ?? '')) return appendFileSync(path, data, { encoding: encodingOf(options) });
    if (/x/.test(options?.flag ?? '') && existsSync(path)) throw failed('EEXIST', 'file already exists', 'open', path);
    const content = textOf(data, encodingOf(options), path);
    tool('open', path, () => writeSync({ path: place(path), content }));
  };
  const appendFileSync = (path, data, options) => {
    const before = existsSync(path) ? wholeFile(path) : '';
    writeFileSync(path, (typeof before === 'string' ? before : Buffer.from(before).toString()) + textOf(data, encodingOf(options), path));
  };
  const listed = (given, call) => {
    const path = place(given);
    if (made.has(path)) { try { return entries(path); } catch { return []; } }
    return tool(call, given, () => entries(path));
  };
  const entries = (path) => {
    const list = lsSync({ path, limit: 100000 });
    if (list.truncated) absent('readdir', "'" + path + "' has more entries than the file tools list. Use find(pattern), or `ls` with the shell.");
    const text = String(list);
    return text === '' || /^\(empty directory\)/.test(text) ? [] : text.split('\n');
  };
  class Dirent {
    constructor(name, isFolder, folder) { this.name = name; this.parentPath = this.path = folder; Object.defineProperty(this, 'isFolder', { value: isFolder }); }
    isDirectory() { return this.isFolder; }
    isFile() { return !this.isFolder; }
    isSymbolicLink() { return false; }
  }
  const readdirSync = (given, options) => {
    const root = place(given);
    const found = [];
    const walk = (path, prefix) => {
      for (const entry of path === root ? listed(given, 'scandir') : entries(path)) {
        const isFolder = entry.endsWith('/');
        const name = isFolder ? entry.slice(0, -1) : entry;
        found.push(options?.withFileTypes ? new Dirent(name, isFolder, path) : prefix + name);
        if (isFolder && options?.recursive) walk(path === '.' ? name : path + '/' + name, prefix + name + '/');
      }
    };
    walk(root, '');
    return found;
  };
  const kindOf = (given) => {
    const path = place(given);
    if (path === '.' || made.has(path)) return 'folder';
    try { readSync({ path, limit: 1 }); return 'file'; }
    catch (error) { return error?.toolCode === 'not_a_file' ? 'folder' : undefined; }
  };
  const existsSync = (path) => { try { return kindOf(path) !== undefined; } catch { return false; } };
  const accessSync = (path) => { if (kindOf(path) === undefined) throw failed('ENOENT', 'no such file or directory', 'access', path); };
  const statSync = (path, options) => {
    const kind = kindOf(path);
    if (kind === undefined) {
      if (options?.throwIfNoEntry === false) return undefined;
      throw failed('ENOENT', 'no such file or directory', 'stat', path);
    }
    const isFolder = kind === 'folder';
    return {
      mode: isFolder ? 16877 : 33188, isDirectory: () => isFolder, isFile: () => !isFolder, isSymbolicLink: () => false,
      get size() { return isFolder ? 4096 : Buffer.from(wholeFile(path)).length; },
      get mtime() { return absent('Stats.mtime', 'the file tools tell no times. Run `stat` with the shell.'); },
      get mtimeMs() { return absent('Stats.mtimeMs', 'the file tools tell no times. Run `stat` with the shell.'); },
    };
  };
  const mkdirSync = (path, options) => {
    if (kindOf(path) !== undefined) {
      if (options?.recursive) return undefined;
      throw failed('EEXIST', 'file already exists', 'mkdir', path);
    }
    made.add(place(path));
    return options?.recursive ? path : undefined;
  };
  const copyFileSync = (from, to) => { writeFileSync(to, wholeFile(from)); };
  const gone = (name, instead) => () => absent(name, instead);
  const noRemoval = 'no file tool removes or renames. Write the file anew, or use the shell (`rm`, `mv`).';
  const noStream = 'read or write the whole file: fs.readFileSync(path, "utf8"), fs.writeFileSync(path, text).';
  const sync = { readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, readdir: readdirSync, stat: statSync, lstat: statSync, mkdir: mkdirSync, access: accessSync, copyFile: copyFileSync, realpath: (path) => '/workspace/' + place(path) };
  for (const name of ['rm', 'unlink', 'rmdir', 'rename']) sync[name] = gone(name, noRemoval);
  for (const name of ['open', 'symlink', 'link', 'chmod', 'chown', 'utimes', 'truncate', 'watch', 'mkdtemp']) sync[name] = gone(name, noStream);
  const fs = { existsSync, constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 }, Dirent };
  const promises = { constants: fs.constants };
  for (const [name, work] of Object.entries(sync)) {
    fs[name + 'Sync'] = work;
    promises[name] = async (...args) => work(...args);
    fs[name] = (...args) => {
      const done = args.pop();
      if (typeof done !== 'function') throw Object.assign(new TypeError('The "callback" argument must be a function. Write fs.' + name + 'Sync(…), or await fs.promises.' + name + '(…)'), { code: 'ERR_INVALID_ARG_TYPE' });
      promises[name](...args).then((value) => done(null, value), (error) => done(error));
    };
  }
  fs.exists = (path, done) => { const found = existsSync(path); queueMicrotask(() => done(found)); };
  fs.createReadStream = gone('createReadStream', noStream);
  fs.createWriteStream = gone('createWriteStream', noStream);
  fs.promises = promises;
  return fs;
}
