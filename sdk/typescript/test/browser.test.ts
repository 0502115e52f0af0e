import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "../src/index.js";
import { serve } from "./server.js";

const { cove } = await serve();
const sandbox = await cove.sandbox({ profile: "browser-python" });

const page = "data:text/html,<title>Harbour</title><input aria-label=Name><button onclick='document.title=`gone`'>Go</button>";

test("by step", async () => {
    check(await sandbox.browser.navigate(page));
    const shown = check(await sandbox.browser.snapshot());
    assert.match(shown.output, /Name/);
    check(await sandbox.browser.fill("@e1", "o'hara \"quoted\" $HOME"));
    check(await sandbox.browser.click("@e2"));
    assert.match(check(await sandbox.browser.exec("get title")).output, /gone/);
    assert.match(check(await sandbox.browser.exec("get value @e1")).output, /o'hara "quoted" \$HOME/);
    const picture = check(await sandbox.browser.screenshot({ path: "page.png", full_page: true }));
    assert.equal(picture.image?.data[0], 0x89);
    assert.ok(check(await sandbox.browser.screenshot()).image);
});

test("several at once", async () => {
    const batch = await sandbox.browser.batch(["get title", "no-such-command", "get title"]);
    assert.equal(batch.success, false);
    assert.ok(batch.completed_steps < 3);
    assert.equal((await sandbox.browser.batch(["no-such-command", "get title"], { stop_on_error: false })).completed_steps, 2);
});

test("what a browser refuses is a value", async () => {
    const run = await sandbox.browser.exec("open file:///etc/passwd");
    assert.equal(run.success, false);
    assert.ok(run.error);
});
