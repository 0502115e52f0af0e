// Every screen in light, in dark and on a phone: nothing sticks out, nothing moves by itself, axe finds no serious fault. With
// COVE_SHOTS each is kept as a picture; those of docs/picture are made so.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, fits, settled, still, type } from "./checks.mjs";
import { site } from "./site.mjs";
import { call, close, loggedIn, newPage, open, sandbox, shot, URL_ } from "./world.mjs";

before(open);
after(close);

const LOOKS = /** @type {const} */ ([
    ["light", { colorScheme: "light" }],
    ["dark", { colorScheme: "dark" }],
    ["phone", { colorScheme: "light", viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }],
]);

const PLOT = `import matplotlib.pyplot as plt
hours = range(24)
tide = [1.2, 0.8, 0.9, 1.5, 2.4, 3.3, 3.9, 4.1, 3.7, 2.9, 2.0, 1.3, 0.9, 0.8, 1.2, 1.9, 2.8, 3.6, 4.0, 3.9, 3.3, 2.5, 1.8, 1.3]
plt.figure(figsize=(6, 2.4)); plt.fill_between(hours, tide, alpha=.3); plt.plot(hours, tide); plt.title("Tide, in metres"); plt.show()
print("highest:", max(tide))`;
const SUMS = `const boats = [
    { name: "Albatross", length: 14 },
    { name: "Cormorant", length: 22 },
];
console.log(boats.length, "boats");
boats.map((boat) => ({ ...boat, fee: boat.length * 3 }))`;

/** A sandbox in which an agent has worked. @param {(path: string) => string} at */
async function busySandbox(at) {
    const id = await sandbox("browser-site");
    const base = `/v1/sandboxes/${id}`;
    const csv = "boat,from,length\nAlbatross,\"Lima, Peru\",14\nBrisa,Cádiz,9\nCormorant,Cork,22\nDà Hǎi,Xiamen,31\nEider,Tromsø,12\nFreya,Aarhus,17\n";
    await call("PUT", `${base}/filesystem/files`, { path: "boats.csv", content: csv });
    await call("PUT", `${base}/filesystem/files`, { path: "src/fees.py", content: "def fee(length):\n    return length * 3\n" });
    await call("POST", `${base}/shell/exec`, { command: "wc -l boats.csv" });
    await call("POST", `${base}/python/exec`, { code: "import csv\nboats = list(csv.DictReader(open('boats.csv')))\nprint(len(boats), 'boats')" });
    await call("POST", `${base}/javascript/exec`, { code: "const c = getCanvas(320, 120), p = c.getContext('2d');\np.fillStyle = '#0b7285';\n[14, 9, 22, 31, 12, 17].forEach((v, i) => p.fillRect(12 + i * 50, 110 - v * 3, 36, v * 3));\nreturn 'drawn'" });
    await call("POST", `${base}/python/exec`, { code: "fees = {boat['boat']: int(boat['length']) * 3 for boat in boats}\nprint(fees['Dory'])" });
    await call("POST", `${base}/browser/exec`, { cmd: `open ${at("/")}`, timeout: 60 });
    await call("POST", `${base}/browser/exec`, { cmd: "snapshot -i" });
    await call("POST", `${base}/browser/exec`, { cmd: "click @e9" });
    await call("POST", `${base}/browser/exec`, { cmd: "open https://example.com/" });
    await call("POST", `${base}/javascript/exec`, { code: "for (let tide = 0; ; tide++);", timeout: 1 });
    return id;
}

test("every screen, in light, in dark and on a phone", async (t) => {
    const { server, at } = await site();
    t.after(() => (server.close(), server.closeAllConnections()));
    // What other tests have left is in no picture.
    for (const { id } of (await call("GET", "/v1/sandboxes?limit=200")).items) await call("DELETE", `/v1/sandboxes/${id}`);
    const id = await busySandbox(at);
    const others = await Promise.all(["python-default", "javascript", "python-default"].map((profile) => sandbox(profile)));
    await call("POST", `/v1/sandboxes/${others[0]}/python/exec`, { code: "held = bytearray(b'x') * (40 << 20)\nprint('ready')" });
    // Programs that listen, and a call that waits for as long as it takes.
    await call("POST", `/v1/sandboxes/${id}/shell/exec`, { command: "nohup python3 -m http.server 8000 >/dev/null 2>&1 & nohup python3 -m http.server 8080 --bind 127.0.0.1 >/dev/null 2>&1 & true" });
    await call("POST", `/v1/sandboxes/${id}/port_links`, { port: 8000 });
    const asks = call("POST", `/v1/sandboxes/${others[1]}/javascript/exec`, {
        code: `const boat = { name: "Cormorant", length: 22 };
const stay = { berth: "B4", nights: 3 };
await reserve_berth(boat, stay);
return "reserved";`,
        tools: [{ name: "reserve_berth", ask: true }],
        timeout: 300,
    }).catch(() => undefined);
    for (const [look, options] of LOOKS) {
        const name = (/** @type {string} */ screen) => `page-${screen}-${look}`;
        const login = await newPage(options);
        await login.page.goto(`${URL_}/`);
        await login.page.waitForSelector("#key");
        await accessible(login.page, `login, ${look}`);
        await shot(login.page, name("login"));
        await login.context.close();

        const { page, context, wrong } = await loggedIn(options);
        /** @param {string} screen @param {string} path @param {() => Promise<unknown>} ready */
        const see = async (screen, path, ready) => {
            await page.goto("about:blank");
            await page.goto(`${URL_}/#/${path}`);
            await ready();
            await fits(page, `${screen}, ${look}`);
            await still(page, `${screen}, ${look}`);
            await accessible(page, `${screen}, ${look}`);
            await page.evaluate(() => scrollTo(0, 0));
            await shot(page, name(screen));
        };
        // Its charts are drawn while the others are looked at.
        const host = await context.newPage();
        await host.goto(`${URL_}/#/host`);
        const box = `sandbox/${id}`;
        await see("playground", "playground", async () => {
            await settled(page);
            await page.click("button.main");
            await page.waitForSelector("img.picture");
            await page.waitForSelector(".value .tree-string");
        });
        await see("sandboxes", "sandboxes", async () => {
            await page.waitForSelector(`a:has-text('${id}')`);
            // The second reading knows what was used since the first, and the last calls are looked up.
            await page.waitForFunction(() => / %/.test(document.querySelector("tbody")?.textContent ?? ""));
            await page.waitForSelector("td.last .kind", { state: "attached" });
        });
        await see("timeline", `${box}/timeline`, async () => {
            await page.waitForSelector(".row time");
            await page.click(".row.failed >> nth=-1");
            await page.waitForSelector(".detail pre.fault");
        });
        await see("files", `${box}/files`, async () => {
            await page.click(".entry:has-text('boats.csv')");
            await page.waitForSelector("td:has-text('Lima, Peru')");
        });
        await see("terminal", `${box}/terminal`, async () => {
            await page.waitForSelector("[data-state=open]");
            await page.keyboard.type("PS1='$ '; clear; ls -l; column -s, -t boats.csv | head -4\n");
            await page.waitForFunction(() => document.querySelector(".xterm-rows")?.textContent?.includes("Brisa"));
        });
        for (const [language, code, done] of /** @type {const} */ ([
            ["python", PLOT, ".cell-out img.picture"],
            ["javascript", SUMS, ".cell-out .tree"],
        ])) {
            await see(language, `${box}/${language}`, async () => {
                await settled(page);
                await type(page, code);
                await page.keyboard.press("Control+Enter");
                await page.waitForSelector(done, { timeout: 60_000 });
                await page.waitForSelector(".cell >> nth=1 >> .editor-host[data-ready]");
            });
        }
        await see("browser", `${box}/browser`, async () => {
            await page.waitForSelector(".live-place[data-seen]");
            await page.check(".command input[type=checkbox]");
            await page.waitForSelector(".ref");
        });
        await see("control", `${box}/browser`, async () => {
            await page.waitForSelector(".live-place[data-seen]");
            await page.click("button:has-text('Take control')");
            await page.waitForSelector(".live[data-control=you]");
            await page.waitForFunction(() => Number(/** @type {HTMLElement} */ (document.querySelector(".live-place canvas")).dataset["pictures"]) > 1);
        });
        await page.click("button:has-text('Hand back')");
        await page.waitForSelector(".live[data-control=agent]");
        await see("ports", `${box}/ports`, () => page.waitForSelector("b:text-is('8080')"));
        await see("waiting", "waiting", () => page.waitForSelector(".question .code"));
        await see("limits", `${box}/limits`, () => page.waitForSelector(".facts dd:has-text('1')"));
        await host.waitForSelector(".walls li");
        await host.waitForFunction(() => /\d ms/.test(document.querySelectorAll(".chart figcaption")[1]?.textContent ?? ""));
        await fits(host, `host, ${look}`);
        await accessible(host, `host, ${look}`);
        await host.bringToFront();
        await shot(host, name("host"));
        await page.bringToFront();
        await page.keyboard.press("?");
        await page.waitForSelector("dialog kbd");
        await shot(page, name("keys"));
        assert.deepEqual(wrong, [], look);
        await context.close();
    }
    for (const one of [id, ...others]) await call("DELETE", `/v1/sandboxes/${one}`);
    await asks;
});
