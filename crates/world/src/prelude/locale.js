// Numbers, dates and texts in a language's own way, as far as this engine knows one: `toLocaleString`, `toLocaleDateString`,
// `toLocaleTimeString`, `localeCompare`. Numbers follow `Intl.NumberFormat`; dates are American, British, German or Swedish
// (which is ISO); time is UTC, as the whole world's is. What is not here is an error with advice, never a wrong text.
(function (native, kit) {
  'use strict';
  const { Object, Number, BigInt, Date, String, RangeError, TypeError, Array, Reflect, Math } = globalThis;
  const { defineProperty } = Object;
  const uncurry = (f) => (self, ...args) => Reflect.apply(f, self, args);
  const numberValue = uncurry(Number.prototype.valueOf), bigintValue = uncurry(BigInt.prototype.valueOf);
  const dateValue = uncurry(Date.prototype.getTime);
  const replace = (prototype, methods) => {
    for (const name of Object.keys(methods)) defineProperty(prototype, name, { value: methods[name], writable: true, enumerable: false, configurable: true });
  };

  replace(Number.prototype, {
    toLocaleString(locales, options) { return kit.formatNumber(numberValue(this), locales, options); },
  });
  replace(BigInt.prototype, {
    toLocaleString(locales, options) { return kit.formatNumber(bigintValue(this), locales, options); },
  });

  // Turkish and Azeri have an i with a dot and one without, each in both sizes. No other language here differs.
  const { toUpperCase, toLowerCase, replaceAll } = String.prototype;
  const upper = uncurry(toUpperCase), lower = uncurry(toLowerCase), each = uncurry(replaceAll);
  const dotted = (locales) => {
    const first = Array.isArray(locales) ? locales[0] : locales;
    return first !== undefined && ['tr', 'az'].includes(lower(`${first}`).split('-')[0]);
  };
  const own = (self) => {
    if (self === null || self === undefined) throw new TypeError('a text is needed');
    return `${self}`;
  };
  replace(String.prototype, {
    toLocaleUpperCase(locales) {
      const text = own(this);
      return upper(dotted(locales) ? each(text, 'i', '\u0130') : text);
    },
    toLocaleLowerCase(locales) {
      const text = own(this);
      return lower(dotted(locales) ? each(each(each(text, 'I\u0307', 'i'), '\u0130', 'i'), 'I', '\u0131') : text);
    },
  });

  const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const ZONE = 'Coordinated Universal Time';
  const two = (number) => `${number}`.padStart(2, '0');

  // How a language writes: the order of numbers, whether the day has twelve hours twice.
  function manner(locales) {
    const first = Array.isArray(locales) ? locales[0] : locales;
    const text = first === undefined ? 'en-US' : `${first}`;
    switch (text.toLowerCase()) {
      case 'default': case 'en': case 'en-us': return 'us';
      case 'en-gb': return 'gb';
      case 'de': case 'de-de': return 'de';
      case 'sv': case 'sv-se': return 'sv';
      default: throw new RangeError(`Dates are written as in en-US, en-GB, de-DE and sv-SE in this engine, not ${text}; use engine "browser" for more`);
    }
  }
  const zoneOf = (zone) => {
    if (zone === undefined || ['utc', 'gmt', 'etc/utc', 'etc/gmt'].includes(`${zone}`.toLowerCase())) return;
    throw new RangeError(`This engine knows no time zone but UTC, not ${zone}; use engine "browser" for that`);
  };
  const KNOWN = ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second', 'hour12', 'hourCycle', 'timeZone', 'timeZoneName', 'dateStyle',
    'timeStyle', 'localeMatcher', 'formatMatcher', 'calendar', 'numberingSystem'];
  const STYLES = { __proto__: null,
    full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' },
    medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } };

  // What is shown of a date: what was asked for, and if nothing was, what the method stands for.
  function wanted(options, need, usual, kind) {
    const given = options === undefined ? {} : Object(options);
    for (const name of Object.keys(given)) {
      if (given[name] !== undefined && !KNOWN.includes(name)) throw new RangeError(`Dates have no option ${name} in this engine; use engine "browser" for that`);
    }
    zoneOf(given.timeZone);
    const { hour12, hourCycle, dateStyle, timeStyle } = given;
    if (dateStyle !== undefined || timeStyle !== undefined) {
      if (need === 'date' && timeStyle !== undefined || need === 'time' && dateStyle !== undefined) throw new TypeError(`Invalid option : ${need === 'date' ? 'timeStyle' : 'dateStyle'}`);
      const style = dateStyle === undefined ? {} : STYLES[dateStyle];
      if (style === undefined || timeStyle !== undefined && STYLES[timeStyle] === undefined) throw new RangeError(`${dateStyle ?? timeStyle} is no style of a date`);
      const plain = kind !== 'us' && dateStyle === 'short' ? { year: kind === 'de' ? '2-digit' : 'numeric', month: '2-digit', day: '2-digit' } : style;
      const time = timeStyle === undefined ? {} : { hour: 'numeric', minute: '2-digit', second: timeStyle === 'short' ? undefined : '2-digit',
        timeZoneName: timeStyle === 'long' ? 'short' : timeStyle === 'full' ? 'long' : undefined };
      return { ...plain, ...time, hour12, hourCycle };
    }
    const { weekday, year, month, day, hour, minute, second, timeZoneName } = given;
    const shown = { weekday, year, month, day, hour, minute, second, timeZoneName, hour12, hourCycle };
    const noDate = weekday === undefined && year === undefined && month === undefined && day === undefined;
    const noTime = hour === undefined && minute === undefined && second === undefined;
    const usualDate = (need === 'date' ? noDate : noDate && noTime) && usual !== 'time';
    const usualTime = (need === 'time' ? noTime : noDate && noTime) && usual !== 'date';
    if (usualDate) { shown.year = 'numeric'; shown.month = 'numeric'; shown.day = 'numeric'; }
    if (usualTime) { shown.hour = 'numeric'; shown.minute = '2-digit'; shown.second = '2-digit'; }
    return shown;
  }

  const name = (names, at, width) => (width === 'long' ? names[at] : width === 'short' ? names[at].slice(0, 3) : names[at][0]);

  function datePart(date, shown, kind) {
    const year = date.getUTCFullYear(), month = date.getUTCMonth(), day = date.getUTCDate();
    const { weekday } = shown;
    const y = shown.year === undefined ? undefined : shown.year === '2-digit' ? two(year % 100) : `${year}`;
    const d = shown.day === undefined ? undefined : shown.day === '2-digit' ? two(day) : `${day}`;
    const w = weekday === undefined ? undefined : name(DAYS, date.getUTCDay(), weekday);
    const list = (parts, mark) => parts.filter((part) => part !== undefined).join(mark);
    const words = shown.month === 'long' || shown.month === 'short' || shown.month === 'narrow';
    if (words) {
      const m = name(MONTHS, month, shown.month);
      if (kind === 'us') {
        const rest = d === undefined ? list([m, y], ' ') : list([`${m} ${d}`, y], ', ');
        return w === undefined ? rest : d === undefined ? `${rest} ${w}` : `${w}, ${rest}`;
      }
      const rest = list([d, m, y], ' ');
      return w === undefined ? rest : d === undefined ? `${rest} ${w}` : weekday === 'long' ? `${w}, ${rest}` : `${w} ${rest}`;
    }
    const wide = kind === 'gb' && shown.month !== undefined && d !== undefined || kind === 'sv';
    const m = shown.month === undefined ? undefined : wide || shown.month === '2-digit' ? two(month + 1) : `${month + 1}`;
    const dd = wide && d !== undefined && m !== undefined ? two(day) : d;
    const numbers = kind === 'us' ? list([m, dd, y], '/') : kind === 'gb' ? list([dd, m, y], '/') : kind === 'sv' ? list([y, m, dd], '-') : list([dd, m, y], '.');
    if (w === undefined) return numbers;
    if (numbers === '') return w;
    return m === undefined && y === undefined ? (kind === 'us' ? `${numbers} ${w}` : `${w} ${numbers}`) : `${w}, ${numbers}`;
  }

  function timePart(date, shown, kind) {
    const { hour, minute, second } = shown;
    const zone = shown.timeZoneName === undefined ? '' : shown.timeZoneName === 'long' ? ZONE : 'UTC';
    const parts = [];
    let half = '';
    if (hour !== undefined) {
      const hours = date.getUTCHours();
      const twelve = shown.hour12 === undefined ? (shown.hourCycle === undefined ? kind === 'us' : shown.hourCycle === 'h12' || shown.hourCycle === 'h11') : !!shown.hour12;
      if (twelve) half = hours < 12 ? 'AM' : 'PM';
      const shownHours = twelve ? hours % 12 || 12 : hours;
      parts.push(hour === '2-digit' || !twelve ? two(shownHours) : `${shownHours}`);
      if (half !== '' && kind === 'gb') half = half.toLowerCase();
    }
    if (minute !== undefined) parts.push(parts.length > 0 || second !== undefined ? two(date.getUTCMinutes()) : `${date.getUTCMinutes()}`);
    if (second !== undefined) parts.push(parts.length > 0 ? two(date.getUTCSeconds()) : `${date.getUTCSeconds()}`);
    let text = parts.join(':');
    if (half !== '') text += ` ${half}`;
    return zone === '' ? text : text === '' ? zone : `${text} ${zone}`;
  }

  // German and Swedish are known for plain dates and times, not for their words.
  function plainOnly(shown) {
    const { weekday, year, month, day, hour, minute, timeZoneName, hour12, hourCycle } = shown;
    const date = year === undefined && month === undefined && day === undefined || year === 'numeric' && day !== undefined && (month === 'numeric' || month === '2-digit');
    if (date && weekday === undefined && timeZoneName === undefined && hour12 === undefined && hourCycle === undefined && (hour === undefined || minute !== undefined)) return;
    throw new RangeError('This engine writes such dates in English only; use engine "browser" for others');
  }

  function formatDate(self, locales, options, need, usual) {
    const time = dateValue(self);
    const kind = manner(locales);
    const shown = wanted(options, need, usual, kind);
    if (kind === 'de' || kind === 'sv') plainOnly(shown);
    if (time !== time) return 'Invalid Date';
    const date = new Date(time);
    const day = datePart(date, shown, kind), clock = timePart(date, shown, kind);
    if (day === '' || clock === '') return day + clock;
    if (shown.month === 'long') return `${day} at ${clock}`;
    if (shown.weekday !== undefined && shown.day === undefined && shown.month === undefined && shown.year === undefined) return `${day} ${clock}`;
    return day + (kind === 'sv' ? ' ' : ', ') + clock;
  }

  const plainString = uncurry(Date.prototype.toString), plainTime = uncurry(Date.prototype.toTimeString);
  const withZone = (text) => (text === 'Invalid Date' ? text : `${text} (${ZONE})`);
  replace(Date.prototype, {
    toString() { return withZone(plainString(this)); },
    toTimeString() { return withZone(plainTime(this)); },
    toLocaleString(locales, options) { return formatDate(this, locales, options, 'any', 'all'); },
    toLocaleDateString(locales, options) { return formatDate(this, locales, options, 'date', 'date'); },
    toLocaleTimeString(locales, options) { return formatDate(this, locales, options, 'time', 'time'); },
  });

  // The order of ASCII in every language's dictionary of the world: blanks, marks, digits, letters without their case.
  const ORDER = [];
  for (let code = 0; code < 128; code++) ORDER.push(0);
  {
    let at = 0;
    for (const char of '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789') ORDER[char.charCodeAt(0)] = ++at;
    for (let letter = 0; letter < 26; letter++) { at++; ORDER[97 + letter] = at; ORDER[65 + letter] = at; }
  }
  const FIRST_OTHER = 200;
  const SPLIT = { __proto__: null, 'ß': 's\u0338s', 'æ': 'ae', 'Æ': 'AE', 'œ': 'oe', 'Œ': 'OE', 'ø': 'o\u0338', 'Ø': 'O\u0338', 'ł': 'l\u0335', 'Ł': 'L\u0335', 'đ': 'd\u0335', 'Đ': 'D\u0335' };
  const mark = /^\p{M}$/u;

  // What decides first, second and third: letters, accents, case.
  function keyOf(text, numeric) {
    const first = [], second = [], third = [];
    let number = '';
    const flush = () => {
      if (number === '') return;
      const digits = number.replace(/^0+(?=.)/, '');
      first.push(ORDER[48] + digits.length / 1000);
      for (const digit of digits) first.push(ORDER[digit.charCodeAt(0)]);
      number = '';
    };
    for (const whole of text.normalize('NFD')) {
      for (const char of SPLIT[whole] ?? whole) {
        const code = char.codePointAt(0);
        if (numeric && code > 47 && code < 58) { number += char; continue; }
        flush();
        if (mark.test(char)) { second.push(first.length + code / 2000000); continue; }
        const low = char.toLowerCase();
        const weight = code < 128 ? ORDER[code] : FIRST_OTHER + low.codePointAt(0);
        if (weight === 0) continue;
        first.push(weight);
        if (low !== char) third.push(first.length);
      }
    }
    flush();
    return [first, second, third];
  }

  function byList(one, other, longerLast) {
    const shared = Math.min(one.length, other.length);
    for (let at = 0; at < shared; at++) if (one[at] !== other[at]) return (one[at] < other[at]) === longerLast ? -1 : 1;
    return one.length === other.length ? 0 : one.length < other.length ? -1 : 1;
  }

  function compare(one, other, options) {
    const numeric = options?.numeric === true, sensitivity = options?.sensitivity ?? 'variant';
    if (!['base', 'accent', 'case', 'variant'].includes(sensitivity)) throw new RangeError(`${sensitivity} is no sensitivity`);
    if (one === other) return 0;
    const accents = sensitivity === 'accent' || sensitivity === 'variant', cases = sensitivity === 'case' || sensitivity === 'variant';
    if (!numeric) {
      // Plain texts, most of the time: one walk, nothing made.
      let lean = 0, at = 0;
      const shared = Math.min(one.length, other.length);
      for (; at < shared; at++) {
        const a = one.charCodeAt(at), b = other.charCodeAt(at);
        if (a > 126 || b > 126 || a < 32 || b < 32) break;
        if (ORDER[a] !== ORDER[b]) {
          if (a !== 39 && b !== 39 && !(at + 1 < shared && (one.charCodeAt(at + 1) > 126 || other.charCodeAt(at + 1) > 126))) return ORDER[a] < ORDER[b] ? -1 : 1;
          break;
        }
        if (lean === 0 && a !== b) lean = a > b ? -1 : 1;
      }
      if (at === shared && at === one.length && at === other.length) return cases ? lean : 0;
      if (at === shared && !(one.charCodeAt(at) > 126 || other.charCodeAt(at) > 126)) return one.length < other.length ? -1 : 1;
    }
    const [first, second, third] = keyOf(one, numeric), [first2, second2, third2] = keyOf(other, numeric);
    let order = byList(first, first2, true);
    if (order === 0 && accents) order = byList(second, second2, true);
    if (order === 0 && cases) order = byList(third, third2, false);
    return order;
  }
  replace(String.prototype, {
    localeCompare(that, locales, options) {
      if (this === undefined || this === null) throw new TypeError('localeCompare is a method of texts');
      return compare(`${this}`, `${that}`, options);
    },
  });
})
