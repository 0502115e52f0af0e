// Intl.NumberFormat, PluralRules and RelativeTimeFormat: what has to do with numbers.
(function (native, kit, world) {
  'use strict';
  const { Object, Number, BigInt, TypeError, RangeError, Symbol, Math } = world;
  const { own, localeList, choose, truth, whole, loose, strict, typeName, pieces, rangePieces, joined, supportedLocalesOf, callable, stringify } = kit.late('intl.js');
  const MODES = ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'];
  const INCREMENTS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];

  // How many digits are shown, as ECMA-402 (SetNumberFormatDigitOptions) says.
  function digitOptions(options, least, most, compact) {
    const integer = whole(options.minimumIntegerDigits, 1, 21, 1, 'minimumIntegerDigits');
    let fractionLeast = options.minimumFractionDigits, fractionMost = options.maximumFractionDigits;
    let significantLeast = options.minimumSignificantDigits, significantMost = options.maximumSignificantDigits;
    const increment = whole(options.roundingIncrement, 1, 5000, 1, 'roundingIncrement');
    if (!INCREMENTS.includes(increment)) throw new RangeError('roundingIncrement value is out of range.');
    const mode = choose(options, 'roundingMode', MODES, 'halfExpand');
    const priority = choose(options, 'roundingPriority', ['auto', 'morePrecision', 'lessPrecision'], 'auto');
    const trailing = choose(options, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto');
    if (increment !== 1) most = least;
    const hasSignificant = significantLeast !== undefined || significantMost !== undefined;
    const hasFraction = fractionLeast !== undefined || fractionMost !== undefined;
    const needSignificant = priority !== 'auto' || hasSignificant;
    const needFraction = priority !== 'auto' || !(hasSignificant || !hasFraction && compact);
    let significant, fraction;
    if (needSignificant) {
      if (hasSignificant) {
        significantLeast = whole(significantLeast, 1, 21, 1, 'minimumSignificantDigits');
        significantMost = whole(significantMost, significantLeast, 21, 21, 'maximumSignificantDigits');
        significant = [significantLeast, significantMost];
      } else significant = [1, 21];
    }
    if (needFraction) {
      if (hasFraction) {
        fractionLeast = whole(fractionLeast, 0, 100, undefined, 'minimumFractionDigits');
        fractionMost = whole(fractionMost, 0, 100, undefined, 'maximumFractionDigits');
        if (fractionLeast === undefined) fractionLeast = Math.min(least, fractionMost);
        else if (fractionMost === undefined) fractionMost = Math.max(most, fractionLeast);
        else if (fractionLeast > fractionMost) throw new RangeError('maximumFractionDigits value is out of range.');
        fraction = [fractionLeast, fractionMost];
      } else fraction = [least, most];
    }
    let kind;
    let isCompact = false;
    if (!needSignificant && !needFraction) {
      kind = 'morePrecision'; fraction = [0, 0]; significant = [1, 2]; isCompact = true;
    } else kind = priority !== 'auto' ? priority : hasSignificant ? 'significantDigits' : 'fractionDigits';
    if (increment !== 1) {
      if (kind !== 'fractionDigits') throw new TypeError('roundingIncrement works with fraction digits only');
      if (fraction[0] !== fraction[1]) throw new RangeError('roundingIncrement value is out of range.');
    }
    const rounding = { kind, integer, fraction: fraction ?? [0, 0], significant: significant ?? [1, 21], increment, mode, strip: trailing === 'stripIfInteger' };
    const shown = { minimumIntegerDigits: integer };
    if (fraction !== undefined) { shown.minimumFractionDigits = fraction[0]; shown.maximumFractionDigits = fraction[1]; }
    if (significant !== undefined) { shown.minimumSignificantDigits = significant[0]; shown.maximumSignificantDigits = significant[1]; }
    const tail = { roundingMode: mode, roundingIncrement: increment, trailingZeroDisplay: trailing, roundingPriority: isCompact ? 'morePrecision' : priority };
    return { rounding, shown, tail };
  }

  const UNITS = new world.Set(own.values('unit'));
  const isUnit = (unit) => {
    if (UNITS.has(unit)) return true;
    const at = unit.indexOf('-per-');
    return at !== -1 && UNITS.has(unit.slice(0, at)) && UNITS.has(unit.slice(at + 5));
  };

  // The text of a value: exact, also for large and long ones.
  const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
  function numeric(value) {
    if (typeof value === 'bigint') return `${value}`;
    if (typeof value === 'object' && value !== null || typeof value === 'function') {
      const toPrimitive = value[Symbol.toPrimitive];
      value = toPrimitive === undefined || toPrimitive === null ? value.valueOf() : toPrimitive.call(value, 'number');
      if (typeof value === 'bigint') return `${value}`;
      if (typeof value === 'object' && value !== null || typeof value === 'function') value = `${value}`;
    }
    if (typeof value === 'string') {
      const text = value.trim();
      if (text.length <= 1000 && decimal.test(text)) return text.startsWith('.') ? `0${text}` : text.replace(/^([+-])\./, '$10.');
    }
    return plain(Number(value));
  }
  const plain = (number) => (Object.is(number, -0) ? '-0' : `${number}`);

  class Hidden {
    #spec; #resolved; #bound;
    constructor(locales, given) {
      const list = localeList(locales);
      const options = loose(given);
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      const numberingSystem = typeName(options, 'numberingSystem');
      const style = choose(options, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
      let currency = choose(options, 'currency');
      if (currency !== undefined && !/^[a-z]{3}$/i.test(currency)) throw new RangeError(`Invalid currency code : ${currency}`);
      if (currency === undefined && style === 'currency') throw new TypeError('Currency code is required with currency style.');
      const currencyDisplay = choose(options, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
      const currencySign = choose(options, 'currencySign', ['standard', 'accounting'], 'standard');
      const unit = choose(options, 'unit');
      if (unit !== undefined && !isUnit(unit)) throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${unit}'`);
      if (unit === undefined && style === 'unit') throw new TypeError('Unit is required with unit style.');
      const unitDisplay = choose(options, 'unitDisplay', ['short', 'narrow', 'long'], 'short');
      currency = currency?.toUpperCase();
      const notation = choose(options, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
      const coins = style === 'currency' && notation === 'standard' ? own.currencyDigits(currency) : 0;
      const { rounding, shown, tail } = digitOptions(options, coins, style === 'currency' && notation === 'standard' ? coins : style === 'percent' ? 0 : notation === 'compact' ? 0 : style === 'currency' ? 0 : 3, notation === 'compact');
      const compactDisplay = choose(options, 'compactDisplay', ['short', 'long'], 'short');
      const useGrouping = grouping(options, notation);
      const signDisplay = choose(options, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto');
      this.#spec = stringify({ locales: list, numberingSystem, style, currency: style === 'currency' ? currency : undefined, currencyDisplay, accounting: currencySign === 'accounting',
        unit: style === 'unit' ? unit : undefined, unitDisplay, notation, compactLong: compactDisplay === 'long', signDisplay, grouping: useGrouping === false ? 'never' : useGrouping, rounding });
      const [locale, system] = own.numberInfo(this.#spec);
      const resolved = { locale, numberingSystem: system, style };
      if (style === 'currency') { resolved.currency = currency; resolved.currencyDisplay = currencyDisplay; resolved.currencySign = currencySign; }
      if (style === 'unit') { resolved.unit = unit; resolved.unitDisplay = unitDisplay; }
      Object.assign(resolved, shown, { useGrouping, notation });
      if (notation === 'compact') resolved.compactDisplay = compactDisplay;
      this.#resolved = Object.assign(resolved, { signDisplay }, tail);
    }
    get format() {
      const spec = this.#spec;
      return this.#bound ??= (value) => own.numberFormat(spec, numeric(value));
    }
    formatToParts(value) { return pieces(own.numberParts(this.#spec, numeric(value))); }
    formatRange(start, end) { return joined(this.#range(start, end), 3); }
    formatRangeToParts(start, end) { return rangePieces(this.#range(start, end)); }
    #range(start, end) {
      if (start === undefined || end === undefined) throw new TypeError('start or end is undefined');
      const [first, last] = [numeric(start), numeric(end)];
      if (first === 'NaN' || last === 'NaN') throw new RangeError('Invalid number value');
      return own.numberRange(this.#spec, first, last);
    }
    resolvedOptions() { return { ...this.#resolved }; }
    get [Symbol.toStringTag]() { return 'Intl.NumberFormat'; }
  }
  function grouping(options, notation) {
    const value = options.useGrouping;
    const fallback = notation === 'compact' ? 'min2' : 'auto';
    if (value === undefined) return fallback;
    if (value === true) return 'always';
    if (value === false || !value) return false;
    const text = `${value}`;
    if (text === 'true' || text === 'false') return fallback;
    if (!['min2', 'auto', 'always'].includes(text)) throw new RangeError(`Value ${text} out of range for Intl.NumberFormat options property useGrouping`);
    return text;
  }
  const NumberFormat = callable(Hidden, 'NumberFormat');

  class PluralRules {
    #spec; #type; #resolved;
    constructor(locales, given) {
      const list = localeList(locales);
      const options = loose(given);
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      this.#type = choose(options, 'type', ['cardinal', 'ordinal'], 'cardinal');
      const { rounding, shown, tail } = digitOptions(options, 0, 3, false);
      this.#spec = stringify({ ordinal: this.#type === 'ordinal', number: { locales: list, rounding } });
      const [locale, ...categories] = own.pluralInfo(this.#spec);
      this.#resolved = { locale, type: this.#type, ...shown, pluralCategories: categories, ...tail };
    }
    select(value) { return own.pluralSelect(this.#spec, plain(Number(value))); }
    selectRange(start, end) {
      if (start === undefined || end === undefined) throw new TypeError('start or end is undefined');
      const [first, last] = [Number(start), Number(end)];
      if (first !== first || last !== last) throw new RangeError('Invalid number value');
      return own.pluralRange(this.#spec, plain(first), plain(last));
    }
    resolvedOptions() { return { ...this.#resolved, pluralCategories: [...this.#resolved.pluralCategories] }; }
    get [Symbol.toStringTag]() { return 'Intl.PluralRules'; }
    static supportedLocalesOf(locales, options) { return supportedLocalesOf(locales, options); }
  }

  const SPANS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
  class RelativeTimeFormat {
    #spec; #resolved;
    constructor(locales, given) {
      const list = localeList(locales);
      const options = loose(given);
      choose(options, 'localeMatcher', ['lookup', 'best fit']);
      const numberingSystem = typeName(options, 'numberingSystem');
      const style = choose(options, 'style', ['long', 'short', 'narrow'], 'long');
      const numeric = choose(options, 'numeric', ['always', 'auto'], 'always');
      this.#spec = stringify({ locales: list, numberingSystem, style, auto: numeric === 'auto' });
      const [locale, system] = own.relativeInfo(this.#spec);
      this.#resolved = { locale, style, numeric, numberingSystem: system };
    }
    #flat(value, unit) {
      const number = Number(value);
      const text = `${unit}`;
      const one = text.endsWith('s') ? text.slice(0, -1) : text;
      if (!SPANS.includes(one)) throw new RangeError(`Invalid unit argument for format() '${text}'`);
      if (number - number !== 0) throw new RangeError(`Invalid time value`);
      return [own.relativeParts(this.#spec, plain(number), one), one];
    }
    format(value, unit) { return joined(this.#flat(value, unit)[0], 2); }
    formatToParts(value, unit) {
      const [flat, one] = this.#flat(value, unit);
      return pieces(flat, (type) => (type === 'literal' ? undefined : { unit: one }));
    }
    resolvedOptions() { return { ...this.#resolved }; }
    get [Symbol.toStringTag]() { return 'Intl.RelativeTimeFormat'; }
    static supportedLocalesOf(locales, options) { return supportedLocalesOf(locales, options); }
  }

  return { names: {}, hidden: { '%NumberFormat%': NumberFormat, '%PluralRules%': PluralRules, '%RelativeTimeFormat%': RelativeTimeFormat },
    inner: { NumberFormat, PluralRules, RelativeTimeFormat, write: (value, locales, options) => new NumberFormat(locales, options).format(value) } };
})
