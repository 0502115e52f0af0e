// Turns the JSON lines of both sides into tables with ratios; more than 1 means the peer takes longer than Cove.
import { readFileSync } from 'node:fs'

const lines = readFileSync(process.argv[2], 'utf8').trim().split('\n').map(line => JSON.parse(line))
const own = name => lines.find(line => line.name === name)
const ms = us => (us / 1000).toFixed(3)
const ROWS = [
  ['trivial', 'fresh_trivial', 'A trivial script in a fresh world'],
  ['100 awaits', 'fresh_100_awaited_tools', 'A script that awaits a tool 100 times, in a fresh world'],
]
for (const [what, name, title] of ROWS) {
  const cove = own(name)
  console.log(`\n${title} (ms)\n`)
  console.log('| | isolation | p50 | min | ratio of p50 to Cove\'s |\n|---|---|---|---|---|')
  console.log(`| **Cove, fresh process behind walls** | process | ${cove.p50.toFixed(3)} | ${cove.min.toFixed(3)} | 1 |`)
  for (const peer of lines.filter(line => line.peer && line.what === what).sort((a, b) => a.p50_us - b.p50_us)) {
    const isolation = peer.peer === 'isolated-vm' ? 'V8 isolate' : peer.peer.startsWith('quickjs') ? 'wasm' : 'none'
    console.log(`| ${peer.peer} | ${isolation} | ${ms(peer.p50_us)} | ${ms(peer.min_us)} | ${(peer.p50_us / 1000 / cove.p50).toFixed(2)} |`)
  }
}
console.log('\nA cold process (ms)\n\n| | p50 | min |\n|---|---|---|')
for (const peer of lines.filter(line => line.what === 'cold process')) console.log(`| ${peer.peer} | ${ms(peer.p50_us)} | ${ms(peer.min_us)} |`)
console.log('\nCove alone\n\n| what | p50 | min | p95 |\n|---|---|---|---|')
for (const line of lines.filter(line => line.unit === 'ms')) console.log(`| ${line.name.replaceAll('_', ' ')} (ms) | ${line.p50} | ${line.min} | ${line.p95} |`)
for (const line of lines.filter(line => line.per_second)) console.log(`\nfresh runs per second, ${line.workers} callers: ${line.per_second}`)
const many = own('sessions_open_at_once')
if (many) console.log(`\nsessions open at once: ${many.n}, each ${many.pss_kb_each} KB of its own memory (PSS)`)
for (const line of lines.filter(line => line.what === 'not measured')) console.log(`\nnot measured: ${line.peer} (${line.why})`)
