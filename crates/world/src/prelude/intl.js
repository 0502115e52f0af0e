// A small Intl: NumberFormat with the separators of common languages, which charts and tables ask for. What is not
// here is absent, so that a program finds out at once instead of getting a wrong text.
(function (native, kit) {
  'use strict';
  const { Object, RangeError, TypeError, Number, BigInt, Array, Math, isNaN } = globalThis;
  // Decimal sign and group sign by language.
  const SIGNS = { __proto__: null, en: ['.', ','], ja: ['.', ','], zh: ['.', ','], ko: ['.', ','], he: ['.', ','], th: ['.', ','],
    de: [',', '.'], es: [',', '.'], it: [',', '.'], nl: [',', '.'], pt: [',', '.'], tr: [',', '.'], id: [',', '.'], da: [',', '.'], el: [',', '.'],
    fr: [',', '\u202f'], sv: [',', '\u00a0'], nb: [',', '\u00a0'], fi: [',', '\u00a0'], cs: [',', '\u00a0'], pl: [',', '\u00a0'], ru: [',', '\u00a0'], uk: [',', '\u00a0'] };
  // Languages with a minus sign of their own.
  const MINUS = ['sv', 'nb', 'fi'];
  const COINS = { __proto__: null, USD: '$', EUR: '€', GBP: '£', JPY: '¥', CNY: 'CN¥', INR: '₹', KRW: '₩', BRL: 'R$', CHF: 'CHF\u00a0' };

  function localeOf(locales) {
    const first = Array.isArray(locales) ? locales[0] : locales;
    const text = first === undefined ? 'en-US' : `${first}`;
    const language = text.split('-')[0].toLowerCase();
    if (SIGNS[language] === undefined) throw new RangeError(`Intl knows ${Object.keys(SIGNS).join(', ')} in this engine, not ${text}; use engine "browser" for more`);
    return [text, language];
  }

  // A number as whole digits and how many of them stand behind the point: exactly what its shortest text says.
  function exact(value) {
    if (typeof value === 'bigint') return [value, 0];
    const [, whole, part = '', power = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(`${value}`);
    const scale = part.length - Number(power);
    const digits = BigInt(whole + part);
    return scale < 0 ? [digits * 10n ** BigInt(-scale), 0] : [digits, scale];
  }
  // So many digits behind the point, halves away from zero, as people round.
  function rounded(digits, scale, places) {
    if (scale <= places) return [digits * 10n ** BigInt(places - scale), places];
    const unit = 10n ** BigInt(scale - places);
    return [(digits + unit / 2n) / unit, places];
  }

  class NumberFormat {
    #locale; #language; #options; #least; #most;
    constructor(locales, options = {}) {
      [this.#locale, this.#language] = localeOf(locales);
      const style = options.style ?? 'decimal';
      if (!['decimal', 'percent', 'currency'].includes(style)) throw new RangeError(`Intl.NumberFormat has no style ${style} in this engine`);
      const notation = options.notation ?? 'standard';
      if (!['standard', 'compact', 'scientific'].includes(notation)) throw new RangeError(`Intl.NumberFormat has no notation ${notation} in this engine`);
      if (notation === 'compact' && (!/^en(-US)?$/i.test(this.#locale) || options.compactDisplay === 'long')) throw new RangeError('Intl.NumberFormat is compact in American English and with letters only in this engine');
      if (notation === 'scientific' && MINUS.includes(this.#language)) throw new RangeError(`Intl.NumberFormat has no scientific notation for ${this.#locale} in this engine`);
      if (style === 'currency' && options.currency === undefined) throw new TypeError('Currency code is required with currency style.');
      // Where a sign stands and which one it is differs by language and country; only these are known for sure.
      const sure = /^en(-US)?$/i.test(this.#locale) || /^en-(GB|IN)$/i.test(this.#locale) && ['GBP', 'EUR', 'INR'].includes(`${options.currency}`.toUpperCase()) || `${options.currency}`.toUpperCase() === 'EUR' && ['de', 'fr', 'es', 'it', 'fi', 'sv', 'pl', 'cs', 'ru', 'uk', 'el'].includes(this.#language) && !/^(de-(AT|CH|LI)|fr-(CA|CH)|es-(?!ES)|it-CH)/i.test(this.#locale);
      if (style === 'currency' && !sure) throw new RangeError(`Intl.NumberFormat writes ${options.currency} in English only in this engine; use engine "browser" for more`);
      const currency = options.currency === undefined ? undefined : `${options.currency}`.toUpperCase();
      const grouping = options.useGrouping === undefined ? true : options.useGrouping !== false && options.useGrouping !== 'false';
      this.#options = { style, currency, useGrouping: grouping, notation, sign: options.signDisplay ?? 'auto', whole: Number(options.minimumIntegerDigits ?? 1),
        significant: options.maximumSignificantDigits ?? (options.minimumSignificantDigits === undefined ? undefined : 21), leastSignificant: Number(options.minimumSignificantDigits ?? 1),
        short: notation === 'compact' && options.maximumFractionDigits === undefined && options.minimumFractionDigits === undefined && options.maximumSignificantDigits === undefined };
      const usual = style === 'currency' ? (['JPY', 'KRW'].includes(currency) ? 0 : 2) : 0;
      const least = options.minimumFractionDigits, most = options.maximumFractionDigits;
      this.#least = Number(least ?? Math.min(notation === 'compact' ? 0 : usual, most ?? 100));
      this.#most = Number(most ?? Math.max(this.#least, style === 'decimal' ? (notation === 'compact' ? 1 : 3) : usual));
      const { whole, significant, leastSignificant } = this.#options;
      if (!(this.#least >= 0 && this.#most <= 100 && this.#least <= this.#most)) throw new RangeError('maximumFractionDigits value is out of range.');
      if (!(whole >= 1 && whole <= 21 && leastSignificant >= 1 && (significant === undefined || significant <= 21 && leastSignificant <= significant))) throw new RangeError('the numbers of digits do not fit together');
    }
    #digits(digits, scale) {
      const [decimal, group] = SIGNS[this.#language];
      const { significant, leastSignificant, short } = this.#options;
      const integers = `${digits}`.length - scale;
      let least = this.#least, most = this.#most;
      if (short) most = integers > 1 ? 0 : 2 - integers;
      if (significant !== undefined) {
        most = significant - integers;
        least = Math.max(0, leastSignificant - (digits === 0n ? 1 : integers));
        if (most < 0) { [digits] = rounded(digits, scale - most, 0); digits *= 10n ** BigInt(-most); scale = 0; most = 0; }
      }
      const [value, places] = rounded(digits, scale, Math.min(most, 100));
      const text = `${value}`.padStart(places + 1, '0');
      let whole = text.slice(0, text.length - places), part = places === 0 ? '' : text.slice(-places);
      while (part.length > least && part.endsWith('0')) part = part.slice(0, -1);
      whole = whole.padStart(this.#options.whole, '0');
      const late = this.#options.notation === 'compact' || ['es', 'pt', 'pl', 'it'].includes(this.#language) && this.#locale !== 'pt-BR';
      if (this.#options.useGrouping && (whole.length > 4 || !late)) {
        const lakh = this.#locale.endsWith('-IN') && whole.length > 3;
        whole = lakh ? `${whole.slice(0, -3).replace(/\B(?=(\d{2})+(?!\d))/g, group)}${group}${whole.slice(-3)}` : whole.replace(/\B(?=(\d{3})+(?!\d))/g, group);
      }
      return part === '' ? whole : whole + decimal + part;
    }
    format(number) {
      const value = typeof number === 'bigint' ? number : Number(number);
      const { style, currency, notation } = this.#options;
      const negative = value < 0 || value === 0 && 1 / Number(value) < 0;
      let text, unit = '';
      if (typeof value === 'number' && isNaN(value)) text = 'NaN';
      else if (value === 1 / 0 || value === -1 / 0) text = '∞';
      else {
        let [digits, scale] = exact(value < 0 ? -value : value === 0 ? 0 : value);
        if (style === 'percent') { if (scale >= 2) scale -= 2; else { digits *= 10n ** BigInt(2 - scale); scale = 0; } }
        if (notation === 'scientific' && digits !== 0n) {
          let power = `${digits}`.length - scale - 1;
          // Rounding may carry into the next power: 999,999 is one million.
          if (`${rounded(digits, scale + power, this.#most)[0]}`.length > this.#most + 1) power += 1;
          scale += power;
          if (scale < 0) { digits *= 10n ** BigInt(-scale); scale = 0; }
          unit = `E${power}`;
        } else if (notation === 'scientific') unit = 'E0';
        if (notation === 'compact') {
          // Here too: 999,999 is a million, 999,500 with a digit behind the point is not.
          const places = this.#options.short ? 0 : this.#most;
          const units = [[12, 'T'], [9, 'B'], [6, 'M'], [3, 'K']];
          const at = units.findIndex(([power]) => rounded(digits, scale + power - 3, places)[0] >= 10n ** BigInt(3 + places));
          if (at !== -1) { scale += units[at][0]; unit = units[at][1]; }
        }
        text = this.#digits(digits, scale) + unit;
      }
      const zero = !/[1-9∞]/.test(text);
      const shown = this.#options.sign === 'never' ? '' : negative && !(zero && ['exceptZero', 'negative'].includes(this.#options.sign)) ? (MINUS.includes(this.#language) ? '\u2212' : '-')
        : this.#options.sign === 'always' || this.#options.sign === 'exceptZero' && !zero ? '+' : '';
      if (style === 'percent') return `${shown}${text}${SIGNS[this.#language][0] === '.' || ['it', 'nl', 'pt', 'id', 'el', 'pl', 'uk'].includes(this.#language) ? '' : '\u00a0'}%`;
      if (style === 'currency') {
        const coin = COINS[currency] ?? `${currency}\u00a0`;
        return SIGNS[this.#language][0] === '.' ? `${shown}${coin}${text}` : `${shown}${text}\u00a0${coin.trim()}`;
      }
      return shown + text;
    }
    resolvedOptions() { return { locale: this.#locale, numberingSystem: 'latn', style: this.#options.style, minimumFractionDigits: this.#least, maximumFractionDigits: this.#most, useGrouping: this.#options.useGrouping, notation: this.#options.notation }; }
    static supportedLocalesOf(locales) { return (Array.isArray(locales) ? locales : [locales]).filter((locale) => SIGNS[`${locale}`.split('-')[0]] !== undefined); }
  }
  const usual = new NumberFormat();
  kit.formatNumber = (value, locales, options) =>
    (locales === undefined && options === undefined ? usual : new NumberFormat(locales, options)).format(value);
  native.define('Intl', { NumberFormat });
})
