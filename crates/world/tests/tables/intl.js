// Run here and in Node: rows of a label and a text. A body, so that both can.
const rows = []
const row = (label, make) => { let value; try { value = make() } catch (e) { value = `${e.name}` } rows.push([label, typeof value === 'string' ? value : JSON.stringify(value)]) }
const LOCALES = ['en-US', 'en-GB', 'en-IN', 'de-DE', 'de-CH', 'de-AT', 'fr-FR', 'fr-CA', 'es-ES', 'es-MX', 'it-IT', 'pt-BR', 'pt-PT', 'nl-NL', 'sv-SE', 'da-DK', 'nb-NO', 'fi-FI', 'pl-PL',
  'cs-CZ', 'hu-HU', 'ro-RO', 'ru-RU', 'uk-UA', 'tr-TR', 'el-GR', 'ar-EG', 'ar', 'he-IL', 'fa-IR', 'hi-IN', 'bn-BD', 'th-TH', 'vi-VN', 'id-ID', 'ja-JP', 'ko-KR', 'zh-CN', 'zh-TW', 'zh-HK']
const show = (options) => JSON.stringify(options) ?? ''

// Numbers.
const NUMBERS = [0, -1, 5, 1234.5, -98765.432, 1234567.891, 0.256, 12e9]
const MANNERS = [undefined, { minimumFractionDigits: 2 }, { maximumFractionDigits: 0 }, { maximumSignificantDigits: 3 }, { style: 'percent', maximumFractionDigits: 1 },
  { style: 'currency', currency: 'USD' }, { style: 'currency', currency: 'EUR' }, { style: 'currency', currency: 'JPY' }, { style: 'currency', currency: 'EUR', currencyDisplay: 'name' },
  { style: 'currency', currency: 'CHF', currencyDisplay: 'code' }, { style: 'currency', currency: 'CAD', currencyDisplay: 'narrowSymbol', currencySign: 'accounting' },
  { notation: 'compact' }, { notation: 'compact', compactDisplay: 'long' }, { notation: 'scientific' }, { notation: 'engineering' }, { style: 'currency', currency: 'USD', notation: 'compact' },
  { style: 'unit', unit: 'kilometer-per-hour' }, { style: 'unit', unit: 'liter', unitDisplay: 'long' }, { style: 'unit', unit: 'byte', unitDisplay: 'narrow' }, { style: 'unit', unit: 'celsius' },
  { signDisplay: 'always' }, { signDisplay: 'exceptZero', style: 'percent' }, { useGrouping: false }, { useGrouping: 'min2' }, { minimumIntegerDigits: 3 }]
for (const locale of LOCALES) for (const manner of MANNERS) for (const number of NUMBERS) {
  row(`number ${locale} ${show(manner)} ${number}`, () => new Intl.NumberFormat(locale, manner).format(number))
}
for (const locale of ['en-US', 'de-DE', 'ar-EG', 'hi-IN', 'ja-JP', 'fr-FR', 'pl-PL']) for (const manner of MANNERS) {
  row(`number parts ${locale} ${show(manner)}`, () => new Intl.NumberFormat(locale, manner).formatToParts(-1234567.891))
  row(`number resolved ${locale} ${show(manner)}`, () => new Intl.NumberFormat(locale, manner).resolvedOptions())
}
for (const unit of ['acre', 'bit', 'centimeter', 'day', 'degree', 'fahrenheit', 'foot', 'gigabyte', 'gram', 'hour', 'inch', 'kilogram', 'mile', 'mile-per-gallon', 'minute', 'month', 'percent', 'pound',
  'second', 'week', 'year', 'meter-per-second', 'liter-per-day', 'megabyte-per-second', 'byte-per-second']) for (const unitDisplay of ['short', 'long', 'narrow']) for (const locale of ['en-US', 'de-DE', 'fr-FR', 'ja-JP', 'pl-PL', 'ar-EG']) {
  for (const number of [1, 2, 5.5]) row(`unit ${locale} ${unit} ${unitDisplay} ${number}`, () => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).format(number))
}
for (const options of [{ roundingMode: 'ceil', maximumFractionDigits: 0 }, { roundingMode: 'floor', maximumFractionDigits: 1 }, { roundingMode: 'halfEven', maximumFractionDigits: 0 }, { roundingMode: 'trunc', maximumFractionDigits: 0 },
  { roundingIncrement: 5, minimumFractionDigits: 2, maximumFractionDigits: 2 }, { roundingIncrement: 250, maximumFractionDigits: 0, minimumFractionDigits: 0 }, { trailingZeroDisplay: 'stripIfInteger', minimumFractionDigits: 2 },
  { roundingPriority: 'morePrecision', maximumFractionDigits: 1, maximumSignificantDigits: 3 }, { roundingPriority: 'lessPrecision', maximumFractionDigits: 1, maximumSignificantDigits: 3 },
  { minimumSignificantDigits: 4 }, { signDisplay: 'negative' }, { signDisplay: 'never' }]) {
  for (const number of [2.5, -2.5, 1.005, 1000, 1234.567, -0.04, 0, -0, 1e-7, 123456789012345680000]) row(`rounding ${show(options)} ${number} ${1 / number}`, () => new Intl.NumberFormat('en', options).format(number))
}
for (const value of ['12345678901234567890.123', '1e3', ' 5 ', 'x', '', null, undefined, true, 12345678901234567890n, '0x10', '-.5', Infinity, -Infinity, NaN]) row(`number of ${typeof value} ${value}`, () => new Intl.NumberFormat('en').format(value))
for (const [start, end] of [[3, 5], [3, 3], [-3, 5], [1000, 2000000], [0.1, 0.2]]) for (const locale of ['en-US', 'de-DE', 'fr-FR', 'ja-JP']) for (const options of [undefined, { style: 'currency', currency: 'EUR' }, { style: 'unit', unit: 'meter' }]) {
  row(`number range ${locale} ${show(options)} ${start} ${end}`, () => new Intl.NumberFormat(locale, options).formatRange(start, end))
}
row('number without new', () => Intl.NumberFormat('de').format(1234.5))
row('number bound', () => [1, 22.5].map(new Intl.NumberFormat('de').format).join(' '))
for (const options of [{ style: 'currency' }, { style: 'unit' }, { style: 'x' }, { style: 'currency', currency: 'EURO' }, { style: 'unit', unit: 'parsec' }, { minimumFractionDigits: 101 }, { minimumFractionDigits: 4, maximumFractionDigits: 2 }, { numberingSystem: '1' }, null]) row(`number refused ${show(options)}`, () => new Intl.NumberFormat('en', options).format(1))
for (const tag of ['en-u-nu-thai', 'ar-u-nu-latn', 'hi-u-nu-native', 'de-u-nu-xxxx', 'fa']) row(`digits ${tag}`, () => [new Intl.NumberFormat(tag).format(-1234.5), new Intl.NumberFormat(tag).resolvedOptions()])

// Dates.
const TIMES = [Date.UTC(2024, 0, 5, 13, 4, 5, 678), Date.UTC(1999, 11, 31, 0, 59, 9), Date.UTC(2024, 6, 20, 12, 0, 0)]
const LOOKS = [undefined, { dateStyle: 'full' }, { dateStyle: 'long' }, { dateStyle: 'medium' }, { dateStyle: 'short' }, { timeStyle: 'full', timeZone: 'America/New_York' }, { timeStyle: 'long', timeZone: 'Europe/Berlin' },
  { timeStyle: 'medium' }, { timeStyle: 'short', timeZone: 'Asia/Tokyo' }, { dateStyle: 'full', timeStyle: 'short' }, { dateStyle: 'medium', timeStyle: 'medium' }, { dateStyle: 'short', timeStyle: 'short', timeZone: 'Asia/Kolkata' },
  { year: 'numeric', month: 'long', day: 'numeric' }, { year: 'numeric', month: 'short', day: '2-digit' }, { year: 'numeric', month: '2-digit', day: '2-digit' }, { month: 'long', day: 'numeric' }, { month: 'short', day: 'numeric' },
  { month: 'long', year: 'numeric' }, { month: 'short', year: '2-digit' }, { weekday: 'long' }, { weekday: 'short', day: 'numeric', month: 'short' }, { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  { weekday: 'short', hour: 'numeric' }, { month: 'long' }, { month: 'narrow' }, { year: 'numeric' }, { day: 'numeric' }, { month: 'numeric', day: 'numeric' }, { hour: 'numeric' }, { hour: '2-digit', minute: '2-digit' },
  { hour: 'numeric', minute: '2-digit', second: '2-digit', hour12: true }, { hour: 'numeric', minute: 'numeric', hourCycle: 'h23' }, { minute: '2-digit', second: '2-digit' }, { hour: 'numeric', minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3 },
  { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }, { weekday: 'short', year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short', timeZone: 'America/Los_Angeles' },
  { era: 'short', year: 'numeric' }, { hour: 'numeric', dayPeriod: 'long' }, { year: '2-digit', month: 'numeric', day: 'numeric' }, { timeZoneName: 'longGeneric', timeZone: 'America/Chicago' }, { timeZoneName: 'shortOffset', timeZone: 'Asia/Kolkata', hour: 'numeric' },
  { timeZoneName: 'longOffset', timeZone: 'America/St_Johns' }]
for (const locale of LOCALES) for (const look of LOOKS) for (const time of TIMES) row(`date ${locale} ${show(look)} ${time}`, () => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...look }).format(time))
for (const locale of ['en-US', 'de-DE', 'ja-JP', 'ar-EG', 'th-TH', 'fr-CA']) for (const look of LOOKS) {
  row(`date parts ${locale} ${show(look)}`, () => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...look }).formatToParts(TIMES[0]))
  row(`date resolved ${locale} ${show(look)}`, () => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...look }).resolvedOptions())
}
for (const locale of LOCALES) for (const method of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) row(`${method} ${locale}`, () => new Date(TIMES[0])[method](locale))
const ZONES = ['UTC', 'GMT', 'America/New_York', 'america/new_york', 'Asia/Calcutta', 'Asia/Kolkata', 'Europe/London', 'Europe/Dublin', 'Australia/Sydney', 'Pacific/Auckland', 'America/Sao_Paulo', 'Africa/Cairo', 'Asia/Kathmandu', 'Pacific/Apia',
  'Etc/GMT+5', 'US/Eastern', 'EST', 'Europe/Kyiv', 'Asia/Shanghai', 'America/Phoenix', 'Nowhere/Land', '', 'Europe/../London', 'EST5EDT']
for (const timeZone of ZONES) for (const time of [...TIMES, Date.UTC(1970, 0, 1), Date.UTC(2040, 6, 1)]) {
  row(`zone ${timeZone} ${time}`, () => new Date(time).toLocaleString('en-US', { timeZone, timeZoneName: 'short' }))
  row(`zone long ${timeZone} ${time}`, () => new Date(time).toLocaleString('de-DE', { timeZone, timeZoneName: 'long' }))
}
for (const timeZone of ZONES) row(`zone name ${timeZone}`, () => new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone)
const ENDS = [[0, 3600e3], [0, 86400e3 * 3], [0, 86400e3 * 40], [0, 86400e3 * 400], [0, 0], [0, 60e3], [0, 14 * 3600e3], [0, 5e3]]
for (const locale of ['en-US', 'en-GB', 'de-DE', 'fr-FR', 'ja-JP', 'es-ES']) for (const options of [undefined, { dateStyle: 'long' }, { dateStyle: 'medium', timeStyle: 'short' }, { year: 'numeric', month: 'short', day: 'numeric' }, { month: 'long', day: 'numeric' }, { hour: 'numeric', minute: '2-digit' },
  { month: 'short', year: 'numeric' }, { weekday: 'short', month: 'short', day: 'numeric' }]) for (const [start, end] of ENDS) {
  row(`date range ${locale} ${show(options)} ${start} ${end}`, () => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).formatRange(start + TIMES[0], end + TIMES[0]))
}
row('date range parts', () => new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).formatRangeToParts(0, 86400e3 * 40))
for (const tag of ['th-TH', 'fa-IR', 'ja-JP-u-ca-japanese', 'en-u-ca-buddhist', 'ar-SA-u-ca-islamic-umalqura', 'zh-TW-u-ca-roc', 'en-u-ca-persian', 'en-u-ca-iso8601', 'de-u-ca-japanese', 'en-u-hc-h23', 'en-u-nu-thai'])
  for (const look of [undefined, { dateStyle: 'full' }, { dateStyle: 'short' }, { year: 'numeric', month: 'long', day: 'numeric' }, { era: 'long', year: 'numeric' }, { hour: 'numeric' }]) row(`calendar ${tag} ${show(look)}`, () => new Intl.DateTimeFormat(tag, { timeZone: 'UTC', ...look }).format(TIMES[0]))
for (const time of [-1e14, -62167219200000, 8.64e15, -8.64e15, 253402300800000]) row(`far ${time}`, () => new Intl.DateTimeFormat('en', { timeZone: 'UTC', era: 'short', year: 'numeric', month: 'short', day: 'numeric' }).format(time))
for (const options of [{ dateStyle: 'x' }, { dateStyle: 'full', year: 'numeric' }, { hourCycle: 'h99' }, { timeZone: 'x' }, { fractionalSecondDigits: 4 }, { month: 'wide' }, null]) row(`date refused ${show(options)}`, () => new Intl.DateTimeFormat('en', options).format(0))
row('date refused toLocaleDateString', () => new Date(0).toLocaleDateString('en', { timeStyle: 'short' }))
row('date invalid', () => new Intl.DateTimeFormat('en').format(NaN))
row('date invalid to locale', () => new Date(NaN).toLocaleString('de'))

// Words.
for (const locale of LOCALES) for (const numeric of ['always', 'auto']) for (const style of ['long', 'short', 'narrow']) for (const [value, unit] of [[-1, 'day'], [1, 'days'], [0, 'year'], [-3, 'month'], [5, 'hours'], [2.5, 'weeks'], [-0, 'second'], [1000, 'quarter']])
  row(`relative ${locale} ${numeric} ${style} ${value} ${unit}`, () => new Intl.RelativeTimeFormat(locale, { numeric, style }).format(value, unit))
row('relative parts', () => new Intl.RelativeTimeFormat('de', { numeric: 'auto' }).formatToParts(-1234.5, 'day'))
row('relative refused', () => new Intl.RelativeTimeFormat('de').format(1, 'decade'))
for (const locale of LOCALES) for (const type of ['conjunction', 'disjunction', 'unit']) for (const style of ['long', 'short', 'narrow']) for (const list of [[], ['A'], ['A', 'B'], ['A', 'B', 'C'], ['A', 'B', 'C', 'Iris'], ['x', 'oro']])
  row(`list ${locale} ${type} ${style} ${list}`, () => new Intl.ListFormat(locale, { type, style }).format(list))
row('list parts', () => new Intl.ListFormat('en').formatToParts(['a', 'b', 'c']))
for (const locale of LOCALES) for (const type of ['cardinal', 'ordinal']) row(`plural ${locale} ${type}`, () => [0, 1, 2, 3, 5, 11, 21, 22, 100, 1.5, -1, 1e6].map((n) => new Intl.PluralRules(locale, { type }).select(n)))
for (const locale of LOCALES) row(`plural range ${locale}`, () => [[0, 1], [1, 2], [2, 5], [102, 201]].map(([a, b]) => new Intl.PluralRules(locale).selectRange(a, b)))
row('plural resolved', () => new Intl.PluralRules('pl').resolvedOptions())
for (const locale of LOCALES) for (const [type, codes] of [['language', ['de', 'en-GB', 'zh-Hant', 'pt-BR', 'sr-Latn-RS', 'fr-CH']], ['region', ['US', 'GB', 'DE', '419', 'CN']], ['script', ['Latn', 'Cyrl', 'Hans']], ['currency', ['USD', 'EUR', 'JPY', 'CHF']], ['dateTimeField', ['month', 'weekOfYear', 'timeZoneName']], ['calendar', ['gregory', 'buddhist']]])
  for (const style of ['long', 'short']) for (const code of codes) row(`name ${locale} ${type} ${style} ${code}`, () => new Intl.DisplayNames(locale, { type, style }).of(code))
for (const [type, code] of [['region', 'XQ'], ['language', 'x'], ['currency', 'ABC'], ['script', 'Abcd'], ['region', 'USA']]) row(`name refused ${type} ${code}`, () => new Intl.DisplayNames('en', { type, fallback: 'none' }).of(code) ?? 'none')
const WORDS = ['a', 'A', 'b', 'ä', 'Ä', 'z', 'Z', 'å', 'ö', 'o', 'é', 'e', 'ñ', 'n', 'ch', 'c', 'd', 'll', 'l', 'ß', 'ss', '1', '10', '2', '_', '-', ' ', 'ı', 'i', 'I', 'İ', 'ø', 'æ', 'の', 'あ', '日本', '中', 'я', 'а', 'א', 'ท', 'y', 'w', 'v']
for (const locale of ['en', 'de', 'sv', 'es', 'cs', 'da', 'tr', 'ja', 'zh', 'lt', 'de-u-co-phonebk']) for (const options of [undefined, { numeric: true }, { sensitivity: 'base' }, { sensitivity: 'accent' }, { sensitivity: 'case' }, { caseFirst: 'upper' }, { ignorePunctuation: true }])
  row(`order ${locale} ${show(options)}`, () => WORDS.toSorted(new Intl.Collator(locale, options).compare).join('|'))
for (const locale of ['en', 'de', 'sv', undefined]) row(`localeCompare ${locale}`, () => WORDS.toSorted((a, b) => a.localeCompare(b, locale)).join('|'))
row('collator resolved', () => new Intl.Collator('de-u-kn-kf-upper', { sensitivity: 'base' }).resolvedOptions())
const TEXTS = ['Hello, world! How are you? Fine.', 'Mr. Smith went to Washington. He paid $3.50.', 'a👨‍👩‍👧b🇩🇪e\u0301', 'これは日本語の文章です。次の文。', '我们去北京旅游吧', 'สวัสดีชาวโลก', '한국어 문장입니다.', '', 'a\r\nb  c', "can't stop-gap 3.14 e-mail x_y"]
for (const granularity of ['grapheme', 'word', 'sentence']) for (const text of TEXTS) row(`segment ${granularity} ${text}`, () => [...new Intl.Segmenter('en', { granularity }).segment(text)].map((s) => [s.segment, s.index, s.isWordLike ?? null]))
row('segment containing', () => new Intl.Segmenter('en', { granularity: 'word' }).segment('one two').containing(5))
for (const [text, locale] of [['istanbul', 'tr'], ['ISTANBUL', 'tr'], ['İ', 'tr'], ['ίος', 'el'], ['straße', 'de'], ['ij', 'nl'], ['İ', 'en'], ['Ì', 'lt'], ['i', 'az']]) row(`case ${text} ${locale}`, () => [text.toLocaleUpperCase(locale), text.toLocaleLowerCase(locale)])
for (const tag of ['EN-us', 'zh-hant-tw', 'iw', 'no', 'sr-latn', 'en-u-ca-gregorian', 'de-DE-1996', 'sh', 'x', 'en-', 'en_US', 'i-klingon', 'en-US-u-nu-latn-x-foo', 'default', 'mo', 'cmn', 'und-US']) row(`canonical ${tag}`, () => Intl.getCanonicalLocales(tag))
for (const tag of ['de', 'zh-TW', 'sr', 'en-GB', 'zh-Hans-CN', 'und-DE', 'pt', 'ar-u-nu-latn']) row(`locale ${tag}`, () => { const l = new Intl.Locale(tag); return [`${l}`, l.baseName, l.language, l.script ?? null, l.region ?? null, `${l.maximize()}`, `${l.minimize()}`, l.numberingSystem ?? null, l.numeric] })
row('locale options', () => `${new Intl.Locale('en', { region: 'GB', calendar: 'gregory', hourCycle: 'h12', numeric: true })}`)
row('locale refused', () => new Intl.Locale('e').language)
for (const tag of ['en', 'en-US', 'en-XX', 'zh-TW', 'zh-HK', 'sr-RS', 'no', 'nb', 'pt', 'es-419', 'xx', 'zh-Hant', 'de-DE-1996', 'en-Latn-GB', 'fil', 'en-u-ca-buddhist-nu-latn-hc-h23']) for (const kind of ['NumberFormat', 'DateTimeFormat', 'Collator', 'PluralRules']) row(`resolved ${kind} ${tag}`, () => new Intl[kind](tag).resolvedOptions().locale)
row('supported', () => Intl.NumberFormat.supportedLocalesOf(['de', 'en-XX', 'xx', 'zh-TW']))
for (const kind of ['unit', 'x']) row(`values ${kind}`, () => Intl.supportedValuesOf(kind))
row('tags', () => [Intl, new Intl.NumberFormat(), new Intl.DateTimeFormat(), new Intl.Collator(), new Intl.PluralRules(), new Intl.ListFormat(), new Intl.Segmenter(), new Intl.Locale('de'), new Intl.RelativeTimeFormat()].map((x) => Object.prototype.toString.call(x)))
row('lengths', () => [Intl.NumberFormat.length, Intl.DateTimeFormat.length, Intl.NumberFormat.name, Intl.PluralRules.name])
row('subclass', () => new (class X extends Intl.NumberFormat { twice(n) { return this.format(n) + this.format(n) } })('de').twice(1.5))
row('locales refused', () => new Intl.NumberFormat(5 > 4 ? [1] : 0).format(1))
row('locales null', () => new Intl.NumberFormat(null).format(1))
row('locales of objects', () => new Intl.NumberFormat([new Intl.Locale('de'), 'en']).format(1.5))
return rows
