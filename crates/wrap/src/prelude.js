// The namespaces of the servers: objects that know no tools. A name is looked up when it is called, by the host, which
// knows all of them; so ten thousand tools cost code nothing, and a wrong name gets the right ones for an answer.
const { tools, codemode, searchTools, describeTools, NAMES } = (() => {
  const call = callTool;
  const list = listTools;
  const servers = SERVERS;
  const node = (path) => new Proxy(() => {}, {
    get: (target, key) => {
      if (typeof key !== 'string' || key === 'then' || key === 'toJSON') return undefined;
      return node(path === '' ? key : `${path}.${key}`);
    },
    set: () => false,
    has: (target, key) => typeof key === 'string' && key !== 'then',
    apply: (target, self, args) => call(path, ...args),
    ownKeys: () => (path === '' ? servers : list(path)),
    getOwnPropertyDescriptor: (target, key) => ({ value: node(path === '' ? key : `${path}.${key}`), writable: false, enumerable: true, configurable: true }),
  });
  const all = node('');
  const made = { tools: all, codemode: all, searchTools: search_tools, describeTools: describe_tools };
  for (const name of servers) made[name] = node(name);
  return made;
})();
undefined;
