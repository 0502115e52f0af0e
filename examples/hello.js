// The first minute with Cove: real JavaScript, a real attempt to break out, and a value at the end.
//   cargo run --release -- run examples/hello.js
//   cargo run --release -- run examples/hello.js --input '{"name":"Ada"}' --json

const name = input?.name ?? 'stranger'
console.log(`Ahoy, ${name}. This code runs in a process of its own, behind walls.\n`)

// 1. Work: a random walk, drawn with what a terminal has.
let height = 0
const walk = Array.from({ length: 60 }, () => (height += Math.random() - 0.48))
const low = Math.min(...walk), high = Math.max(...walk)
const bars = '▁▂▃▄▅▆▇█'
console.log('  ' + walk.map(y => bars[Math.round((y - low) / (high - low || 1) * 7)]).join('') + '\n')

// 2. Mischief: what an agent's code might try, on purpose or by accident.
const attempts = {
  'read /etc/passwd': () => require('fs').readFileSync('/etc/passwd'),
  'start a process': () => process.binding('spawn_sync'),
  'find the real global': () => Function('return this')().process.env,
  'climb out by a constructor': () => [].filter.constructor('return process')(),
  'poison every object': () => { Object.prototype.admin = true },
  'replace a built-in': () => { Array.prototype.map = () => 'mine' },
  'call home': () => fetch('http://169.254.169.254/latest/meta-data'),
}
const held = []
for (const [what, attempt] of Object.entries(attempts)) {
  try {
    await attempt()
    console.error(`  ✗ ${what}: it worked!`)
  } catch (error) {
    held.push(what)
    console.log(`  ✓ ${what.padEnd(28)} ${error.message.split(/\. |\n/)[0]}`)
  }
}

// 3. A value: whatever is returned goes to standard output as JSON.
return { hello: name, walls_held: `${held.length} of ${Object.keys(attempts).length}`, end_of_walk: Number(height.toFixed(3)) }
