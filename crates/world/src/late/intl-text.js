// Intl.Collator, ListFormat, DisplayNames, Segmenter, Locale: what has to do with words.
(function (native, kit, world) {
  'use strict';
  const { Object, String, TypeError, RangeError, Symbol, Array, Math } = world;
  const { own, localeList, choose, truth, loose, strict, typeName, pieces, joined, supportedLocalesOf, callable, hooks, stringify } = kit.late('intl.js');

  class Hidden {
    #spec; #resolved; #bound;
    constructor(locales, given) {
      const list = localeList(locales);
      const options = loose(given);
      const usage = choose(options, 'usage', ['sort', 'search'], 'sort');
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      const collation = typeName(options, 'collation');
      const numeric = truth(options, 'numeric');
      const caseFirst = choose(options, 'caseFirst', ['upper', 'lower', 'false']);
      const sensitivity = choose(options, 'sensitivity', ['base', 'accent', 'case', 'variant']);
      const ignorePunctuation = truth(options, 'ignorePunctuation');
      this.#spec = stringify({ locales: list, search: usage === 'search', collation, sensitivity, ignorePunctuation, numeric, caseFirst });
      const [locale, kind, isNumeric, first, ignores] = own.collatorInfo(this.#spec);
      this.#resolved = { locale, usage, sensitivity: sensitivity ?? 'variant', ignorePunctuation: ignores === 'true', collation: kind, numeric: isNumeric === 'true', caseFirst: first };
    }
    get compare() {
      const spec = this.#spec;
      return this.#bound ??= (one, other) => own.compare(spec, `${one}`, `${other}`);
    }
    resolvedOptions() { return { ...this.#resolved }; }
    get [Symbol.toStringTag]() { return 'Intl.Collator'; }
  }
  const Collator = callable(Hidden, 'Collator');

  class ListFormat {
    #spec; #resolved;
    constructor(locales, given) {
      const list = localeList(locales);
      const options = strict(given);
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      const type = choose(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction');
      const style = choose(options, 'style', ['long', 'short', 'narrow'], 'long');
      this.#spec = stringify({ locales: list, kind: type, style });
      this.#resolved = { locale: own.listInfo(this.#spec), type, style };
    }
    #flat(list) {
      if (list === undefined) return [];
      const items = [];
      for (const item of list) {
        if (typeof item !== 'string') throw new TypeError('Iterable yielded a non-String value');
        items.push(item);
      }
      return own.listParts(this.#spec, items);
    }
    format(list) { return joined(this.#flat(list), 2); }
    formatToParts(list) { return pieces(this.#flat(list)); }
    resolvedOptions() { return { ...this.#resolved }; }
    get [Symbol.toStringTag]() { return 'Intl.ListFormat'; }
    static supportedLocalesOf(locales, options) { return supportedLocalesOf(locales, options); }
  }

  const FIELDS = ['era', 'year', 'quarter', 'month', 'weekOfYear', 'weekday', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'timeZoneName'];
  class DisplayNames {
    #spec; #resolved;
    constructor(locales, given) {
      if (given === undefined) throw new TypeError('Incorrect options provided');
      const list = localeList(locales);
      const options = strict(given);
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      const style = choose(options, 'style', ['narrow', 'short', 'long'], 'long');
      const type = choose(options, 'type', ['language', 'region', 'script', 'currency', 'calendar', 'dateTimeField']);
      if (type === undefined) throw new TypeError('Required option "type" must not be undefined');
      const fallback = choose(options, 'fallback', ['code', 'none'], 'code');
      const languageDisplay = choose(options, 'languageDisplay', ['dialect', 'standard'], 'dialect');
      this.#spec = stringify({ locales: list, kind: type, style, dialect: languageDisplay === 'dialect' });
      this.#resolved = { locale: own.namesInfo(this.#spec), style, type, fallback };
      if (type === 'language') this.#resolved.languageDisplay = languageDisplay;
    }
    of(code) {
      const { type, fallback } = this.#resolved;
      const text = `${code}`;
      const bad = () => { throw new RangeError(`Invalid argument to Intl.DisplayNames.prototype.of`); };
      let canonical = text;
      if (type === 'language') canonical = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z0-9]{5,8}|\d[a-z0-9]{3}))*$/i.test(text) ? own.canonical(text) : bad();
      else if (type === 'region') canonical = /^([a-z]{2}|\d{3})$/i.test(text) ? text.toUpperCase() : bad();
      else if (type === 'script') canonical = /^[a-z]{4}$/i.test(text) ? text[0].toUpperCase() + text.slice(1).toLowerCase() : bad();
      else if (type === 'currency') canonical = /^[a-z]{3}$/i.test(text) ? text.toUpperCase() : bad();
      else if (type === 'calendar') canonical = /^[a-z0-9]{3,8}(-[a-z0-9]{3,8})*$/i.test(text) ? text.toLowerCase() : bad();
      else if (!FIELDS.includes(text)) bad();
      return own.nameOf(this.#spec, canonical) ?? (fallback === 'code' ? canonical : undefined);
    }
    resolvedOptions() { return { ...this.#resolved }; }
    get [Symbol.toStringTag]() { return 'Intl.DisplayNames'; }
    static supportedLocalesOf(locales, options) { return supportedLocalesOf(locales, options); }
  }

  // The pieces of one text, found at once: where each ends, and whether it is a word.
  class Segments {
    #text; #ends; #words;
    constructor(text, flat, words) {
      this.#text = text;
      this.#ends = flat.map((end) => (end < 0 ? -end : end));
      this.#words = words ? flat.map((end) => end < 0) : undefined;
    }
    #at(index) {
      const start = index === 0 ? 0 : this.#ends[index - 1];
      const made = { segment: this.#text.slice(start, this.#ends[index]), index: start, input: this.#text };
      if (this.#words !== undefined) made.isWordLike = this.#words[index];
      return made;
    }
    containing(position) {
      const at = Math.trunc(position) || 0;
      if (at < 0 || at >= this.#text.length) return undefined;
      let low = 0, high = this.#ends.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.#ends[middle] > at) high = middle; else low = middle + 1;
      }
      return this.#at(low);
    }
    *[Symbol.iterator]() { for (let index = 0; index < this.#ends.length; index++) yield this.#at(index); }
  }
  const MAX_TEXT = 4 << 20;
  class Segmenter {
    #granularity; #resolved; #spec;
    constructor(locales, given) {
      const list = localeList(locales);
      const options = strict(given);
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      const granularity = choose(options, 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme');
      this.#spec = stringify([list, granularity]);
      this.#resolved = { locale: own.segmenterInfo(this.#spec), granularity };
    }
    segment(input) {
      const text = `${input}`;
      if (text.length > MAX_TEXT) throw new RangeError(`Intl.Segmenter takes at most ${MAX_TEXT} characters at a time, not ${text.length}`);
      return new Segments(text, own.segments(this.#spec, text), this.#resolved.granularity === 'word');
    }
    resolvedOptions() { return { ...this.#resolved }; }
    get [Symbol.toStringTag]() { return 'Intl.Segmenter'; }
    static supportedLocalesOf(locales, options) { return supportedLocalesOf(locales, options); }
  }

  class Locale {
    #tag; #base; #language; #script; #region; #keywords;
    constructor(tag, given) {
      if (typeof tag !== 'string' && (tag === null || typeof tag !== 'object')) throw new TypeError('First argument to Intl.Locale constructor can\'t be empty or missing');
      const options = loose(given);
      let name = hooks.nameOf(tag) ?? own.canonical(`${tag}`);
      const parts = { language: choose(options, 'language'), script: choose(options, 'script'), region: choose(options, 'region') };
      const bad = () => { throw new RangeError('Incorrect locale information provided'); };
      if (parts.language !== undefined && !/^[a-z]{2,3}$|^[a-z]{5,8}$/i.test(parts.language)) bad();
      if (parts.script !== undefined && !/^[a-z]{4}$/i.test(parts.script)) bad();
      if (parts.region !== undefined && !/^([a-z]{2}|\d{3})$/i.test(parts.region)) bad();
      const keys = { ca: typeName(options, 'calendar'), co: typeName(options, 'collation'), hc: choose(options, 'hourCycle', ['h11', 'h12', 'h23', 'h24']),
        kf: choose(options, 'caseFirst', ['upper', 'lower', 'false']), kn: truth(options, 'numeric'), nu: typeName(options, 'numberingSystem') };
      let [base, language, script, region, ...keywords] = own.localeParts(name);
      const words = { __proto__: null };
      for (let at = 0; at < keywords.length; at += 2) words[keywords[at]] = keywords[at + 1];
      const changed = parts.language !== undefined || parts.script !== undefined || parts.region !== undefined || Object.keys(keys).some((key) => keys[key] !== undefined);
      if (changed) {
        const rest = base.split('-').slice(1 + (script === '' ? 0 : 1) + (region === '' ? 0 : 1));
        for (const key of Object.keys(keys)) if (keys[key] !== undefined) words[key] = keys[key] === true ? '' : `${keys[key]}`;
        base = [parts.language ?? language, parts.script ?? script, parts.region ?? region, ...rest].filter((part) => part !== '').join('-');
        const list = Object.keys(words).sort().map((key) => (words[key] === '' || words[key] === 'true' ? key : `${key}-${words[key]}`));
        name = own.canonical(list.length === 0 ? base : `${base}-u-${list.join('-')}`);
        [base, language, script, region] = own.localeParts(name);
      }
      this.#tag = name; this.#base = base; this.#language = language; this.#script = script; this.#region = region; this.#keywords = words;
    }
    static { hooks.nameOf = (value) => (value !== null && typeof value === 'object' && #tag in value ? value.#tag : undefined); }
    get baseName() { return this.#base; }
    get language() { return this.#language; }
    get script() { return this.#script === '' ? undefined : this.#script; }
    get region() { return this.#region === '' ? undefined : this.#region; }
    get calendar() { return this.#keywords.ca; }
    get collation() { return this.#keywords.co; }
    get hourCycle() { return this.#keywords.hc; }
    get caseFirst() { return this.#keywords.kf; }
    get numeric() { return this.#keywords.kn === '' || this.#keywords.kn === 'true'; }
    get numberingSystem() { return this.#keywords.nu; }
    get textInfo() { return { direction: ['ar', 'fa', 'he', 'ur', 'ps', 'sd', 'ug', 'yi', 'dv', 'ckb'].includes(this.#language) && this.#script !== 'Latn' ? 'rtl' : 'ltr' }; }
    get weekInfo() {
      const [firstDay, minimalDays, ...weekend] = own.weekInfo(this.#tag);
      return { firstDay, weekend, minimalDays };
    }
    maximize() { return new Locale(own.maximize(this.#tag)); }
    minimize() { return new Locale(own.minimize(this.#tag)); }
    toString() { return this.#tag; }
    get [Symbol.toStringTag]() { return 'Intl.Locale'; }
  }

  return { names: {}, hidden: { '%Collator%': Collator, '%ListFormat%': ListFormat, '%DisplayNames%': DisplayNames, '%Segmenter%': Segmenter, '%Segments%': Segments, '%Locale%': Locale },
    inner: { Collator, ListFormat, DisplayNames, Segmenter, Locale,
      compare: (one, other, locales, options) => new Collator(locales, options).compare(one, other),
      tagOf: (locales) => localeList(locales)[0] } };
})
