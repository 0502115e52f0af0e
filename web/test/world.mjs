// What the tests share: one browser, one server that `scripts/test-page` has started, and a page that watches itself.

import assert from "node:assert/strict";
import { chromium } from "playwright-core";

/** Where the server is, and its key. */
export const URL_ = env("COVE_URL");
const KEY = env("COVE_KEY");
export const key = KEY;
/** Where screenshots go; none: nowhere. */
const SHOTS = process.env["COVE_SHOTS"];

/** @param {string} name */
function env(name) {
    const value = process.env[name];
    if (value === undefined) throw new Error(`${name} is not set; run scripts/test-page`);
    return value;
}

/** @type {import("playwright-core").Browser} */
let browser;

export async function open() {
    browser = await chromium.launch({ executablePath: env("COVE_CHROMIUM"), chromiumSandbox: true });
}

export async function close() {
    await browser.close();
}

/**
 * A page of its own, with its own cookies, and everything on it that must never happen.
 * @param {import("playwright-core").BrowserContextOptions} options
 */
export async function newPage(options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", ...options });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    // What moved without anybody having done something.
    await page.addInitScript(() => {
        const shifts = ((/** @type {any} */ (window)).__shifts = { sum: 0 });
        new PerformanceObserver((list) => {
            for (const one of /** @type {any[]} */ (list.getEntries())) if (!one.hadRecentInput) shifts.sum += one.value;
        }).observe({ type: "layout-shift", buffered: true });
    });
    /** @type {string[]} */
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(`an error of the page: ${error.message}`));
    page.on("popup", (other) => wrong.push(`a window: ${other.url()}`));
    page.on("console", (message) => {
        const at = message.location();
        if (/Content Security Policy|Trusted/i.test(message.text())) wrong.push(`against the policy: ${message.text()} ${at.url}:${at.lineNumber}:${at.columnNumber}`);
    });
    page.on("request", (request) => {
        const url = new URL(request.url());
        if (url.origin !== new URL(URL_).origin && url.protocol !== "blob:" && url.protocol !== "ws:") wrong.push(`a request to ${url.href}`);
        if (url.search.includes(KEY) || url.href.includes(KEY)) wrong.push("the key in a URL");
    });
    return { context, page, wrong };
}

/** A page that is logged in. */
export async function loggedIn(options = {}) {
    const all = await newPage(options);
    await all.page.goto(`${URL_}/`);
    await all.page.fill("#key", KEY);
    await all.page.press("#key", "Enter");
    await all.page.waitForSelector(".bar nav a");
    return all;
}

/**
 * A call of the interface, with the key.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function call(method, path, body) {
    const headers = { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const response = await fetch(URL_ + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
}

/** A sandbox. @param {string} [profile] @returns {Promise<string>} */
export async function sandbox(profile = "python-default") {
    return (await call("POST", "/v1/sandboxes", { profile, ttl: 600 })).id;
}

/** A picture for docs/picture, where one is wanted. @param {import("playwright-core").Page} page @param {string} name */
export async function shot(page, name) {
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png` });
}
