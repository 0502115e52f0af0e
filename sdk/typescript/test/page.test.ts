/** The package in a page: a real headless browser loads it as it is published and works with the server. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { LocalServer } from "../src/local.js";
import { BINARY, ROOT } from "./server.js";

const page = (url: string, key: string): string => `<script type=module>
    import { Cove } from "/index.js";
    let said;
    try {
        const cove = new Cove({ url: "${url}", key: "${key}" });
        const sandbox = await cove.sandbox();
        const run = await sandbox.javascript.run("getCanvas(5, 5); return input + 1", 41);
        const session = sandbox.javascript.session({ tools: { here: () => location.pathname } });
        const called = await session.run("await here()");
        await sandbox.files.upload("a.txt", "ahoy");
        const text = await sandbox.files.read("a.txt");
        const refused = await sandbox.files.read("b.txt").catch((fault) => [fault.name, typeof fault.requestId]);
        await sandbox.delete();
        said = [run.value, run.images.length, called.value, text, refused];
    } catch (fault) {
        said = String(fault.stack);
    }
    await fetch("/said", { method: "POST", body: JSON.stringify(said) });
</script>`;

test("a page uses it", { timeout: 120_000 }, async () => {
    let hear: (said: unknown) => void = () => undefined;
    const heard = new Promise((resolve) => {
        hear = resolve;
    });
    let shown = "";
    const web: Server = createServer(async (request, response) => {
        if (request.url === "/") return response.setHeader("content-type", "text/html").end(shown);
        if (request.url === "/said") {
            const parts: Buffer[] = [];
            for await (const part of request) parts.push(part as Buffer);
            hear(JSON.parse(Buffer.concat(parts).toString()));
            return response.end();
        }
        const module = join(ROOT, "sdk/typescript/dist", request.url?.replace(/^.*\//, "") ?? "");
        return response.setHeader("content-type", "text/javascript").end(readFileSync(module));
    });
    await once(web.listen(0, "127.0.0.1"), "listening");
    const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const server = await LocalServer.start(BINARY, { BAY_SERVER__CORS_ORIGINS: JSON.stringify([origin]) });
    shown = page(server.url, server.key);
    const folder = mkdtempSync(join(tmpdir(), "cove-page-"));
    // The page is our own, so the browser's sandbox, which root cannot have, is not needed.
    const flags = ["--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${folder}`, `${origin}/`];
    // Debian's program is a script around the browser: both are ended, as a group.
    const browser = spawn("chromium-headless-shell", flags, { stdio: ["ignore", "pipe", "ignore"], detached: true });
    browser.stdout.resume();
    // Not `exit`: the pipe closes when the last process of the browser is gone.
    const ended = once(browser, "close");
    try {
        const expected = [42, 1, "/", "ahoy", ["WorkspaceFileNotFoundError", "string"]];
        assert.deepEqual(await Promise.race([heard, ended]), expected);
    } finally {
        if (browser.pid !== undefined) process.kill(-browser.pid, "SIGKILL");
        await ended;
        web.closeAllConnections();
        web.close();
        await server.close();
        rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
});
