// The live view of a sandbox's browser, and a person who takes it over.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, fits } from "./checks.mjs";
import * as hostile from "./hostile.mjs";
import { inView, site } from "./site.mjs";
import { call, close, loggedIn, newPage, open, sandbox, URL_ } from "./world.mjs";

before(open);
after(close);

test("the browser, live: what the agent opens is seen, clicked and typed into; commands wait; twenty hand-overs", async (t) => {
    const { server, at } = await site();
    t.after(() => (server.close(), server.closeAllConnections()));
    const id = await sandbox("browser-site");
    /** @param {string} cmd */
    const agent = (cmd) => call("POST", `/v1/sandboxes/${id}/browser/exec`, { cmd, timeout: 60 });
    const { page, context, wrong } = await loggedIn();
    await page.goto(`${URL_}/#/sandbox/${id}/browser`);
    await page.waitForSelector(".live-place .empty");
    await fits(page, "no browser yet");
    // Who only looks starts nothing.
    assert.equal((await call("GET", `/v1/sandboxes/${id}`)).status, "idle");

    // The agent opens a page; it is seen, with its title and address, and the refs of a snapshot where they are.
    assert.ok((await agent(`open ${at("/")}`)).success);
    await page.waitForSelector(".live-place[data-seen]");
    await page.waitForSelector(".live-tabs button:has-text('Harbour office')");
    assert.equal(await page.inputValue(".live-address input"), at("/"));
    assert.ok((await agent("snapshot -i")).success);
    await page.check("text=Refs of the last snapshot");
    await page.waitForSelector(".ref:has-text('e1')");
    assert.ok((await page.locator(".ref").count()) >= 3);
    await page.waitForSelector(".commands summary:has-text('snapshot -i')");
    // The page's own commands are not the agent's: neither here nor in the timeline, nor as the last call in the list.
    assert.equal(await page.locator(".commands summary:has-text('get box')").count(), 0);
    assert.ok((await call("GET", `/v1/sandboxes/${id}/history?tags=page-refs`)).total > 0);
    const watcher = await context.newPage();
    await watcher.goto(`${URL_}/#/sandbox/${id}/timeline`);
    await watcher.waitForSelector(".row:has-text('snapshot -i')");
    assert.equal(await watcher.locator(".row:has-text('get box')").count(), 0);
    await watcher.goto(`${URL_}/#/sandboxes`);
    await watcher.waitForSelector(`tr:has-text('${id}') .last:has-text('snapshot -i')`);
    await watcher.close();
    await accessible(page, "browser");
    await page.uncheck("text=Refs of the last snapshot");
    const drawn = await page.evaluate(() => {
        const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(".live-place canvas"));
        const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).getImageData(0, 0, canvas.width, canvas.height);
        return new Set(data).size;
    });
    assert.ok(drawn > 8, "a picture is drawn");

    // Without control nothing that is done on the picture reaches the page.
    await page.mouse.click(...(await inView(page, 200, 130)));
    await page.keyboard.type("x");

    // In control: a click, a text, keys, a paste, the wheel, another address, back.
    await page.click("button:has-text('Take control')");
    await page.waitForSelector(".live[data-control=you]");
    const waiting = agent("get value #name");
    await page.waitForSelector("text=commands that wait: 1");
    await page.mouse.click(...(await inView(page, 200, 130)));
    await page.waitForSelector(".live-tabs button:has-text('clicked')");
    await page.mouse.click(...(await inView(page, 200, 220)));
    await page.keyboard.type("Ook!");
    await page.keyboard.press("Backspace");
    await page.evaluate(() => {
        const data = new DataTransfer();
        data.setData("text/plain", " 船");
        document.activeElement?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.mouse.move(...(await inView(page, 300, 300)));
    await page.mouse.wheel(0, 700);
    await accessible(page, "browser, in control");
    // The key that gives the keyboard back, and the button that gives the browser back.
    await page.keyboard.press("F8");
    await page.waitForSelector(".live-place:not([data-typing])");
    await page.click("button:has-text('Hand back')");
    await page.waitForSelector(".live[data-control=agent][data-open]");
    const waited = await waiting;
    assert.deepEqual([waited.stdout.trim(), /a person had control/.test(waited.stderr)], ["Ook 船", true], JSON.stringify(waited));
    assert.ok(Number((await agent("eval scrollY")).stdout) > 100, "the wheel turned");

    // A person logs in; the agent goes on with that.
    await page.keyboard.press("c");
    await page.waitForSelector(".live[data-control=you]");
    await page.fill(".live-address input", at("/login"));
    await page.press(".live-address input", "Enter");
    await page.waitForSelector(".live-tabs button:has-text('Logged in')");
    await page.fill(".live-address input", "file:///etc/passwd");
    await page.press(".live-address input", "Enter");
    await page.waitForSelector(".note.bad");
    await page.click("button:has-text('Hand back')");
    assert.ok((await agent(`open ${at("/deck")}`)).success);
    assert.match((await agent("get text body")).stdout, /boat=42/);
    assert.ok((await agent("eval window.mark=7")).success);
    for (let turn = 0; turn < 20; turn++) {
        await page.click("button:has-text('Take control')");
        await page.waitForSelector(".live[data-control=you]");
        await page.mouse.move(...(await inView(page, 20 + turn, 20)));
        await page.click("button:has-text('Hand back')");
        const kept = await agent("eval \"window.mark + ' ' + location.pathname\"");
        assert.equal(kept.stdout.trim(), '"7 /deck"', `hand-over ${turn}: ${JSON.stringify(kept)}`);
    }
    assert.ok((await agent("reload")).success);
    assert.match((await agent("get text body")).stdout, /boat=42/);

    // Titles, addresses and questions of a hostile page are text, and where text of a page belongs.
    await page.waitForSelector(".live[data-control=agent][data-open]");
    await agent(`tab new ${at("/hostile")}?<script>window.__owned=1</script>`);
    await page.waitForSelector(".live-tabs button[aria-pressed=true]:has-text('<img src=x')");
    for (const title of hostile.texts) {
        const coded = encodeURIComponent(title).replaceAll("'", "%27");
        const named = await agent(`eval "document.title = decodeURIComponent('${coded}'); history.replaceState(0, '', '?${coded.slice(0, 200)}')"`);
        assert.ok(named.success, named.stderr);
    }
    await page.waitForFunction((last) => document.querySelector(".live-tabs [aria-pressed=true]")?.textContent?.trim() === last.trim(), hostile.texts.at(-1) ?? "");
    await page.click("button:has-text('Take control')");
    await page.waitForSelector(".live[data-control=you]");
    await page.mouse.click(...(await inView(page, 100, 100)));
    await page.waitForSelector(".live-question q:has-text('<img src=x onerror=window.__owned=1>')");
    await accessible(page, "a page asks");
    await page.fill(".live-question input", "<b>me</b>");
    await page.click(".live-question button.main");
    await page.waitForSelector(".live-question", { state: "detached" });
    await page.click("button:has-text('Hand back')");
    assert.equal((await agent("eval window.answer")).stdout.trim(), '"<b>me</b>"');
    assert.equal(await page.evaluate(() => /** @type {any} */ (window).__owned), undefined);
    assert.equal(await page.title(), "Cove");
    assert.equal(await page.evaluate(() => document.querySelectorAll("main iframe, main object, main embed, main script, main svg, main img, [onerror], [onload]").length), 0);
    await fits(page, "hostile titles");

    // A page that is hidden has no line; one that is seen again has one.
    const live = () => page.locator(".live[data-open]").count();
    await page.evaluate(() => {
        Object.defineProperty(document, "hidden", { value: true, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    });
    await page.waitForSelector(".live:not([data-open])");
    assert.equal(await live(), 0);
    await page.evaluate(() => {
        Object.defineProperty(document, "hidden", { value: false, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    });
    await page.waitForSelector(".live[data-open]");

    // Whoever has a shared link watches, and cannot take control, whatever is sent.
    const other = await newPage();
    const share = await call("POST", "/page/links", { sandbox_id: id });
    await other.page.goto(URL_ + share.path);
    await other.page.click(".tabs a:has-text('Browser')");
    await other.page.waitForSelector(".live-place[data-seen]");
    assert.equal(await other.page.locator("text=Take control").count(), 0);
    assert.equal(await other.page.locator("#browser-command").count(), 0);
    const told = await other.page.evaluate(async (id) => {
        const open = (/** @type {string} */ words) => new WebSocket(`${location.origin.replace("http", "ws")}/v1/sandboxes/${id}/browser/view${words}`);
        const refused = new Promise((done) => (open("?control=true").onerror = () => done(true)));
        const looks = open("");
        const heard = new Promise((done) => {
            looks.onopen = () => looks.send('{"type":"take"}');
            looks.onmessage = (message) => typeof message.data === "string" && message.data.includes("refused") && done(JSON.parse(message.data).cause);
        });
        return [await refused, await heard];
    }, id);
    assert.deepEqual(told, [true, "read_only"]);
    await accessible(other.page, "browser, shared");
    assert.deepEqual([...wrong, ...other.wrong], []);
    await call("DELETE", `/v1/sandboxes/${id}`);
    await Promise.all([context.close(), other.context.close()]);
});
