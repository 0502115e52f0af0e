// By hand: how smooth a long timeline and a long list are. Fills one sandbox with calls and makes many sandboxes, then scrolls
// and prints the longest frame. Started as the tests are: `scripts/test-page smooth [rows] [sandboxes]`.

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

/** Scrolls to the end and back, and says how long frames took. @param {import("playwright-core").Page} page @param {string} place */
const scroll = (page, place) =>
    page.evaluate(async (place) => {
        const list = /** @type {Element} */ (document.querySelector(place));
        const frames = [];
        const end = list.scrollHeight;
        let last = await new Promise(requestAnimationFrame);
        for (let at = 0; at <= 240; at++) {
            // Slowly at first, as a wheel does; then by large jumps.
            list.scrollTop = at < 120 ? at * 100 : end * Math.abs(1 - (at - 120) / 60);
            const now = await new Promise(requestAnimationFrame);
            frames.push(now - last);
            last = now;
        }
        frames.sort((a, b) => a - b);
        return { frames: frames.length, median: frames[frames.length >> 1], longest: frames.at(-1), elements: list.querySelectorAll("*").length };
    }, place);

await open();
try {
    const id = await sandbox("javascript");
    await many(rows, 8, (at) => call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code: at % 10 === 0 ? `throw new Error("${at}")` : `return ${at}` }));
    await many(boxes, 8, () => sandbox("javascript"));
    const { page } = await loggedIn();
    await page.goto(`${URL_}/#/sandbox/${id}`);
    await page.waitForSelector(".row time");
    console.log(`${rows} rows:`, await scroll(page, ".windowed"));
    await page.goto(`${URL_}/#/sandboxes`);
    await page.waitForFunction((count) => document.querySelectorAll("tbody tr").length > count, boxes);
    console.log(`${boxes} sandboxes:`, await scroll(page, "html"));
} finally {
    await close();
}
