// Intl itself: all of its parts under one name.
(function (native, kit, world) {
  'use strict';
  const { Object, Symbol, RangeError } = world;
  const { own, localeList } = kit.late('intl.js');
  const { NumberFormat, PluralRules, RelativeTimeFormat } = kit.late('intl-number.js');
  const { DateTimeFormat } = kit.late('intl-date.js');
  const { Collator, ListFormat, DisplayNames, Segmenter, Locale } = kit.late('intl-text.js');
  const KINDS = ['calendar', 'collation', 'currency', 'numberingSystem', 'timeZone', 'unit'];
  const Intl = {};
  const methods = {
    getCanonicalLocales(locales) { return localeList(locales); },
    supportedValuesOf(kind) {
      const name = `${kind}`;
      if (!KINDS.includes(name)) throw new RangeError(`Invalid key : ${name}`);
      return own.values(name);
    },
    Collator, DateTimeFormat, DisplayNames, ListFormat, Locale, NumberFormat, PluralRules, RelativeTimeFormat, Segmenter,
  };
  for (const name of Object.keys(methods)) Object.defineProperty(Intl, name, { value: methods[name], writable: true, enumerable: false, configurable: true });
  Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  return { names: { Intl }, inner: {} };
})
