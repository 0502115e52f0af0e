// fs on the workspace's files, by one call of the host for each operation.
(need) => {
  const { Buffer } = need('buffer');
  const PART = 4194304;
  const WORDS = {
    ENOENT: 'no such file or directory', EEXIST: 'file already exists', EISDIR: 'illegal operation on a directory', ENOTDIR: 'not a directory',
    ENOTEMPTY: 'directory not empty', EACCES: 'permission denied', EPERM: 'operation not permitted', EROFS: 'read-only file system', EBUSY: 'resource busy or locked',
    EINVAL: 'invalid argument', ENAMETOOLONG: 'name too long', ELOOP: 'too many symbolic links encountered', ENOSPC: 'no space left on device', EDQUOT: 'disk quota exceeded',
    EFBIG: 'file too large', EXDEV: 'it leads outside the workspace', ENXIO: 'not a regular file', EIO: 'i/o error',
  };
  const CODES = { permission_denied: 'EACCES', quota_exceeded: 'ENOSPC' };
  const failed = (code, call, path, to) => {
    const told = to === undefined ? " '" + path + "'" : " '" + path + "' -> '" + to + "'";
    const error = Object.assign(new Error(code + ': ' + WORDS[code] + ', ' + call + told), { code, syscall: call, path: String(path) });
    return to === undefined ? error : Object.assign(error, { dest: String(to) });
  };
  const wrong = (code, message) => Object.assign(new TypeError(message), { code });
  const ask = (operation, call, path, to) => {
    let answer;
    try { answer = __cove_fs(operation); } catch (error) {
      const known = CODES[error?.toolCode];
      if (known === undefined) throw error;
      throw failed(known, call, path, to);
    }
    const { details } = answer;
    if (details.errno === 'EISDIR' && operation.op === 'read') throw Object.assign(new Error('EISDIR: ' + WORDS.EISDIR + ', read'), { code: 'EISDIR', syscall: 'read' });
    if (details.errno !== undefined) throw failed(details.errno, call, path, to);
    return details;
  };
  const absent = (name, instead) => { throw Object.assign(new Error('fs.' + name + ' is not available here: ' + instead), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }); };
  const place = (path) => {
    if (path instanceof URL) path = decodeURIComponent(path.pathname);
    if (path instanceof Uint8Array) path = Buffer.from(path).toString();
    if (typeof path !== 'string') throw wrong('ERR_INVALID_ARG_TYPE', 'The "path" argument must be of type string or an instance of Buffer or URL. Received ' + (path === null || path === undefined ? path : 'type ' + typeof path));
    if (path.includes('\0')) throw wrong('ERR_INVALID_ARG_VALUE', "The argument 'path' must be a string, Uint8Array, or URL without null bytes.");
    const parts = [];
    for (const part of path.replace(/^\/workspace(?=\/|$)/, '').split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return parts.join('/') || '.';
  };
  const named = (path, call) => { if (path === '') throw failed('ENOENT', call, path); return place(path); };
  const beside = (folder, name) => folder === '.' || folder === '' ? name : folder.replace(/\/$/, '') + '/' + name;
  const encodingOf = (options) => typeof options === 'string' ? options : options?.encoding;
  const flagOf = (options) => options?.flag ?? 'w';
  const bytesOf = (data, encoding) => {
    if (typeof data === 'string') return Buffer.from(data, encoding ?? 'utf8');
    if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (typeof data?.text === 'string' && Array.isArray(data.content)) return Buffer.from(data.text);
    const kind = data === null || data === undefined ? data : typeof data === 'object' ? 'an instance of ' + (data.constructor?.name ?? 'Object') : 'type ' + typeof data + ' (' + String(data) + ')';
    throw wrong('ERR_INVALID_ARG_TYPE', 'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ' + kind);
  };
  const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const readFileSync = (given, options) => {
    const path = named(given, 'open');
    const parts = [];
    let at = 0, size;
    do {
      const part = ask({ op: 'read', path, offset: at, length: PART }, 'open', given);
      if (part.data.length === 0) break;
      parts.push(part.data);
      at += part.data.length;
      size = part.size;
    } while (at < size);
    const data = parts.length === 1 ? Buffer.from(parts[0].buffer, parts[0].byteOffset, parts[0].byteLength) : Buffer.concat(parts);
    const encoding = encodingOf(options);
    return encoding === undefined || encoding === null || encoding === 'buffer' ? data : data.toString(encoding);
  };
  const put = (given, bytes, append) => {
    const path = named(given, 'open');
    let at = 0;
    do {
      ask({ op: 'write', path, data: plain(bytes.subarray(at, at + PART)), append: append || at > 0 }, 'open', given);
      at += PART;
    } while (at < bytes.length);
  };
  const writeFileSync = (path, data, options) => {
    const flag = flagOf(options), bytes = bytesOf(data, encodingOf(options));
    if (flag.includes('x') && existsSync(path)) throw failed('EEXIST', 'open', path);
    put(path, bytes, flag.startsWith('a'));
  };
  const appendFileSync = (path, data, options) => { put(path, bytesOf(data, encodingOf(options)), true); };
  const KINDS = { file: 32768, folder: 16384, link: 40960 };
  class Dirent {
    #kind;
    constructor(name, kind, folder) { this.name = name; this.parentPath = folder; this.path = folder; this.#kind = kind; }
    isDirectory() { return this.#kind === 'folder'; }
    isFile() { return this.#kind === 'file'; }
    isSymbolicLink() { return this.#kind === 'link'; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
    isFIFO() { return false; }
    isSocket() { return false; }
  }
  class Stats {
    constructor(known) {
      const { mode, size, nlink, atimeMs, mtimeMs, ctimeMs } = known;
      Object.assign(this, { dev: 0, mode, nlink, uid: 0, gid: 0, rdev: 0, blksize: 4096, ino: 0, size, blocks: Math.ceil(size / 512), atimeMs, mtimeMs, ctimeMs, birthtimeMs: ctimeMs });
      for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) this[name] = new Date(Math.round(this[name + 'Ms']));
    }
    #is(kind) { return (this.mode & 61440) === KINDS[kind]; }
    isDirectory() { return this.#is('folder'); }
    isFile() { return this.#is('file'); }
    isSymbolicLink() { return this.#is('link'); }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
    isFIFO() { return false; }
    isSocket() { return false; }
  }
  const readdirSync = (given, options) => {
    const top = String(given instanceof URL ? place(given) : given);
    const found = [], left = [['', top]];
    for (const [prefix, folder] of left) {
      const path = prefix === '' ? named(given, 'scandir') : place(folder);
      for (const [name, kind] of ask({ op: 'list', path }, 'scandir', folder).entries) {
        found.push(options?.withFileTypes ? new Dirent(name, kind, folder) : prefix + name);
        if (kind === 'folder' && options?.recursive) left.push([prefix + name + '/', beside(folder, name)]);
      }
    }
    return found;
  };
  const look = (call, link) => (given, options) => {
    try { return new Stats(ask({ op: 'stat', path: named(given, call), link }, call, given)); } catch (error) {
      if (options?.throwIfNoEntry === false && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
      throw error;
    }
  };
  const statSync = look('stat', false), lstatSync = look('lstat', true);
  const existsSync = (path) => { try { statSync(path); return true; } catch { return false; } };
  const accessSync = (path) => { ask({ op: 'stat', path: named(path, 'access'), link: false }, 'access', path); };
  const mkdirSync = (given, options) => {
    const { first } = ask({ op: 'mkdir', path: named(given, 'mkdir'), recursive: options?.recursive === true }, 'mkdir', given);
    return first === undefined || first === null ? undefined : '/workspace/' + first;
  };
  const mkdtempSync = (prefix) => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    for (;;) {
      let path = String(prefix);
      for (const byte of globalThis.crypto.getRandomValues(new Uint8Array(6))) path += letters[byte % 62];
      try { mkdirSync(path); return path; } catch (error) { if (error.code !== 'EEXIST') throw error; }
    }
  };
  const unlinkSync = (path) => { ask({ op: 'remove', path: named(path, 'unlink'), what: 'file' }, 'unlink', path); };
  const rmdirSync = (path, options) => { ask({ op: 'remove', path: named(path, 'rmdir'), what: options?.recursive ? 'tree' : 'folder' }, 'rmdir', path); };
  const rmSync = (path, options) => {
    try {
      const isFolder = ask({ op: 'stat', path: named(path, 'lstat'), link: true }, 'lstat', path).kind === 'folder';
      if (isFolder && !options?.recursive) throw Object.assign(new Error('Path is a directory: rm returned EISDIR (is a directory) ' + path), { name: 'SystemError', code: 'ERR_FS_EISDIR' });
      ask({ op: 'remove', path: place(path), what: isFolder ? 'tree' : 'file' }, 'rm', path);
    } catch (error) { if (!(options?.force && error.code === 'ENOENT')) throw error; }
  };
  const renameSync = (from, to) => { ask({ op: 'rename', path: named(from, 'rename'), to: named(to, 'rename') }, 'rename', from, to); };
  const copyFileSync = (from, to, mode) => {
    let bytes;
    try { bytes = readFileSync(from); } catch (error) { throw WORDS[error.code] === undefined ? error : failed(error.code, 'copyfile', from, to); }
    if (mode & 1 && existsSync(to)) throw failed('EEXIST', 'copyfile', from, to);
    put(to, bytes, false);
  };
  const cpSync = (from, to, options) => {
    if (!statSync(from).isDirectory()) return options?.force === false && existsSync(to) ? undefined : copyFileSync(from, to);
    if (!options?.recursive) throw Object.assign(new Error('Recursive option not enabled, cannot copy a directory: cp returned EISDIR (' + from + ' is a directory (not copied)) ' + from), { code: 'ERR_FS_EISDIR' });
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) cpSync(beside(String(from), name), beside(String(to), name), options);
  };
  const truncateSync = (path, length = 0) => {
    const before = readFileSync(path);
    put(path, length <= before.length ? before.subarray(0, length) : Buffer.concat([before], length), false);
  };
  const chmodSync = (path, mode) => { ask({ op: 'chmod', path: named(path, 'chmod'), mode: typeof mode === 'string' ? parseInt(mode, 8) : mode }, 'chmod', path); };
  const realpathSync = (path) => { accessSync(path); const real = place(path); return real === '.' ? '/workspace' : '/workspace/' + real; };
  const createReadStream = (given, options) => {
    const { start = 0, end = Infinity, highWaterMark = 65536 } = typeof options === 'object' && options !== null ? options : {};
    let at = start;
    const { Readable } = need('stream');
    const stream = new Readable({
      encoding: encodingOf(options),
      read() {
        try {
          const { data } = ask({ op: 'read', path: named(given, 'open'), offset: at, length: Math.max(Math.min(highWaterMark, end - at + 1), 0) }, 'open', given);
          at += data.length;
          this.push(data.length === 0 ? null : bytesOf(data));
        } catch (error) { this.destroy(error); }
      },
    });
    return Object.assign(stream, { path: given });
  };
  const createWriteStream = (given, options) => {
    const { Writable } = need('stream');
    const stream = new Writable({
      write(chunk, encoding, done) { try { put(given, bytesOf(chunk), true); stream.bytesWritten += chunk.length; done(); } catch (error) { done(error); } },
    });
    try { put(given, Buffer.alloc(0), /^a/.test((typeof options === 'string' ? undefined : options?.flags) ?? 'w')); } catch (error) { stream.destroy(error); }
    return Object.assign(stream, { path: given, bytesWritten: 0 });
  };
  const gone = (name, instead) => () => absent(name, instead);
  const noStream = 'read or write the whole file: fs.readFileSync(path, "utf8"), fs.writeFileSync(path, data).';
  const sync = {
    readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, readdir: readdirSync, stat: statSync, lstat: lstatSync, mkdir: mkdirSync, mkdtemp: mkdtempSync,
    access: accessSync, copyFile: copyFileSync, cp: cpSync, rm: rmSync, unlink: unlinkSync, rmdir: rmdirSync, rename: renameSync, truncate: truncateSync, chmod: chmodSync, realpath: realpathSync,
  };
  for (const name of ['open', 'close', 'read', 'write', 'opendir']) sync[name] = gone(name, noStream);
  for (const name of ['symlink', 'link', 'readlink', 'chown', 'utimes']) sync[name] = gone(name, 'there are files and folders only. With a sandbox, use its shell (`ln`, `chown`, `touch`).');
  for (const name of ['watch', 'watchFile']) sync[name] = gone(name, 'nothing else changes the files while this code runs. Read them again.');
  const fs = { existsSync, constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 }, Dirent, Stats };
  const promises = { constants: fs.constants };
  for (const [name, work] of Object.entries(sync)) {
    fs[name + 'Sync'] = work;
    promises[name] = async (...args) => work(...args);
    fs[name] = (...args) => {
      const done = args.pop();
      if (typeof done !== 'function') throw wrong('ERR_INVALID_ARG_TYPE', 'The "cb" argument must be of type function. Write fs.' + name + 'Sync(…), or await fs.promises.' + name + '(…)');
      promises[name](...args).then((value) => done(null, value), (error) => done(error));
    };
  }
  fs.exists = (path, done) => { const found = existsSync(path); queueMicrotask(() => done(found)); };
  for (const name of ['watch', 'watchFile']) fs[name] = sync[name];
  Object.assign(fs, { createReadStream, createWriteStream });
  fs.promises = promises;
  return fs;
}
