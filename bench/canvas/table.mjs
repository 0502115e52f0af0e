// Turns the JSON lines of both sides into one table; a ratio below 1 means Cove takes less.
import { readFileSync } from 'node:fs'

const lines = readFileSync(process.argv[2], 'utf8').trim().split('\n').map(line => JSON.parse(line))
const goal = scene => (scene === 'text' ? 0.6 : 1)
console.log('CPU ms per picture, drawn and exported as PNG, median; KB of the file\n')
console.log('| scene | Cove draw + PNG | KB | @napi-rs/canvas draw + PNG | KB | CPU ratio | goal | |\n|---|---|---|---|---|---|---|---|')
for (const cove of lines.filter(line => line.who === 'cove')) {
  const napi = lines.find(line => line.who === 'napi' && line.scene === cove.scene)
  const ratio = cove.all / napi.all
  const side = line => `${line.draw.toFixed(1)} + ${line.png.toFixed(1)} | ${Math.round(line.kb)}`
  console.log(`| ${cove.scene} | ${side(cove)} | ${side(napi)} | ${ratio.toFixed(2)} | ${goal(cove.scene)} | ${ratio <= goal(cove.scene) ? 'reached' : 'missed'} |`)
}
