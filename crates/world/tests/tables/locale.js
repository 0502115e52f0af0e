// Run here and in Node: every row must be the same. A body, so that both can.
const rows = []
const numbers = [0, 1, -1, 12, 1234, 12345.678, 1234567.891, 0.5, 0.05, 1.005, 2.675, 999.9995, 999999, 999500, 99.95, 1e21, NaN, Infinity, -1234.5, 0.07, 1 / 3]
const manners = [undefined, { minimumFractionDigits: 2 }, { maximumFractionDigits: 0 }, { minimumFractionDigits: 2, maximumFractionDigits: 2 }, { style: 'percent' },
  { style: 'percent', maximumFractionDigits: 1 }, { style: 'currency', currency: 'USD' }, { style: 'currency', currency: 'EUR', maximumFractionDigits: 0 },
  { notation: 'compact' }, { notation: 'compact', maximumFractionDigits: 1 }, { notation: 'scientific' }, { useGrouping: false },
  { maximumSignificantDigits: 3 }, { minimumSignificantDigits: 3 }, { minimumIntegerDigits: 2 }, { signDisplay: 'always' }, { signDisplay: 'exceptZero' }]
for (const number of numbers) for (const manner of manners) rows.push([`${number} ${JSON.stringify(manner)}`, number.toLocaleString('en-US', manner)])
for (const number of [1234, 12345.678, -1234567.891]) for (const language of ['de-DE', 'fr-FR', 'es-ES', 'it-IT', 'pt-BR', 'sv-SE', 'ja-JP', 'pl-PL', 'en-IN', 'en-GB']) {
  for (const manner of [undefined, { minimumFractionDigits: 2 }]) rows.push([`${number} ${language}`, number.toLocaleString(language, manner)])
}
for (const big of [0n, -1234567890123456789n]) rows.push([`${big}n`, big.toLocaleString()])
rows.push(['in an array', [1234, 5.5, new Date(0)].toLocaleString()])
rows.push(['in an array, in a language', [1234.5, [9876.5], null, undefined, 'x', 12345678n].toLocaleString('de-DE', { minimumFractionDigits: 2 })])
rows.push(['in a typed array', [new Float64Array([1234.5, -0.25]).toLocaleString('de-DE'), new Uint8Array([200, 1]).toLocaleString('en-US', { style: 'currency', currency: 'USD' })]])
rows.push(['a list that is none', Array.prototype.toLocaleString.call({ length: '2', 0: 1000 })])
rows.push(['its own', [Array.prototype.toLocaleString.length, Array.prototype.toLocaleString.name]])

const dates = [Date.UTC(2024, 0, 5, 13, 4, 5), Date.UTC(1999, 11, 31, 9, 59, 9), NaN]
const looks = [undefined, { month: 'short', day: 'numeric' }, { month: 'long', day: 'numeric', year: 'numeric' }, { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' },
  { weekday: 'short', month: 'short', day: 'numeric' }, { weekday: 'short' }, { month: 'long', year: 'numeric' }, { month: '2-digit', day: '2-digit', year: 'numeric' },
  { month: 'numeric', day: 'numeric' }, { year: '2-digit', month: 'numeric', day: 'numeric' }, { hour: '2-digit', minute: '2-digit' }, { hour: 'numeric' },
  { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  { year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit' }, { weekday: 'long', month: 'numeric', day: 'numeric', year: 'numeric' },
  { minute: '2-digit', second: '2-digit' }, { timeZone: 'UTC', timeZoneName: 'short' }]
for (const time of dates) {
  const date = new Date(time)
  rows.push([`${time}`, `${date}|${date.toTimeString()}|${date.toDateString()}`])
  for (const look of looks) for (const language of [undefined, 'en-US', 'en-GB']) {
    if (language === 'en-GB' && look?.hour === 'numeric') continue
    if (look?.timeZoneName && language === 'en-GB') continue
    for (const method of ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
      rows.push([`${time} ${method} ${language} ${JSON.stringify(look)}`, date[method](language, look)])
    }
  }
  for (const style of ['full', 'long', 'medium', 'short']) {
    rows.push([`${time} date ${style}`, date.toLocaleDateString('en-US', { dateStyle: style })])
    rows.push([`${time} time ${style}`, date.toLocaleTimeString('en-US', { timeStyle: style })])
    rows.push([`${time} both ${style}`, date.toLocaleString('en-US', { dateStyle: style, timeStyle: 'short' })])
  }
  for (const language of ['de-DE', 'sv-SE']) rows.push([`${time} ${language}`, `${date.toLocaleDateString(language)}|${date.toLocaleTimeString(language)}|${date.toLocaleString(language)}`])
}

const words = ['a', 'A', 'b', 'B', 'ä', 'Ä', 'z', 'é', 'e', 'f', 'resume', 'résumé', 'Resume', 'item10', 'item2', 'item 2', 'co-op', 'coop', '_x', '1', '10', '2', '$5', '#a', '@b',
  'Straße', 'Strasse', 'naïve', 'naive', 'naives', 'Zebra', 'apple', 'Äpfel', 'ñ', 'n', 'Ørsted', 'Oslo', 'alpha', '', 'a b', 'ab', 'a.b', "it's", 'its', 'v1.10.0', 'v1.9.0', 'I', 'i']
for (const options of [undefined, { numeric: true }, { sensitivity: 'base' }, { sensitivity: 'accent' }, { sensitivity: 'case' }]) {
  for (const one of words) for (const other of words) rows.push([`${one} ? ${other} ${JSON.stringify(options)}`, Math.sign(one.localeCompare(other, 'en', options))])
}
return rows
