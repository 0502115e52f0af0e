// A small Intl: NumberFormat with the separators of common languages, which charts and tables ask for. What is not
// here is absent, so that a program finds out at once instead of getting a wrong text.
(function (native, kit) {
  'use strict';
  const { Object, RangeError, Number, Array, Math, String, isNaN } = globalThis;
  const abs = Math.abs;
  // Decimal sign and group sign by language.
  const SIGNS = { __proto__: null, en: ['.', ','], ja: ['.', ','], zh: ['.', ','], ko: ['.', ','], he: ['.', ','], th: ['.', ','],
    de: [',', '.'], es: [',', '.'], it: [',', '.'], nl: [',', '.'], pt: [',', '.'], tr: [',', '.'], id: [',', '.'], da: [',', '.'], el: [',', '.'],
    fr: [',', '\u202f'], sv: [',', '\u00a0'], nb: [',', '\u00a0'], fi: [',', '\u00a0'], cs: [',', '\u00a0'], pl: [',', '\u00a0'], ru: [',', '\u00a0'], uk: [',', '\u00a0'] };
  const COINS = { __proto__: null, USD: '$', EUR: '€', GBP: '£', JPY: '¥', CNY: 'CN¥', INR: '₹', KRW: '₩', BRL: 'R$', CHF: 'CHF\u00a0' };

  function localeOf(locales) {
    const first = Array.isArray(locales) ? locales[0] : locales;
    const text = first === undefined ? 'en-US' : `${first}`;
    const language = text.split('-')[0].toLowerCase();
    if (SIGNS[language] === undefined) throw new RangeError(`Intl knows ${Object.keys(SIGNS).join(', ')} in this engine, not ${text}; use engine "browser" for more`);
    return [text, language];
  }

  class NumberFormat {
    #locale; #language; #options; #least; #most;
    constructor(locales, options = {}) {
      [this.#locale, this.#language] = localeOf(locales);
      const style = options.style ?? 'decimal';
      if (!['decimal', 'percent', 'currency'].includes(style)) throw new RangeError(`Intl.NumberFormat has no style ${style} in this engine`);
      if (options.notation !== undefined && options.notation !== 'standard' && options.notation !== 'compact' && options.notation !== 'scientific') throw new RangeError(`Intl.NumberFormat has no notation ${options.notation} in this engine`);
      if (style === 'currency' && options.currency === undefined) throw new RangeError('a currency is needed');
      this.#options = { style, currency: options.currency, useGrouping: options.useGrouping ?? true, notation: options.notation ?? 'standard', significant: options.maximumSignificantDigits };
      const usual = style === 'currency' ? (['JPY', 'KRW'].includes(options.currency) ? 0 : 2) : 0;
      const compact = this.#options.notation === 'compact';
      this.#least = Number(options.minimumFractionDigits ?? (compact ? 0 : usual));
      this.#most = Number(options.maximumFractionDigits ?? Math.max(this.#least, style === 'decimal' ? (compact ? 1 : 3) : usual));
      if (!(this.#least >= 0 && this.#most <= 100 && this.#least <= this.#most)) throw new RangeError('the numbers of digits do not fit together');
    }
    #digits(value) {
      const [decimal, group] = SIGNS[this.#language];
      let text;
      if (this.#options.significant !== undefined) text = `${Number(value.toPrecision(this.#options.significant))}`;
      else text = value.toFixed(this.#most);
      let [whole, part = ''] = text.split('.');
      if (this.#options.significant === undefined) while (part.length > this.#least && part.endsWith('0')) part = part.slice(0, -1);
      if (this.#options.useGrouping) whole = whole.replace(/\B(?=(\d{3})+(?!\d))/g, group);
      return part === '' ? whole : whole + decimal + part;
    }
    format(number) {
      const value = typeof number === 'bigint' ? Number(number) : Number(number);
      if (isNaN(value)) return 'NaN';
      const sign = value < 0 || value === 0 && 1 / value < 0 ? '-' : '';
      let size = abs(value);
      if (size === 1 / 0) return `${sign}∞`;
      const { style, currency, notation } = this.#options;
      let unit = '';
      if (style === 'percent') size *= 100;
      if (notation === 'scientific') {
        const power = size === 0 ? 0 : Math.floor(Math.log10(size));
        return `${sign}${this.#digits(size / 10 ** power)}E${power}`;
      }
      if (notation === 'compact') for (const [limit, letter] of [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'K']]) if (size >= limit) { size /= limit; unit = letter; break; }
      const text = this.#digits(size) + unit;
      if (style === 'percent') return `${sign}${text}${this.#language === 'en' ? '' : '\u00a0'}%`;
      if (style === 'currency') {
        const coin = COINS[currency] ?? `${currency}\u00a0`;
        return SIGNS[this.#language][0] === '.' ? `${sign}${coin}${text}` : `${sign}${text}\u00a0${coin.trim()}`;
      }
      return sign + text;
    }
    resolvedOptions() { return { locale: this.#locale, numberingSystem: 'latn', style: this.#options.style, minimumFractionDigits: this.#least, maximumFractionDigits: this.#most, useGrouping: this.#options.useGrouping, notation: this.#options.notation }; }
    static supportedLocalesOf(locales) { return (Array.isArray(locales) ? locales : [locales]).filter((locale) => SIGNS[`${locale}`.split('-')[0]] !== undefined); }
  }
  native.define('Intl', { NumberFormat });
})
