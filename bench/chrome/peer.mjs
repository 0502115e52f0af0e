// Puppeteer's way to the same result on the same browser: newPage, setContent, evaluate, close. JSON lines.
import { performance } from 'node:perf_hooks'
import puppeteer from 'puppeteer-core'

const executablePath = process.env.COVE_BENCH_BROWSER
const browser = await puppeteer.launch({ executablePath, headless: 'shell', pipe: true, args: ['--disable-gpu'] })

async function once() {
  const page = await browser.newPage()
  await page.setContent('<!DOCTYPE html><html><head></head><body></body></html>')
  const value = await page.evaluate(async () => 1 + 1)
  await page.close()
  if (value !== 2) throw new Error(String(value))
}

for (let i = 0; i < 5; i++) await once()
const times = []
for (let i = 0; i < 60; i++) {
  const start = performance.now()
  await once()
  times.push(performance.now() - start)
}
times.sort((a, b) => a - b)
const at = q => Math.round(times[Math.floor((times.length - 1) * q)] * 100) / 100
console.log(JSON.stringify({ figure: 'puppeteer run', n: times.length, min_ms: at(0), p50_ms: at(0.5), p95_ms: at(0.95) }))

const RUNS = 160
let left = RUNS
const start = performance.now()
await Promise.all(Array.from({ length: 8 }, async () => { while (left-- > 0) await once() }))
console.log(JSON.stringify({ figure: 'puppeteer throughput at 8', per_second: Math.round(RUNS / (performance.now() - start) * 10000) / 10 }))
await browser.close()
