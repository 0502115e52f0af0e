// Draws README's picture: what `cove run hello.js` and `cove doctor` look like in a terminal.
//   cove run docs/picture/terminal.js --no-system-fonts --artifacts docs/picture
const lines = [
  ['$ ', 'cove run examples/hello.js'],
  ['', 'Ahoy, stranger. This code runs in a process of its own, behind walls.'],
  ['', ''],
  ['wave'],
  ['', ''],
  ['✓ ', 'read /etc/passwd             ', "Cannot find module 'fs': there is no file system here"],
  ['✓ ', 'start a process              ', 'process.binding is not a function'],
  ['✓ ', 'find the real global         ', "cannot read property 'env' of undefined"],
  ['✓ ', 'climb out by a constructor   ', 'process is not defined'],
  ['✓ ', 'poison every object          ', 'object is not extensible'],
  ['✓ ', 'replace a built-in           ', "'map' is read-only"],
  ['✓ ', 'call home                    ', 'fetch is closed in this session: no host is allowed'],
  ['', '{"hello":"stranger","walls_held":"7 of 7","end_of_walk":-2.476}'],
  ['', ''],
  ['$ ', "cove sandbox exec $box --browser 'screenshot page.png'"],
  ['✓ ', 'Screenshot saved to /workspace/page.png'],
]
const [width, height, left, top, step] = [1200, 612, 36, 84, 31]
const ctx = getCanvas(width, height).getContext('2d')
ctx.fillStyle = '#0b1220'
ctx.beginPath()
ctx.roundRect(0, 0, width, height, 14)
ctx.fill()
;['#ff5f57', '#febc2e', '#28c840'].forEach((colour, at) => {
  ctx.fillStyle = colour
  ctx.beginPath()
  ctx.arc(28 + 24 * at, 26, 7, 0, 7)
  ctx.fill()
})
ctx.font = '19px monospace'
lines.forEach(([mark, text, more], at) => {
  const y = top + step * at
  if (mark === 'wave') {
    let level = 0.5
    for (let x = 0; x < 62; x++) {
      level = Math.min(1, Math.max(0.06, level + Math.sin(x * 12.9898) * 0.16))
      ctx.fillStyle = `hsl(${190 + level * 60} 80% 62%)`
      ctx.fillRect(left + 12 * x, y + 4 - 34 * level, 10, 34 * level)
    }
    return
  }
  const write = (words, colour, x) => {
    ctx.fillStyle = colour
    ctx.fillText(words, x, y)
    return x + ctx.measureText(words).width
  }
  let x = left + ctx.measureText(mark).width
  if (mark === '✓ ') {
    ctx.strokeStyle = '#4ade80'
    ctx.lineWidth = 2.5
    ctx.beginPath()
    ctx.moveTo(left, y - 6)
    ctx.lineTo(left + 4, y - 1)
    ctx.lineTo(left + 12, y - 13)
    ctx.stroke()
  } else {
    write(mark, '#7dd3fc', left)
  }
  x = write(text, mark === '$ ' ? '#f8fafc' : '#cbd5e1', x)
  if (more) write(more, '#64748b', x)
})
return 'drawn'
