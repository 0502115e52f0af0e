// os: what does not tell one machine from another.
() => {
  const none = (name) => () => { throw new Error('os.' + name + ' is not available here: code does not see the machine that it runs on.'); };
  const os = {
    EOL: '\n', devNull: '/dev/null', platform: () => 'linux', type: () => 'Linux', arch: () => 'x64', machine: () => 'x86_64', release: () => '6.0.0', version: () => '#1',
    endianness: () => 'LE', tmpdir: () => '/tmp', homedir: () => '/', hostname: () => 'cove', cpus: () => [{ model: 'cpu', speed: 0, times: {} }], availableParallelism: () => 1, constants: {},
  };
  for (const name of ['totalmem', 'freemem', 'loadavg', 'uptime', 'userInfo', 'networkInterfaces']) os[name] = none(name);
  return os;
}
