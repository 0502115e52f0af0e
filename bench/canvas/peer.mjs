// The scenes drawn by @napi-rs/canvas (Skia in Node.js): one JSON line per scene, CPU milliseconds of the whole process.
//   peer.mjs SCENES [PICTURES]
import { createCanvas } from '@napi-rs/canvas'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder, pictures] = process.argv.slice(2)
const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
const median = list => list.sort((a, b) => a - b)[list.length >> 1]
// The same numbers between 0 and 1 on both sides.
const rolls = () => { let seed = 1; return () => (seed = (seed * 48271) % 2147483647) / 2147483647 }

for (const file of readdirSync(folder).sort()) {
  const source = readFileSync(join(folder, file), 'utf8')
  const [, width, height] = source.match(/^\/\/ (\d+) (\d+)/).map(Number)
  const draw = new Function('canvas', 'ctx', 'dice', source)
  const times = { draw: [], png: [], all: [] }
  let png, spent = 0
  // The first two passes are for the compiler and the fonts.
  for (let pass = 0; pass < 9 || (spent < 1000 && pass < 200); pass++) {
    const canvas = createCanvas(width, height), context = canvas.getContext('2d'), dice = rolls()
    const start = cpu()
    draw(canvas, context, dice)
    const drawn = cpu()
    png = canvas.toBuffer('image/png')
    const end = cpu()
    spent += end - start
    if (pass > 1) { times.draw.push(drawn - start); times.png.push(end - drawn); times.all.push(end - start) }
  }
  if (pictures) writeFileSync(join(pictures, file.replace('.js', '.napi.png')), png)
  console.log(JSON.stringify({ who: 'napi', scene: file.replace('.js', ''), draw: median(times.draw), png: median(times.png), all: median(times.all), kb: png.length / 1024 }))
}
