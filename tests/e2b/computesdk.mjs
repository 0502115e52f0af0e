// computesdk's own provider for E2B runs a task here, unmodified. Run by scripts/test-e2b.
import assert from 'node:assert/strict'
import { e2b } from '@computesdk/e2b'

const sdk = e2b({ apiKey: process.env.E2B_API_KEY, timeout: 60_000 })
const sandbox = await sdk.sandbox.create()
try {
  const done = await sandbox.runCommand("python3 - <<'PY'\nprint(6 * 7)\nPY")
  assert.deepEqual([done.exitCode, done.stdout.trim()], [0, '42'])
  await sandbox.filesystem.writeFile('/home/user/task.txt', 'done')
  assert.equal(await sandbox.filesystem.readFile('/home/user/task.txt'), 'done')
  assert((await sandbox.filesystem.readdir('/home/user')).some((entry) => entry.name === 'task.txt'))
} finally {
  await sandbox.destroy()
}
console.log('computesdk: its provider ran a task')
