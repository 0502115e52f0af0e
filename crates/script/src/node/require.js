// require: what can be given harmlessly; the rest fails with what to use here.
(need, given, module) => {
  const absent = (names, instead) => names.map((name) => [name, instead]);
  const instead = new Map([
    ...absent(['fs', 'fs/promises'], 'there is no file system here, because this run has no workspace. Pass data as input; with a workspace, fs and the file tools (read, write, edit, grep, find, ls) work.'),
    ...absent(['http', 'https', 'http2', 'axios', 'node-fetch', 'undici', 'got', 'request'], 'use fetch, which reaches the hosts that this session may reach.'),
    ...absent(['net', 'tls', 'dgram', 'dns', 'ws'], 'there are no sockets here. Use fetch or a tool.'),
    ...absent(['child_process', 'worker_threads', 'cluster', 'vm', 'v8', 'inspector'], 'there are no processes and threads here. Call a tool, or run a shell command with another tool.'),
    ...absent(['repl', 'tty'], 'there is no terminal to ask. Pass values as input.'),
    ...absent(['async_hooks', 'diagnostics_channel'], 'pass the value on as an argument.'),
    ...absent(['zlib'], 'use CompressionStream and DecompressionStream (gzip, deflate, deflate-raw).'),
    ...absent(['canvas'], 'use getCanvas(width, height).'),
  ]);
  const require = (specifier) => {
    const name = String(specifier).replace(/^node:/, '');
    if (Object.hasOwn(given, name)) return given[name]();
    const found = need(name);
    if (found !== undefined) return found;
    const why = instead.get(name) ?? 'only modules that were given to this session can be loaded. Most of what packages do is plain JavaScript.';
    const error = Object.assign(new Error("Cannot find module '" + specifier + "': " + why), { code: 'MODULE_NOT_FOUND' });
    throw Object.defineProperty(error, 'module', { value: name });
  };
  require.main = module;
  require.cache = {};
  require.resolve = (name) => name;
  return require;
}
