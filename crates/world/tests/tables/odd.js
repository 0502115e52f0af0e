// Requests that nobody would make on purpose: how many gave a text, how many an error of the right kind, and the others.
let made = 0, refused = 0
const others = []
const LOCALES = ['', 'x', 'en-', '-', 'en--us', 'en-u-', 'en-u-nu', 'en-u-ca-' + 'x'.repeat(9), 'zz-ZZ', 'a'.repeat(5000), 'de-' + 'u-nu-latn-'.repeat(50), 'en-US-POSIX', 'root', 'und', 'en-t-de', 'x-private', 'en-a-bbb-a-ccc', 'de-1996-1996',
  '\u0000', 'e\u0301', '日本', 'en-u-nu-arab-nu-latn', ['en', 5], {}, { length: 1e9 }, { length: 2, 0: 'de', 1: 'fr' }, [[]], Symbol.iterator, 5, true, new Proxy([], {}), undefined, null, 'de', 'ar', 'th', 'ja-u-ca-japanese', 'hi-u-nu-deva']
const VALUES = [undefined, null, 0, -1, 1e308, 5e-324, NaN, Infinity, -Infinity, 2 ** 53, 10n ** 300n, -(10n ** 30n), '', ' ', 'x', '1e9999', '-1e-9999', '9'.repeat(900), '0.' + '1'.repeat(900), 8.64e15, -8.64e15, 8.64e15 + 1, {}, [], [7], () => 1, true,
  { valueOf() { return 3 } }, { valueOf() { throw new RangeError('mine') } }, new Date(0), new Date(NaN), '\ud800', 'a\udc00b']
const OPTIONS = [undefined, null, 5, 'x', {}, { style: 'currency', currency: 'ZZZ' }, { style: 'unit', unit: 'x-per-y' }, { style: 'unit', unit: 'meter-per-meter-per-meter' }, { minimumIntegerDigits: 21, maximumFractionDigits: 100, minimumFractionDigits: 100 },
  { maximumSignificantDigits: 0 }, { notation: 'compact', compactDisplay: 'long', style: 'currency', currency: 'EUR', currencyDisplay: 'name' }, { notation: 'engineering', style: 'percent' }, { numberingSystem: 'x'.repeat(99) }, { numberingSystem: 'hanidec' },
  { calendar: 'x' }, { timeZone: 'a'.repeat(9999) }, { timeZone: '../../etc/passwd' }, { timeZone: '+25:00' }, { timeZone: '-23:59' }, { dateStyle: 'full', timeStyle: 'full' }, { fractionalSecondDigits: 3 }, { dayPeriod: 'long', hour: 'numeric' }, { era: 'long' },
  { weekday: 'narrow', timeZoneName: 'longGeneric' }, { granularity: 'word' }, { granularity: 'sentence' }, { type: 'unit' }, { type: 'language' }, { type: 'region' }, { type: 'ordinal' }, { numeric: 'auto' }, { usage: 'search', sensitivity: 'case' }, { get style() { throw new RangeError('mine') } },
  { roundingIncrement: 5000, maximumFractionDigits: 0 }, { roundingIncrement: 3 }, { signDisplay: {} }, { useGrouping: 'x' }, { localeMatcher: 'x' }, { hourCycle: 'h24', hour: '2-digit', minute: '2-digit' }]
const KINDS = [['NumberFormat', (f, v) => [f.format(v), f.formatToParts(v), f.formatRange(v, 5), f.resolvedOptions()]], ['DateTimeFormat', (f, v) => [f.format(v), f.formatToParts(v), f.formatRange(v, 1e12), f.resolvedOptions()]],
  ['PluralRules', (f, v) => [f.select(v), f.selectRange(v, 3)]], ['RelativeTimeFormat', (f, v) => [f.format(v, 'day'), f.formatToParts(v, 'quarters')]], ['Collator', (f, v) => f.compare(v, 'b')], ['ListFormat', (f, v) => f.format([`${String(v)}`, 'b', 'c'])],
  ['Segmenter', (f, v) => [...f.segment(v)].length], ['DisplayNames', (f, v) => f.of(v)], ['Locale', (f) => [`${f}`, f.weekInfo, f.maximize(), f.minimize()]]]
const attempt = (label, work) => {
  try {
    work()
    made++
  } catch (e) {
    if (e instanceof RangeError || e instanceof TypeError) refused++
    else others.push(`${label}: ${e}`)
  }
}
for (const [kind, use] of KINDS) {
  for (const locale of LOCALES) for (const value of [5, VALUES[(LOCALES.indexOf(locale) * 7) % VALUES.length]]) attempt(`${kind} locale`, () => use(new Intl[kind](locale, kind === 'DisplayNames' ? { type: 'region' } : undefined), value))
  for (const options of OPTIONS) for (const value of VALUES) attempt(`${kind} options`, () => use(new Intl[kind]('de', options), value))
}
for (const locale of LOCALES) attempt('methods', () => ['x'.localeCompare('ä', locale), 'i'.toLocaleUpperCase(locale), (5).toLocaleString(locale), (5n).toLocaleString(locale), new Date(0).toLocaleTimeString(locale)])
return [made, refused, others.slice(0, 20)]
