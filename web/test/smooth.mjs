// By hand: how smooth a long timeline and a long list are. Fills one sandbox with calls and makes many sandboxes, then turns the
// wheel to the end and back. No frame may take longer than 100 ms, by the browser's own record of long animation frames, and by
// a trace of its main thread. Started as the tests are: `scripts/test-page smooth [rows] [sandboxes]`.

import assert from "node:assert/strict";

import { call, close, loggedIn, open, sandbox, URL_ } from "./world.mjs";

const [rows = 10_000, boxes = 100] = process.argv.slice(2).map(Number);

/** So many at once. @param {number} count @param {number} width @param {(at: number) => Promise<unknown>} work */
async function many(count, width, work) {
    let next = 0;
    await Promise.all(
        Array.from({ length: width }, async () => {
            while (next < count) await work(next++);
        }),
    );
}

/** No frame may take longer, in milliseconds. */
const LONGEST = 100;

/** Turns the wheel over a list, slowly and then by large steps, and says how long the longest frame and the longest task were. @param {import("playwright-core").Page} page @param {string} place @param {string} name */
async function scroll(page, place, name) {
    const browser = /** @type {import("playwright-core").Browser} */ (page.context().browser());
    await page.evaluate(() => {
        const frames = ((/** @type {any} */ (window)).__frames = /** @type {number[]} */ ([]));
        new PerformanceObserver((list) => frames.push(...list.getEntries().map((one) => one.duration))).observe({ type: "long-animation-frame" });
    });
    const box = await page.locator(place).boundingBox();
    await page.mouse.move((box?.x ?? 0) + 200, Math.min((box?.y ?? 0) + 200, 700));
    await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"] });
    for (let at = 0; at < 120; at++) await page.mouse.wheel(0, at < 60 ? 120 : 4_000);
    for (let at = 0; at < 120; at++) await page.mouse.wheel(0, at < 60 ? -6_000 : -120);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200))));
    /** @type {{ name: string, ph: string, dur?: number, pid: number, tid: number, args?: { name?: string } }[]} */
    const events = JSON.parse((await browser.stopTracing()).toString()).traceEvents;
    const main = new Set(events.filter((one) => one.name === "thread_name" && one.args?.name === "CrRendererMain").map((one) => `${one.pid} ${one.tid}`));
    const tasks = events.filter((one) => one.ph === "X" && /RunTask$/.test(one.name) && main.has(`${one.pid} ${one.tid}`)).map((one) => (one.dur ?? 0) / 1_000);
    const frames = await page.evaluate(() => /** @type {number[]} */ ((/** @type {any} */ (window)).__frames));
    const most = (/** @type {number[]} */ all) => Math.max(0, ...all);
    console.log(`${name}: longest frame ${most(frames).toFixed(0)} ms (those under 50 ms count as 0), longest task ${most(tasks).toFixed(0)} ms of ${tasks.length}`);
    assert.ok(tasks.length > 100, "the trace has the page's tasks");
    assert.ok(most(frames) <= LONGEST && most(tasks) <= LONGEST, `${name}: a frame took longer than ${LONGEST} ms`);
}

await open();
try {
    const id = await sandbox("javascript");
    await many(rows, 8, (at) => call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code: at % 10 === 0 ? `throw new Error("${at}")` : `return ${at}` }));
    await many(boxes, 8, () => sandbox("javascript"));
    const { page } = await loggedIn();
    await page.goto(`${URL_}/#/sandbox/${id}`);
    await page.waitForSelector(".row time");
    await scroll(page, ".windowed", `${rows} rows`);
    await page.goto(`${URL_}/#/sandboxes`);
    await page.waitForFunction((count) => document.querySelectorAll("tbody tr").length > count, boxes);
    await scroll(page, ".table-scroll", `${boxes} sandboxes`);
} finally {
    await close();
}
