// "The same by command or code": every line for curl and for `cove` that a screen shows is run as it stands. Those for Python and
// TypeScript are whole programs.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { settled } from "./checks.mjs";
import { call, close, key, loggedIn, open, sandbox, URL_ } from "./world.mjs";

before(open);
after(close);

/** Runs a line in a shell, in a folder of its own. @param {string} line @param {string} folder */
async function runs(line, folder) {
    const env = { HOME: folder, TMPDIR: folder, PATH: `${process.cwd()}:${process.env["PATH"]}`, COVE_URL: URL_, COVE_KEY: key };
    // What the server refuses is a failure.
    const strict = line.replace(/^curl /, "curl -sS --fail-with-body ");
    return promisify(execFile)("bash", ["-c", strict], { cwd: folder, env, timeout: 60_000, maxBuffer: 16 << 20 });
}

test("the lines of every screen do what the screen does", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lines-"));
    const id = await sandbox("browser-site");
    const base = `/v1/sandboxes/${id}`;
    await call("PUT", `${base}/filesystem/files`, { path: "log book.txt", content: "one\n" });
    await call("POST", `${base}/shell/exec`, { command: "python3 -m http.server 8000 >/dev/null 2>&1 & echo \"it's up\"" });
    await call("POST", `${base}/python/exec`, { code: 'print("a", \'b\', "$HOME")' });
    await call("POST", `${base}/javascript/exec`, { code: "return `${6 * 7}` + '!'" });
    await call("POST", `${base}/browser/exec`, { cmd: "open about:blank", timeout: 60 });
    const { page, context } = await loggedIn();
    const box = `sandbox/${id}`;
    /** @type {[string, () => Promise<unknown>, string?][]} */
    const screens = [
        ["playground", () => settled(page).then(() => page.click("button.main")).then(() => page.waitForSelector("img.picture"))],
        ["sandboxes", () => page.waitForSelector("tbody tr")],
        ["sandboxes", () => page.click("button:has-text('New sandbox')"), "dialog "],
        [`${box}/timeline`, () => page.waitForSelector(".row time")],
        ...[0, 1, 2, 3].map((at) => /** @type {[string, () => Promise<unknown>, string]} */ ([`${box}/timeline`, () => page.click(`.row >> nth=${at}`), ".detail "])),
        [`${box}/files`, () => page.waitForSelector(".entry")],
        [`${box}/files`, () => page.click(".entry:has-text('log book')")],
        [`${box}/terminal`, () => page.waitForSelector("[data-state=open]")],
        [`${box}/python`, () => settled(page)],
        [`${box}/javascript`, () => settled(page)],
        [`${box}/browser`, () => page.waitForSelector(".commands summary")],
        [`${box}/ports`, () => page.waitForSelector("b:text-is('8000')")],
        [`${box}/limits`, () => page.waitForSelector(".facts")],
        ["waiting", () => page.waitForSelector(".empty")],
        ["host", () => page.waitForSelector(".walls li")],
    ];
    let ran = 0;
    for (const [path, ready, place = ""] of screens) {
        await page.goto("about:blank");
        await page.goto(`${URL_}/#/${path}`);
        await ready();
        const line = async (/** @type {string} */ name) => {
            await page.click(`${place}.same .choices button:text-is('${name}')`);
            return (await page.textContent(`${place}.same pre`)) ?? "";
        };
        for (const name of ["curl", "cove"]) {
            const text = await line(name);
            assert.ok(text.startsWith(name) || text.includes(`| ${name} `), `${path}: ${text}`);
            // What this machine lacks is the doctor's business.
            if (text === "cove doctor") continue;
            const done = await runs(text, folder).catch((/** @type {Error & { stderr?: string, stdout?: string }} */ error) => assert.fail(`${path}: ${text}\n${error.message}\n${error.stdout}`));
            assert.doesNotMatch(done.stdout, /"success":\s*false/, `${path}: ${text}`);
            ran += 1;
        }
        assert.match(await line("Python"), /^(import json\n)?from cove import Cove\n\nwith Cove\(\) as cove:\n {4}/, path);
        assert.match(await line("TypeScript"), /^import \{ connect \} from "@cove\/sdk\/node";\n\nawait using cove = await connect\(\);\n/, path);
    }
    assert.equal(ran, 2 * screens.length - 1);
    await rm(folder, { recursive: true, force: true });
    await call("DELETE", base);
    await context.close();
});
