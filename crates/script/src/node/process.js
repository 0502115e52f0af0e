// What there is of a process: no environment, no arguments, no machine.
(need) => {
  const none = (name, instead) => () => { throw new Error('process.' + name + ' is not available here: ' + instead); };
  const stream = (method) => {
    let rest = '';
    const flush = () => { if (rest !== '') { const line = rest; rest = ''; console[method](line); } };
    return {
      isTTY: false, columns: 80,
      write(text) {
        const lines = (rest + text).split('\n');
        rest = lines.pop();
        for (const line of lines) console[method](line);
        if (rest !== '') queueMicrotask(flush);
        return true;
      },
    };
  };
  const hrtime = (since) => {
    const now = performance.now(), s = Math.floor(now / 1000), ns = Math.floor((now % 1000) * 1e6);
    if (since === undefined) return [s, ns];
    return ns < since[1] ? [s - since[0] - 1, ns - since[1] + 1e9] : [s - since[0], ns - since[1]];
  };
  hrtime.bigint = () => BigInt(Math.floor(performance.now() * 1e6));
  const process = {
    env: {}, argv: ['node', '/code.js'], execArgv: [], argv0: 'node', pid: 1, ppid: 0, title: 'cove', platform: 'linux', arch: 'x64',
    version: 'v20.0.0', versions: { node: '20.0.0' }, release: { name: 'node' }, exitCode: undefined,
    stdout: stream('log'), stderr: stream('error'), hrtime,
    cwd: () => '/', uptime: () => performance.now() / 1000, umask: () => 18, emitWarning: (warning) => { console.warn(String(warning)); },
    nextTick: (run, ...args) => { queueMicrotask(() => run(...args)); },
    exit: none('exit', 'end with return, or throw an error'), kill: none('kill', 'there are no processes'), chdir: none('chdir', 'there are no folders'),
    abort: none('abort', 'throw an error'), memoryUsage: none('memoryUsage', 'the run reports its own usage'), cpuUsage: none('cpuUsage', 'the run reports its own usage'),
    stdin: undefined,
  };
  for (const name of ['on', 'once', 'off', 'addListener', 'removeListener', 'removeAllListeners', 'prependListener']) process[name] = () => process;
  process.emit = () => false;
  process.listeners = () => [];
  return process;
}
