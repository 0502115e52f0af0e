// What is checked on every screen, and what a person does again and again.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** No serious fault for people who use it without a mouse or without eyes. @param {import("playwright-core").Page} page @param {string} where */
export async function accessible(page, where) {
    // Evaluated by the debugger, which no policy of the page concerns.
    await page.evaluate(AXE);
    const found = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"] }));
    const serious = found.violations.filter((/** @type {any} */ one) => ["serious", "critical"].includes(one.impact));
    const told = serious.map((/** @type {any} */ one) => `${one.id}: ${one.nodes.slice(0, 3).map((/** @type {any} */ node) => node.html).join(" | ")}`);
    assert.deepEqual(told, [], where);
}

/** Nothing sticks out to the side. On a phone the window's own width grows with what is in it: the screen's counts. @param {import("playwright-core").Page} page @param {string} where */
export async function fits(page, where) {
    const seen = page.viewportSize()?.width ?? 0;
    const [wide, culprit] = await page.evaluate((seen) => {
        const out = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > seen + 1);
        return [document.documentElement.scrollWidth, out.slice(0, 3).map((one) => `${one.tagName}.${one.className}`).join(" ")];
    }, seen);
    assert.ok(Number(wide) <= seen, `${where} is ${wide} wide on ${seen}: ${culprit}`);
}

/** Nothing has moved by itself since the page was loaded: 0.1 is what is called good. @param {import("playwright-core").Page} page @param {string} where */
export async function still(page, where) {
    const sum = await page.evaluate(() => /** @type {any} */ (window).__shifts.sum);
    assert.ok(sum <= 0.1, `${where} moved by ${sum}`);
}

/** @param {import("playwright-core").Page} page */
export const settled = (page) => page.waitForSelector(".editor-host[data-ready]");

/** Puts a text into the first editor of the page. @param {import("playwright-core").Page} page @param {string} text @param {string} [within] */
export async function type(page, text, within = "") {
    const content = page.locator(`${within} .editor-host .cm-content`).first();
    await content.click();
    await page.keyboard.press("Control+a");
    // Pasted: what a browser itself writes into an editable place, it writes with styles of its own, which the policy refuses.
    await content.evaluate((place, pasted) => {
        const data = new DataTransfer();
        data.setData("text/plain", pasted);
        place.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, text);
}
