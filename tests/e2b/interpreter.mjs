// What E2B's unmodified clients for Node.js must be able to do here. Run by scripts/test-e2b.
import assert from 'node:assert/strict'
import http from 'node:http'
import { CommandExitError, NotFoundError, Sandbox as Plain, TimeoutError } from 'e2b'
import { Sandbox } from '@e2b/code-interpreter'

const until = async (look, ms = 20_000) => {
  for (const end = Date.now() + ms; ; ) {
    if (await look()) return
    assert(Date.now() < end, 'it did not happen in time')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const cases = {
  async 'commands: output, exit code, environment'(sandbox) {
    const said = []
    const done = await sandbox.commands.run('echo out; echo err >&2; echo $A$B', { envs: { B: '2' }, onStdout: (text) => said.push(text) })
    assert.deepEqual([done.exitCode, done.stdout, done.stderr, said.join('')], [0, 'out\n12\n', 'err\n', 'out\n12\n'])
    await assert.rejects(sandbox.commands.run('exit 3'), (error) => error instanceof CommandExitError && error.exitCode === 3)
    await assert.rejects(sandbox.commands.run('sleep 600', { timeoutMs: 800 }), TimeoutError)
  },
  async 'commands: input, list, kill, connect'(sandbox) {
    const cat = await sandbox.commands.run('cat', { background: true, stdin: true })
    await sandbox.commands.sendStdin(cat.pid, 'typed\n')
    await sandbox.commands.closeStdin(cat.pid)
    assert.equal((await cat.wait()).stdout, 'typed\n')
    const asleep = await sandbox.commands.run('sleep 600', { background: true })
    assert((await sandbox.commands.list()).some((one) => one.pid === asleep.pid))
    const again = await sandbox.commands.connect(asleep.pid)
    assert(await again.kill())
    await assert.rejects(again.wait(), CommandExitError)
    assert(!(await sandbox.commands.kill(asleep.pid)))
  },
  async 'a terminal'(sandbox) {
    let said = ''
    const terminal = await sandbox.pty.create({ cols: 80, rows: 24, onData: (bytes) => (said += Buffer.from(bytes)), timeoutMs: 30_000 })
    await sandbox.pty.resize(terminal.pid, { cols: 100, rows: 40 })
    await sandbox.pty.sendInput(terminal.pid, Buffer.from('stty size; exit\n'))
    await terminal.wait()
    assert.match(said, /40 100/)
  },
  async 'files'(sandbox) {
    assert.equal((await sandbox.files.write('folder/a.txt', 'äöü')).path, '/home/user/folder/a.txt')
    assert.equal(await sandbox.files.read('folder/a.txt'), 'äöü')
    assert.deepEqual((await sandbox.files.list('folder')).map((one) => one.name), ['a.txt'])
    assert(await sandbox.files.exists('folder/a.txt'))
    await sandbox.files.rename('folder/a.txt', 'b.txt')
    assert.equal((await sandbox.files.getInfo('b.txt')).size, 6)
    await sandbox.files.remove('b.txt')
    await assert.rejects(sandbox.files.read('b.txt'), NotFoundError)
    const blob = new Uint8Array(1 << 20).fill(7)
    await sandbox.files.write('blob', blob.buffer)
    assert.deepEqual(Buffer.from(await sandbox.files.read('blob', { format: 'bytes' })), Buffer.from(blob))
    const address = await sandbox.downloadUrl('blob', { useSignatureExpiration: 60_000 })
    assert.equal((await (await fetch(address)).arrayBuffer()).byteLength, 1 << 20)
  },
  async 'a port has a host, and the token of its sandbox'(sandbox) {
    await sandbox.files.write('site/index.html', 'from inside')
    const server = await sandbox.commands.run('python3 -m http.server 3001', { cwd: '/home/user/site', background: true })
    const host = sandbox.getHost(3001)
    const { port } = new URL(process.env.E2B_API_URL)
    assert.equal(host, `3001-${sandbox.sandboxId}.localhost:${port}`)
    const ask = (headers) =>
      new Promise((resolve, reject) => {
        const sent = http.get({ host: '127.0.0.1', port, path: '/', headers: { host, ...headers } }, (answer) => {
          let body = ''
          answer.on('data', (bytes) => (body += bytes)).on('end', () => resolve([answer.statusCode, body]))
        })
        sent.on('error', reject)
      })
    const token = { 'e2b-traffic-access-token': sandbox.trafficAccessToken }
    await until(async () => (await ask(token))[1] === 'from inside')
    assert.equal((await ask({}))[0], 401)
    await server.kill()
  },
  async 'a folder is watched'(sandbox) {
    await sandbox.files.makeDir('watched')
    const seen = []
    const watch = await sandbox.files.watchDir('watched', (event) => seen.push(`${event.type} ${event.name}`))
    await sandbox.files.write('watched/new', 'x')
    await until(() => seen.includes('create new'))
    await watch.stop()
  },
  async 'code: values, streams, errors, charts, contexts'(sandbox) {
    assert.equal((await sandbox.runCode('x = 41; x + 1')).text, '42')
    const said = []
    await sandbox.runCode('print("out")', { onStdout: (message) => said.push(message.line) })
    assert.equal(said.join(''), 'out\n')
    assert.equal((await sandbox.runCode('1 / 0')).error.name, 'ZeroDivisionError')
    const chart = await sandbox.runCode('import matplotlib.pyplot as p; p.plot([1, 2], [3, 4]); p.show()')
    assert(chart.results[0].png && chart.results[0].chart.type === 'line', JSON.stringify(chart.error))
    const context = await sandbox.createCodeContext({ language: 'python' })
    assert.equal((await sandbox.runCode('x', { context })).error.name, 'NameError')
    await sandbox.removeCodeContext(context)
    assert.equal((await sandbox.runCode('[1, 2].map((n) => n * 2)', { language: 'js' })).text, '[2,4]')
  },
  async 'lists, time, pause'(sandbox) {
    const own = await Plain.create({ timeoutMs: 60_000, metadata: { js: 'yes' } })
    const found = []
    const pages = Plain.list({ query: { metadata: { js: 'yes' } } })
    while (pages.hasNext) found.push(...(await pages.nextItems()))
    assert.deepEqual(found.map((one) => one.sandboxId), [own.sandboxId])
    await own.setTimeout(120_000)
    await (own.pause ?? own.betaPause).call(own)
    assert.equal((await Plain.getInfo(own.sandboxId)).state, 'paused')
    await Plain.connect(own.sandboxId)
    assert(await own.isRunning())
    assert(await own.kill())
    assert(!(await Plain.kill(own.sandboxId)))
    assert((await sandbox.getInfo()).endAt > new Date())
  },
}

const sandbox = await Sandbox.create({ timeoutMs: 300_000, envs: { A: '1' } })
let failed = 0
for (const [name, run] of Object.entries(cases)) {
  try {
    await run(sandbox)
    console.log(`ok    ${name}`)
  } catch (error) {
    failed += 1
    console.log(`FAILED ${name}\n${error.stack}`)
  }
}
await sandbox.kill()
console.log(`e2b for Node.js: ${Object.keys(cases).length - failed} of ${Object.keys(cases).length} hold`)
process.exit(failed ? 1 : 0)
