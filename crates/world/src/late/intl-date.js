// Intl.DateTimeFormat, and what dates say in a language.
(function (native, kit, world) {
  'use strict';
  const { Object, Number, TypeError, RangeError, Symbol, Math } = world;
  const { own, localeList, choose, truth, whole, loose, typeName, pieces, rangePieces, joined, callable, stringify, parse } = kit.late('intl.js');
  const WORDS = ['narrow', 'short', 'long'], DIGITS = ['2-digit', 'numeric'];
  const COMPONENTS = [['weekday', WORDS], ['era', WORDS], ['year', DIGITS], ['month', [...DIGITS, ...WORDS]], ['day', DIGITS], ['dayPeriod', WORDS], ['hour', DIGITS],
    ['minute', DIGITS], ['second', DIGITS], ['fractionalSecondDigits'], ['timeZoneName', ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric']]];
  const STYLES = ['full', 'long', 'medium', 'short'];
  const IN_DATES = ['weekday', 'year', 'month', 'day'], IN_TIMES = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];

  // `required` and `defaults` are date, time, any and all, as ECMA-402 has them.
  function specification(locales, given, required, defaults) {
    const list = localeList(locales);
    const options = loose(given);
    choose(options, 'localeMatcher', ['lookup', 'best fit']);
    const spec = { locales: list, calendar: typeName(options, 'calendar'), numberingSystem: typeName(options, 'numberingSystem'),
      hour12: truth(options, 'hour12'), hourCycle: choose(options, 'hourCycle', ['h11', 'h12', 'h23', 'h24']) };
    const zone = options.timeZone;
    if (zone !== undefined) spec.timeZone = `${zone}`;
    let some = false;
    for (const [name, values] of COMPONENTS) {
      const value = name === 'fractionalSecondDigits' ? whole(options[name], 1, 3, undefined, name) : choose(options, name, values);
      if (value !== undefined) { spec[name] = value; some = true; }
    }
    choose(options, 'formatMatcher', ['basic', 'best fit']);
    spec.dateStyle = choose(options, 'dateStyle', STYLES);
    spec.timeStyle = choose(options, 'timeStyle', STYLES);
    if (spec.dateStyle !== undefined || spec.timeStyle !== undefined) {
      if (some) throw new TypeError(`Can't set option ${COMPONENTS.find(([name]) => spec[name] !== undefined)[0]} when ${spec.dateStyle === undefined ? 'timeStyle' : 'dateStyle'} is used`);
      if (required === 'date' && spec.timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
      if (required === 'time' && spec.dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
      return spec;
    }
    const has = (names) => names.some((name) => spec[name] !== undefined);
    const needs = !((required === 'date' || required === 'any') && has(IN_DATES) || (required === 'time' || required === 'any') && has(IN_TIMES));
    if (needs && (defaults === 'date' || defaults === 'all')) { spec.year = 'numeric'; spec.month = 'numeric'; spec.day = 'numeric'; }
    if (needs && (defaults === 'time' || defaults === 'all')) { spec.hour = 'numeric'; spec.minute = 'numeric'; spec.second = 'numeric'; }
    return spec;
  }
  // The time of what was given; nothing is now.
  function timeOf(value) {
    const number = value === undefined ? native.now('Intl.DateTimeFormat without a date') : Number(value);
    if (!(Math.abs(number) <= 8.64e15)) throw new RangeError('Invalid time value');
    return Math.trunc(number) + 0;
  }

  class Hidden {
    #spec; #resolved; #bound;
    constructor(locales, options) {
      this.#spec = stringify(specification(locales, options, 'any', 'date'));
      this.#resolved = own.dateInfo(this.#spec);
    }
    get format() {
      const spec = this.#spec;
      return this.#bound ??= (date) => own.dateFormat(spec, timeOf(date));
    }
    formatToParts(date) { return pieces(own.dateParts(this.#spec, timeOf(date))); }
    formatRange(start, end) { return joined(this.#range(start, end), 3); }
    formatRangeToParts(start, end) { return rangePieces(this.#range(start, end)); }
    #range(start, end) {
      if (start === undefined || end === undefined) throw new TypeError('startDate or endDate cannot be undefined');
      return own.dateRange(this.#spec, timeOf(start), timeOf(end));
    }
    resolvedOptions() { return parse(this.#resolved); }
    get [Symbol.toStringTag]() { return 'Intl.DateTimeFormat'; }
  }
  const DateTimeFormat = callable(Hidden, 'DateTimeFormat');

  // Most programs ask the same again and again, without options.
  const known = { __proto__: null };
  function write(time, locales, options, required, defaults) {
    const simple = options === undefined && (locales === undefined || typeof locales === 'string');
    const key = simple ? `${defaults} ${locales}` : undefined;
    let spec = simple ? known[key] : undefined;
    if (spec === undefined) {
      spec = stringify(specification(locales, options, required, defaults));
      if (simple && Object.keys(known).length < 100) known[key] = spec;
    }
    if (time !== time) { own.dateInfo(spec); return 'Invalid Date'; }
    return own.dateFormat(spec, time);
  }
  return { names: {}, hidden: { '%DateTimeFormat%': DateTimeFormat }, inner: { DateTimeFormat, write } };
})
