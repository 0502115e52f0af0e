// Ports of a sandbox, as people use them: the page's own tab, a link in a new one, and what a guest's page can and cannot do
// there. The program is Vite's template, created, served and changed inside the sandbox.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, fits } from "./checks.mjs";
import { call, close, loggedIn, newPage, open, sandbox, URL_ } from "./world.mjs";

before(open);
after(close);

const HOST = new URL(URL_).port;

/** Starts the development server as its own `vite` command does; what is mounted cannot be written. */
const DEV = `import { createServer } from "/opt/page/node_modules/vite/dist/node/index.js";
const server = await createServer({ configFile: false, cacheDir: "/tmp/vite", server: { port: 5173, strictPort: true } });
await server.listen();
`;

/** @param {string} id @param {string} command */
async function shell(id, command) {
    const ran = await call("POST", `/v1/sandboxes/${id}/shell/exec`, { command, timeout: 60 });
    assert.ok(ran.success, `${command}: ${JSON.stringify(ran)}`);
    return ran.output.trim();
}

test("Vite's template: listed, opened, hot-reloaded, revoked", async () => {
    const id = await sandbox();
    const { page, context, wrong } = await loggedIn();
    await page.goto(`${URL_}/#/sandbox/${id}/ports`);
    await page.waitForSelector("text=No program listens");
    await shell(id, "node /opt/page/node_modules/create-vite/index.js app --template vanilla --no-interactive < /dev/null");
    await call("PUT", `/v1/sandboxes/${id}/filesystem/files`, { path: "app/dev.mjs", content: DEV });
    await shell(id, "cd app && nohup node dev.mjs > ../dev.log 2>&1 & true");
    // Told by an event, without being asked for.
    await page.waitForSelector("text=5173");
    await accessible(page, "ports");
    await fits(page, "ports");

    const popup = context.waitForEvent("page");
    await page.click("button:has-text('Open')");
    const app = await popup;
    await app.waitForSelector("#counter");
    assert.equal(app.url(), `http://5173-${id}.localhost:${HOST}/`, "no secret is left in the address");
    assert.equal(await app.evaluate(() => window.opener), null);
    await app.click("#counter");
    await app.waitForSelector("#counter:has-text('1')");
    // A style is changed in place: nothing is loaded again. A script loads the page again by itself.
    await app.evaluate(() => Object.assign(window, { __stays: 1 }));
    await shell(id, "echo 'body { background: rgb(1, 2, 3) !important; }' >> app/src/style.css");
    await app.waitForFunction(() => getComputedStyle(document.body).backgroundColor === "rgb(1, 2, 3)");
    assert.equal(await app.evaluate(() => (/** @type {any} */ (window)).__stays), 1);
    await shell(id, "sed -i 's/Connect with us/Changed inside/' app/src/main.js");
    await app.waitForSelector("text=Changed inside");

    // What a guest's page can reach of ours: nothing that a stranger's could not.
    const tried = await app.evaluate(async (base) => {
        const ask = (/** @type {string} */ url, /** @type {RequestInit} */ init = {}) => fetch(url, init).then((response) => response.status, () => 0);
        document.cookie = "cove-session-1=forged; Domain=localhost; Path=/";
        document.cookie = "mine=1; Path=/";
        return {
            list: await ask(`${base}/v1/sandboxes`, { credentials: "include" }),
            marked: await ask(`${base}/v1/sandboxes`, { credentials: "include", headers: { "X-Cove-Page": "1" } }),
            frame: await new Promise((done) => {
                const frame = document.createElement("iframe");
                frame.src = `${base}/`;
                frame.onload = () => {
                    try {
                        done(String(frame.contentDocument?.body.innerText.length ?? "closed"));
                    } catch {
                        done("closed");
                    }
                };
                document.body.append(frame);
            }),
            socket: await new Promise((done) => {
                const socket = new WebSocket(`${base.replace("http", "ws")}/v1/sandboxes/x/terminal`);
                socket.onopen = () => done("open");
                socket.onerror = () => done("closed");
            }),
            cookie: document.cookie,
        };
    }, URL_);
    assert.deepEqual([tried.list, tried.marked, tried.frame, tried.socket], [0, 0, "closed", "closed"], JSON.stringify(tried));
    assert.ok(!tried.cookie.includes("cove-port") && tried.cookie.includes("mine=1"), tried.cookie);
    const ours = await context.cookies(URL_);
    assert.deepEqual(ours.map((one) => one.value === "forged"), ours.map(() => false), "a cookie for the whole domain");
    assert.ok(ours.every((one) => one.name.startsWith("cove-session-")), JSON.stringify(ours));
    // On our own origin it is data, and never a page.
    const direct = await newPage();
    const shown = await direct.page.goto(`${URL_}/v1/sandboxes/${id}/ports/5173/`);
    assert.ok([401, 403].includes(shown?.status() ?? 0), String(shown?.status()));
    // Somebody without the link, and the same link elsewhere.
    const stranger = await direct.page.goto(`http://5173-${id}.localhost:${HOST}/`);
    assert.equal(stranger?.status(), 401);

    await page.click("button:has-text('Revoke')");
    await page.waitForSelector("text=No link works now");
    assert.equal((await app.reload())?.status(), 404);
    await page.click("button:has-text('中文')");
    await page.waitForSelector("text=已打开的端口");
    await page.click("button:has-text('English')");
    await shell(id, "pkill -f '[d]ev.mjs'");
    await page.waitForSelector("text=No program listens");
    assert.deepEqual(wrong.filter((one) => !one.startsWith("a window: ")), []);
    await call("DELETE", `/v1/sandboxes/${id}`);
    await Promise.all([context.close(), direct.context.close()]);
});
