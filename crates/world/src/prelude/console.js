// `console`: every method writes whole lines to the host, in time order. Nothing is formatted that nobody hears.
(function (native, kit) {
  'use strict';
  const { Map, Object, Array, String, Math, Number } = globalThis;
  const DEBUG = 0, LOG = 1, INFO = 2, WARN = 3, ERROR = 4;
  let indent = '';
  const counts = new Map();
  const timers = new Map();

  function write(level, args) {
    if (!native.hears(level)) return;
    let text = kit.format(args);
    if (indent !== '') text = indent + text.replaceAll('\n', `\n${indent}`);
    native.log(level, text);
  }

  const label = (name) => (name === undefined ? 'default' : `${name}`);
  const elapsed = (from) => {
    const ms = native.elapsed() - from;
    return ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`;
  };

  // How many columns of a terminal a text takes: none for marks that sit on others, two for wide characters.
  const none = /[\p{Mn}\p{Me}\u200b-\u200f\ufe00-\ufe0f]/u;
  const wide = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
  function columnsOf(text) {
    let columns = 0;
    for (const char of text) columns += char < '\u0300' ? 1 : none.test(char) ? 0 : wide.test(char) ? 2 : 1;
    return columns;
  }

  function table(data, columns) {
    if (data === null || typeof data !== 'object') { write(LOG, [data]); return; }
    const rows = [];
    const names = [];
    let plain = false;
    const { getOwnPropertyDescriptor, keys } = Object;
    const shown = (holder, key) => {
      const descriptor = getOwnPropertyDescriptor(holder, key);
      if (descriptor === undefined) return '';
      return descriptor.get !== undefined ? '[Getter]' : kit.inspect(descriptor.value, 0);
    };
    const brand = native.brand(data);
    const listed = brand === 'Map' || brand === 'Set';
    const entries = listed ? [] : keys(data).slice(0, 1000).map((key) => [key, getOwnPropertyDescriptor(data, key)?.value]);
    for (const [key, row] of entries) {
      const cells = new Map();
      if (row !== null && typeof row === 'object' && native.brand(row) !== 'Proxy') {
        for (const name of keys(row).slice(0, 100)) {
          if (columns !== undefined && !columns.includes(name)) continue;
          if (!names.includes(name)) names.push(name);
          cells.set(name, shown(row, name));
        }
        rows.push([`${key}`, cells, undefined]);
      } else {
        plain = true;
        rows.push([`${key}`, cells, kit.inspect(row, 0)]);
      }
    }
    let heads = ['(index)', ...(columns ?? names), ...(plain ? ['Values'] : [])];
    let body = rows.map(([key, cells, value]) => [key, ...(columns ?? names).map((name) => cells.get(name) ?? ''), ...(plain ? [value ?? ''] : [])]);
    if (listed) {
      heads = brand === 'Map' ? ['(iteration index)', 'Key', 'Values'] : ['(iteration index)', 'Values'];
      body = kit.entriesOf(data).slice(0, 1000).map(([key, value], at) => [`${at}`, ...(brand === 'Map' ? [kit.inspect(key, 0)] : []), kit.inspect(value, 0)]);
    }
    const widths = heads.map((head, at) => Math.max(columnsOf(head), ...body.map((row) => columnsOf(row[at]))) + 2);
    const line = (cells) => `│${cells.map((cell, at) => ` ${cell}${' '.repeat(widths[at] - columnsOf(cell) - 1)}`).join('│')}│`;
    const rule = (left, middle, right) => left + widths.map((width) => '─'.repeat(width)).join(middle) + right;
    write(LOG, [[rule('┌', '┬', '┐'), line(heads), rule('├', '┼', '┤'), ...body.map(line), rule('└', '┴', '┘')].join('\n')]);
  }

  const console = {
    log(...args) { write(LOG, args); },
    info(...args) { write(INFO, args); },
    warn(...args) { write(WARN, args); },
    error(...args) { write(ERROR, args); },
    debug(...args) { write(DEBUG, args); },
    trace(...args) { write(DEBUG, args.length === 0 ? ['Trace'] : [`Trace: ${kit.format(args)}`]); },
    dir(value, options) {
      const depth = options !== null && typeof options === 'object' ? options.depth : undefined;
      write(LOG, [kit.inspect(value, depth === null ? 20 : typeof depth === 'number' ? Math.min(depth, 20) : 2)]);
    },
    dirxml(...args) { write(LOG, args); },
    table(data, columns) { table(data, Array.isArray(columns) ? columns.map(String) : undefined); },
    assert(condition, ...args) {
      if (condition) return;
      if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
      else args.unshift('Assertion failed');
      write(WARN, args);
    },
    count(name) {
      const key = label(name);
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      write(LOG, [`${key}: ${count}`]);
    },
    countReset(name) { counts.delete(label(name)); },
    time(name) { if (!timers.has(label(name))) timers.set(label(name), native.elapsed()); },
    timeEnd(name) {
      const key = label(name);
      if (!timers.has(key)) return;
      write(LOG, [`${key}: ${elapsed(timers.get(key))}`]);
      timers.delete(key);
    },
    timeLog(name, ...args) {
      const key = label(name);
      if (timers.has(key)) write(LOG, [`${key}: ${elapsed(timers.get(key))}`, ...args]);
    },
    group(...args) { if (args.length > 0) write(LOG, args); if (indent.length < 40) indent += '  '; },
    groupCollapsed(...args) { if (args.length > 0) write(LOG, args); if (indent.length < 40) indent += '  '; },
    groupEnd() { indent = indent.slice(2); },
  };
  kit.resetConsole = () => { indent = ''; };
  native.define('console', console);
})
