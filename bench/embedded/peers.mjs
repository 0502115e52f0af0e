// The peers of the embedded engine, each doing the same two things: a trivial script in a fresh world, and a script
// that awaits a tool a hundred times. One JSON line per peer and script: {peer, what, p50_us, min_us, p95_us, n}.
import { performance } from 'node:perf_hooks'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import vm from 'node:vm'

const require = createRequire(import.meta.url)
const N = Number(process.env.COVE_BENCH_N ?? 300)
const TRIVIAL = '1 + 1'
const AWAITS = '(async () => { let sum = 0; for (let i = 0; i < 100; i++) sum += await tool(i); return sum })()'

function report(peer, what, times) {
  times.sort((a, b) => a - b)
  const at = q => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * q))] * 1000)
  console.log(JSON.stringify({ peer, what, p50_us: at(0.5), min_us: at(0), p95_us: at(0.95), n: times.length }))
}

async function measure(peer, what, n, once) {
  const times = []
  for (let i = 0; i < 10; i++) await once()
  for (let i = 0; i < n; i++) {
    const start = performance.now()
    await once()
    times.push(performance.now() - start)
  }
  report(peer, what, times)
}

async function nodeVm() {
  await measure('node vm', 'trivial', N, () => vm.runInNewContext(TRIVIAL))
  await measure('node vm', '100 awaits', N, () => vm.runInNewContext(AWAITS, { tool: async x => x }))
}

async function quickjsEmscripten() {
  const { getQuickJS } = await import('quickjs-emscripten')
  const quickjs = await getQuickJS()
  await measure('quickjs-emscripten', 'trivial', N, () => {
    const runtime = quickjs.newRuntime()
    const context = runtime.newContext()
    const result = context.unwrapResult(context.evalCode(TRIVIAL))
    context.dump(result)
    result.dispose(); context.dispose(); runtime.dispose()
  })
  await measure('quickjs-emscripten', '100 awaits', N, async () => {
    const runtime = quickjs.newRuntime()
    const context = runtime.newContext()
    const tool = context.newFunction('tool', x => {
      const value = context.getNumber(x)
      const promise = context.newPromise()
      Promise.resolve().then(() => {
        const number = context.newNumber(value)
        promise.resolve(number); number.dispose()
        runtime.executePendingJobs()
      })
      const handle = promise.handle
      promise.settled.then(() => {})
      return handle
    })
    context.setProp(context.global, 'tool', tool); tool.dispose()
    const handle = context.unwrapResult(context.evalCode(AWAITS))
    const settled = context.resolvePromise(handle); handle.dispose()
    runtime.executePendingJobs()
    const result = context.unwrapResult(await settled)
    context.dump(result); result.dispose(); context.dispose(); runtime.dispose()
  })
}

async function isolatedVm() {
  const ivm = require('isolated-vm')
  await measure('isolated-vm', 'trivial', Math.min(N, 150), async () => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 })
    const context = await isolate.createContext()
    await context.eval(TRIVIAL)
    isolate.dispose()
  })
  await measure('isolated-vm', '100 awaits', Math.min(N, 100), async () => {
    const isolate = new ivm.Isolate({ memoryLimit: 64 })
    const context = await isolate.createContext()
    await context.global.set('host', new ivm.Reference(async x => x))
    await context.eval('globalThis.tool = x => host.apply(undefined, [x], { result: { promise: true } })')
    await context.eval(AWAITS, { promise: true })
    isolate.dispose()
  })
}

async function ses() {
  await import('ses')
  lockdown()
  await measure('SES Compartment (in process)', 'trivial', N, () => new Compartment().evaluate(TRIVIAL))
  const endow = { globals: { tool: harden(async x => x) }, __options__: true }
  await measure('SES Compartment (in process)', '100 awaits', N, () => new Compartment(endow).evaluate(AWAITS))
}

function cold(peer, command, args) {
  const times = []
  for (let i = 0; i < 20; i++) {
    const start = performance.now()
    const done = spawnSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    if (done.status !== 0) throw new Error(`${peer}: ${done.stderr}`)
    times.push(performance.now() - start)
  }
  report(peer, 'cold process', times)
}

async function attempt(name, work) {
  try { await work() } catch (error) { console.log(JSON.stringify({ peer: name, what: 'not measured', why: String(error.message).split('\n')[0] })) }
}

await attempt('node vm', nodeVm)
await attempt('quickjs-emscripten', quickjsEmscripten)
await attempt('isolated-vm', isolatedVm)
await attempt('node', async () => cold('node', process.execPath, [process.env.COVE_BENCH_TRIVIAL]))
await attempt('deno', async () => cold('deno run', require.resolve('deno/package.json').replace('package.json', 'bin.cjs'), ['run', process.env.COVE_BENCH_TRIVIAL]))
// What a process costs that does nothing at all: no one can be quicker than that.
await attempt('true', async () => cold('true (an empty program)', '/bin/true', []))
if (process.env.COVE_BENCH_COVE) await attempt('cove run', async () => cold('cove run', process.env.COVE_BENCH_COVE, ['run', process.env.COVE_BENCH_TRIVIAL]))
// Last: lockdown freezes this process for good.
await attempt('SES', ses)
