// No semicolons, much punctuation: ASI, templates, optional chaining, spreads.
const rows = [
  { name: 'Ünïcode', tags: ['a', 'b'], meta: { depth: { level: 3 } } },
  { name: '表', tags: [], meta: null },
  { name: '😀', tags: ['c'] },
]

const pad = (text, width) => text + ' '.repeat(Math.max(0, width - [...text].length))
const level = row => row.meta?.depth?.level ?? -1
const header = ['name', 'tags', 'level']

let out = ''
let i = 0
for (const cell of header) out += `${i++ ? ' | ' : ''}${pad(cell, 8)}`
out += '\n'
;[...rows].forEach((row, index) => {
  const { name, tags: [first = '-', ...rest], ...others } = row
  out += [name, `${first}${rest.length ? `+${rest.length}` : ''}`, String(level(row))]
    .map(cell => pad(cell, 8))
    .join(' | ')
  out += index === rows.length - 1 ? '' : '\n'
  void others
})

const lines = out.split('\n')
let longest = 0
while (lines.length) {
  const line = lines.pop()
  if (line.length < longest) continue
  longest = line.length
}
label: {
  if (longest > 1e3) break label
  longest = longest > 20 ? 1 : 0
}
if (!(longest === 1 && /表\s+\| -/u.test(out))) throw new Error(out)
return 'ok'
