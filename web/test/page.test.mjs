// The page in a real browser against a real server: one browser, one server, many checks.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { accessible, fits, settled, type } from "./checks.mjs";
import * as hostile from "./hostile.mjs";
import { call, close, key, loggedIn, newPage, open, sandbox, URL_ } from "./world.mjs";

before(open);
after(close);

test("files are served with a strict policy, a version and packed; programs get the list", async () => {
    const html = { accept: "text/html" };
    const page = await fetch(`${URL_}/`, { headers: html });
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|data:/);
    assert.equal(page.headers.get("x-content-type-options"), "nosniff");
    assert.equal(page.headers.get("content-encoding"), "gzip");
    const tag = page.headers.get("etag") ?? "";
    assert.equal((await fetch(`${URL_}/`, { headers: { ...html, "if-none-match": tag } })).status, 304);
    const names = [...(await page.text()).matchAll(/\/page\/([\w.-]+)/g)].map((found) => found[1]);
    assert.ok(names.length >= 3);
    for (const name of names) assert.equal((await fetch(`${URL_}/page/${name}`)).status, 200, name);
    const plain = await fetch(`${URL_}/`, { redirect: "manual" });
    assert.deepEqual([plain.status, plain.headers.get("location")], [303, "/docs"]);
    assert.equal((await fetch(`${URL_}/page/nothing.js`)).status, 404);
});

test("login by key, by a link that works once, and by a shared link that only looks", async () => {
    const { page, context, wrong } = await newPage();
    await page.goto(`${URL_}/`);
    await page.waitForSelector("#key");
    await accessible(page, "login");
    await page.fill("#key", "sk-bay-this-is-not-a-key");
    await page.press("#key", "Enter");
    await page.waitForSelector("[role=alert]");
    await page.fill("#key", key);
    await page.press("#key", "Enter");
    await page.waitForSelector(".bar nav a");
    const [cookie] = await context.cookies();
    assert.ok(cookie?.httpOnly && cookie.sameSite === "Strict" && !cookie.value.includes(key), JSON.stringify(cookie));
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]));
    assert.ok(!kept.includes(key) && !kept.includes(cookie.value), kept);
    await page.click("text=Log out");
    await page.waitForSelector("#key");
    // The old cookie is worth nothing any more.
    await context.addCookies([cookie]);
    await page.reload();
    await page.waitForSelector("#key");

    const link = await call("POST", "/page/links", {});
    await page.goto("about:blank");
    await page.goto(URL_ + link.path);
    await page.waitForSelector(".bar nav a");
    assert.ok(!page.url().includes("open"), page.url());
    const second = await newPage();
    await second.page.goto(URL_ + link.path);
    await second.page.waitForSelector("text=has been used or has expired");

    const id = await sandbox();
    await call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code: "return 'shared'" });
    const share = await call("POST", "/page/links", { sandbox_id: id });
    await second.page.goto("about:blank");
    await second.page.goto(URL_ + share.path);
    await second.page.waitForSelector(".row");
    assert.equal(await second.page.locator("text=Delete").count(), 0);
    assert.equal(await second.page.locator(".tabs a", { hasText: "Terminal" }).count(), 0);
    const other = await sandbox("javascript");
    const statuses = await second.page.evaluate(
        async ([mine, theirs]) => {
            const ask = async (/** @type {string} */ method, /** @type {string} */ path) =>
                (await fetch(path, { method, headers: { "X-Cove-Page": "1", "Content-Type": "application/json" }, ...(method === "POST" ? { body: '{"code":"1"}' } : {}) })).status;
            return [
                await ask("GET", `/v1/sandboxes/${mine}`),
                await ask("GET", `/v1/sandboxes/${mine}/history`),
                await ask("GET", `/v1/sandboxes/${theirs}`),
                await ask("GET", "/v1/sandboxes"),
                await ask("GET", "/page/host"),
                await ask("POST", `/v1/sandboxes/${mine}/python/exec`),
                await ask("DELETE", `/v1/sandboxes/${mine}`),
                await ask("POST", "/page/links"),
                await ask("GET", `/v1/sandboxes/${mine}/terminal`),
                await ask("GET", `/v1/sandboxes/${mine}%2f..%2f${theirs}`),
            ];
        },
        [id, other],
    );
    assert.deepEqual(statuses, [200, 200, 403, 403, 403, 403, 403, 403, 403, 403]);
    assert.deepEqual([...wrong, ...second.wrong], []);
    await call("DELETE", `/v1/sandboxes/${other}`);
    await Promise.all([context.close(), second.context.close()]);
});

test("another page cannot use the cookie: not by form, script, picture or WebSocket", async () => {
    const { page, context } = await loggedIn();
    const id = await sandbox();
    const before = (await call("GET", `/v1/sandboxes`)).items.length;
    const evil = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>evil</title>"));
    await new Promise((listening) => evil.listen(0, "127.0.0.1", () => listening(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (evil.address());
    // The same site: the browser sends the cookie along.
    await page.goto(`http://127.0.0.1:${port}/`);
    const tried = await page.evaluate(
        async ([base = "", id]) => {
            const quiet = (/** @type {Promise<Response>} */ sent) => sent.then((response) => response.status, () => 0);
            const socket = new WebSocket(`${base.replace("http", "ws")}/v1/sandboxes/${id}/terminal`);
            const opened = new Promise((done) => {
                socket.onopen = () => done(true);
                socket.onerror = () => done(false);
            });
            const form = document.createElement("form");
            [form.method, form.action, form.enctype] = ["POST", `${base}/v1/sandboxes`, "text/plain"];
            form.target = "there";
            const frame = document.createElement("iframe");
            frame.name = "there";
            document.body.append(frame, form);
            const loaded = new Promise((done) => (frame.onload = done));
            form.submit();
            await loaded;
            return {
                socket: await opened,
                simple: await quiet(fetch(`${base}/v1/sandboxes`, { method: "POST", credentials: "include", mode: "no-cors" })),
                read: await quiet(fetch(`${base}/v1/sandboxes`, { credentials: "include" })),
                marked: await quiet(fetch(`${base}/v1/sandboxes`, { method: "POST", credentials: "include", headers: { "X-Cove-Page": "1" } })),
                login: await quiet(fetch(`${base}/page/session`, { method: "POST", credentials: "include", mode: "no-cors", body: "{}" })),
            };
        },
        [URL_, id],
    );
    assert.deepEqual(tried, { socket: false, simple: 0, read: 0, marked: 0, login: 0 });
    assert.equal((await call("GET", `/v1/sandboxes`)).items.length, before);
    // Nor does the page show itself in a frame of another.
    await page.setContent(`<iframe src="${URL_}/"></iframe>`);
    assert.ok(page.frames().every((frame) => frame.url() !== `${URL_}/`));
    evil.close();
    evil.closeAllConnections();
    // A guest's file is no page of ours, even for who is logged in.
    const visit = await page.goto(`${URL_}/v1/sandboxes/${id}/filesystem/download?path=x.html`);
    assert.equal(visit?.status(), 401);
    await context.close();
});

test("the playground: a chart, TypeScript, an error at its place, console, a link that holds the code", async () => {
    const { page, context, wrong } = await loggedIn();
    await settled(page);
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector("img.picture");
    await page.waitForSelector(".value .tree-string");
    assert.match(await page.textContent(".chips") ?? "", /done.*ms.*embedded/s);
    await accessible(page, "playground");
    await page.keyboard.press("Escape");
    await page.click(".gallery button:text-is('An error at its place')");
    await page.click("button.main");
    await page.waitForSelector("pre.fault");
    // Marked at the column where it happened.
    assert.equal(await page.textContent(".cm-lintRange-error"), "order");
    assert.ok((await page.locator(".cm-lint-marker-error").count()) > 0);
    await type(page, "interface P { n: number }\nconst c = getCanvas(60, 40);\nc.getContext('2d').fillRect(0, 0, 9, 9);\nconsole.log('heard', input.a);\nfinal_answer({ n: (input.a as number) * 2 } satisfies P)");
    await page.fill("#input", '{"a": 21}');
    await page.click("button.main");
    await page.waitForSelector("text=final_answer >> visible=true");
    await page.waitForSelector(".tree-number:has-text('42')");
    assert.equal((await page.textContent("section .console"))?.trim(), "heard 21");
    await page.waitForSelector("img.picture");
    await page.fill("#input", "{");
    await page.click("button.main");
    await page.waitForSelector("text=The input is not JSON");
    await page.fill("#input", '{"a": 1}');
    // A tool: the code asks, a person answers, and it goes on where it waited. A hostile question is a question.
    await type(page, "const first = await ask_user('<img src=x onerror=window.__owned=1>');\nreturn first + ' and ' + await ask_user('second?')");
    await page.click("button.main");
    await page.waitForSelector(".question label:text-is('<img src=x onerror=window.__owned=1>')");
    await accessible(page, "question");
    await page.fill("#answer", "one");
    await page.press("#answer", "Enter");
    await page.waitForSelector(".question label:text-is('second?')");
    await page.fill("#answer", "two");
    await page.press("#answer", "Enter");
    await page.waitForSelector(".tree-string:has-text('one and two')");
    // What runs can be stopped.
    await type(page, "for (;;) await new Promise((done) => setTimeout(done, 50))");
    await page.click("button.main");
    await page.click("text=Stop >> visible=true");
    await page.waitForSelector("text=Stopped.");
    await page.click(".end:has-text('Share')");
    await page.waitForURL(/code=/);
    /** @type {string[]} */
    const asked = [];
    const other = await loggedIn();
    other.page.on("request", (request) => asked.push(request.url() + (request.postData() ?? "")));
    await other.page.goto("about:blank");
    await other.page.goto(page.url());
    await settled(other.page);
    await other.page.waitForFunction(() => document.querySelector(".editor-host")?.shadowRoot?.textContent?.includes("setTimeout(done, 50)"));
    assert.equal(await other.page.inputValue("#input"), '{"a": 1}');
    assert.ok(asked.every((url) => !url.includes("code=")), asked.join("\n"));
    assert.deepEqual([...wrong, ...other.wrong], []);
    await Promise.all([context.close(), other.context.close()]);
});

test("whoever types fast loses no letter", async () => {
    const { page, context, wrong } = await loggedIn();
    await settled(page);
    await type(page, "");
    const code = "const boats = [14, 9, 22];\nreturn boats.map((boat) => boat * 3).join(' and ')";
    // Brackets and quotes close themselves: each is written over.
    await page.keyboard.type(code);
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".value .tree-string:has-text('42 and 27 and 66')");
    // Tab indents; Escape, then Tab, leaves; `?` says so.
    const focused = () => page.evaluate(() => document.activeElement?.className);
    for (let times = 0; times < 3; times++) await page.keyboard.press("Tab");
    assert.match((await focused()) ?? "", /editor-host/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.doesNotMatch((await focused()) ?? "", /editor-host/);
    await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).blur());
    await page.keyboard.press("?");
    await page.waitForSelector(".shortcuts div:has-text('Leave the editor')");
    assert.equal(await page.locator(".shortcuts dd:text-is('Run')").count(), 1);
    assert.deepEqual(wrong, []);
    await context.close();
});

test("sandboxes: create, files, Python with a plot, terminal, the cause of a failure, delete", async () => {
    const { page, context, wrong } = await loggedIn();
    page.on("dialog", (dialog) => void dialog.accept(dialog.type() === "prompt" ? "notes/hello.py" : undefined));
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.waitForSelector("text=New sandbox");
    await page.keyboard.press("n");
    await page.selectOption("#profile", "python-default");
    await accessible(page, "create");
    await page.click("dialog button.main");
    await page.waitForURL(/#\/sandbox\/sandbox-/);
    const id = /sandbox-\w+/.exec(page.url())?.[0] ?? "";

    await page.click(".tabs a:has-text('Files')");
    await page.click("text=New file");
    await page.waitForSelector(".file-view .editor-host[data-ready]");
    await type(page, "print('from a file')\n", ".file-view");
    await page.click(".file-view button.main");
    await page.waitForSelector(".note:has-text('Saved')");
    assert.equal((await call("GET", `/v1/sandboxes/${id}/filesystem/files?path=notes/hello.py`)).content, "print('from a file')\n");
    await page.setInputFiles("input[type=file]", { name: "cities.csv", mimeType: "text/csv", buffer: Buffer.from('city,people\n"Lima, Peru",10092000\n') });
    // A file that is dropped is uploaded.
    await page.evaluate(() => {
        const data = new DataTransfer();
        data.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
        document.querySelector(".file-tree")?.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.waitForSelector(".entry:has-text('dropped.txt')");
    await page.click(".entry:has-text('cities.csv')");
    await page.waitForSelector("td:has-text('Lima, Peru')");
    await accessible(page, "files");

    await page.click(".tabs a:has-text('Python')");
    await settled(page);
    await type(page, "import matplotlib.pyplot as plt\nplt.figure(figsize=(4, 2)); plt.plot([1, 4, 9, 16]); plt.title('squares'); plt.show()\nprint('drawn')");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".cell-out img.picture", { timeout: 60_000 });
    await page.waitForSelector(".cell-out pre:has-text('drawn')");
    // A further cell, with the same variables; its output comes while it runs.
    await page.waitForSelector(".cell >> nth=1");
    await page.waitForSelector(".cell >> nth=1 >> .editor-host[data-ready]");
    await type(page, "import os, time\nprint('early', plt is not None, flush=True)\nwhile not os.path.exists('go'): time.sleep(0.05)\nprint('late')", ".cell:nth-child(2)");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector("pre.console:has-text('early True')");
    await call("PUT", `/v1/sandboxes/${id}/filesystem/files`, { path: "go", content: "" });
    await page.waitForSelector(".cell-out pre:has-text('late')");
    await accessible(page, "python");

    await page.click(".tabs a:has-text('JavaScript')");
    await settled(page);
    await type(page, "const kept = [1, 2, 3];\nkept.map((n) => n * 2)");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".tree-number:has-text('6')");

    await page.click(".tabs a:has-text('Terminal')");
    await page.waitForSelector("[data-state=open]");
    await page.keyboard.type("echo $((6*7))-$(ls notes)\n");
    await page.waitForFunction(() => document.querySelector(".xterm-rows")?.textContent?.includes("42-hello.py"));
    const painted = await page.evaluate(() => getComputedStyle(/** @type {Element} */ (document.querySelector(".xterm-rows > div"))).lineHeight);
    assert.notEqual(painted, "normal", "the terminal's own style holds");
    await accessible(page, "terminal");

    // From "something failed" to its cause in three clicks, from the first screen on: the sandboxes, this one, the call.
    await call("POST", `/v1/sandboxes/${id}/python/exec`, { code: "orders = {}\norders['rope']" });
    await page.goto("about:blank");
    await page.goto(`${URL_}/`);
    await page.waitForSelector(".bar nav a");
    await page.evaluate(() => document.addEventListener("click", () => ((/** @type {any} */ (window)).__clicks = ((/** @type {any} */ (window)).__clicks ?? 0) + 1), true));
    await page.click(".bar nav a:has-text('Sandboxes')");
    await page.waitForSelector(`tr:has-text('${id}') .last .failed`);
    await page.click(`a:has-text('${id}')`);
    await page.click(".row.failed");
    await page.waitForSelector(".detail pre.fault:has-text(\"KeyError: 'rope'\")");
    assert.ok((await page.evaluate(() => /** @type {any} */ (window).__clicks)) <= 3);
    await page.check("text=failures only");
    await page.waitForFunction(() => document.querySelectorAll(".row").length === 1);
    await accessible(page, "timeline");
    await page.click("text=Run again");
    await page.waitForSelector(".note:has-text('once more')");
    await page.waitForFunction(() => document.querySelectorAll(".row").length === 2);

    await page.click(".tabs a:has-text('Limits')");
    await page.waitForSelector("text=nothing outside can be reached");
    await page.waitForSelector("dd:text-is('1 GB')");
    // What failed by itself was not refused; what ran out of its time was, and says so.
    await page.waitForSelector("text=Nothing was refused.");
    await call("POST", `/v1/sandboxes/${id}/shell/exec`, { command: "echo 'memory limit: not allowed' >&2; exit 1" });
    await call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code: "for (;;);", timeout: 1 });
    await page.reload();
    await page.waitForSelector(".limits li:has-text('for (;;);') .chip:text-is('time limit')");
    assert.equal(await page.locator(".limits section:has-text('What was refused') li").count(), 1);
    await accessible(page, "limits");
    await page.click("button:has-text('+1 h')");
    await page.waitForSelector(".note:has-text('an hour longer')");
    await page.click(".toolbar button:has-text('Stop')");
    await page.waitForSelector(".status.idle");
    await page.goto(`${URL_}/#/sandboxes`);
    await page.waitForSelector(`a:has-text('${id}')`);
    await accessible(page, "sandboxes");
    // Every screen has the same as a line to copy.
    assert.match((await page.textContent(".same pre")) ?? "", /^curl .*\/v1\/sandboxes$/);
    // A search without hits says so.
    await page.fill("input[type=search]", "no such sandbox");
    await page.waitForSelector("text=No sandbox fits “no such sandbox”.");
    await page.fill("input[type=search]", "");
    await page.click(`tr:has-text('${id}') button:has-text('Delete')`);
    await page.waitForFunction((gone) => !document.body.textContent?.includes(gone + "was"), id);
    await page.waitForSelector(`a:has-text('${id}')`, { state: "detached" });
    assert.deepEqual(wrong, []);
    await context.close();
});

test("the host: engines, walls, charts, refusals, licences", async () => {
    const { page, context, wrong } = await loggedIn();
    await page.goto(`${URL_}/#/host`);
    await page.waitForSelector(".walls li");
    await page.waitForSelector(".chart canvas");
    assert.ok((await page.locator(".walls li").count()) >= 10);
    assert.match((await page.textContent("main")) ?? "", /Cove \d+\.\d+/);
    // Each profile, with what is kept ready of it.
    const pools = page.locator("section:has(h2:text-is('Warm pools')) li");
    for (const { id } of (await call("GET", "/v1/profiles")).items) {
        if (id !== "browser-site") assert.match((await pools.filter({ hasText: id }).first().textContent()) ?? "", /started when needed|\d+ kept ready/, id);
    }
    // A refusal is counted, and is recent. Ticks of bytes are whole.
    const before = Number(await page.locator("section:has(h2:has-text('Refusals')) li:has-text('not_found') .chip >> nth=0").textContent().catch(() => "0"));
    const gone = await fetch(`${URL_}/v1/sandboxes/sandbox-000000000000`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(gone.status, 404);
    await page.waitForFunction((before) => {
        const line = [...document.querySelectorAll("section.card li")].find((one) => one.querySelector("code")?.textContent === "not_found");
        const [count, lately] = [...(line?.querySelectorAll(".chip") ?? [])].map((chip) => chip.textContent ?? "");
        return Number(count) > before && /^\+[1-9]/.test(lately ?? "");
    }, before);
    await accessible(page, "host");
    const licences = await (await fetch(`${URL_}/page/licences.txt`)).text();
    for (const name of ["preact", "uplot", "@xterm/xterm", "@codemirror/view"]) assert.ok(licences.includes(name), name);
    assert.deepEqual(wrong, []);
    await context.close();
});

test("what guests make never runs in the page, and cannot fake it", async () => {
    const { page, context, wrong } = await loggedIn();
    const id = await sandbox();
    const base = `/v1/sandboxes/${id}`;
    const count = hostile.texts.length + hostile.names.length + hostile.terminal.length + hostile.files.length;
    assert.ok(count >= 40, `${count}`);
    // File names and contents.
    const script = `import json, os\nfor name in json.loads(${JSON.stringify(JSON.stringify(hostile.names))}):\n    open(name, "w").write(name)\nos.mkdir("<script>window.__owned=1<")`;
    const made = await call("POST", `${base}/python/exec`, { code: script });
    assert.ok(made.success, made.error);
    for (const [path, content] of hostile.files) await call("PUT", `${base}/filesystem/files`, { path, content });
    // Console lines, values, errors, commands, descriptions: all texts at once and some alone.
    const all = JSON.stringify(hostile.texts);
    await call("POST", `${base}/javascript/exec`, { code: `for (const text of ${all}) console.log(text); return ${all}`, description: hostile.texts[5], tags: "a" });
    await call("POST", `${base}/javascript/exec`, { code: `throw new Error(${all}.join("\\n"))` });
    await call("POST", `${base}/shell/exec`, { command: `echo '${hostile.texts[0]}' >&2; exit 3` });
    await call("POST", `${base}/python/exec`, { code: `raise ValueError(${JSON.stringify(hostile.texts[5])})` });
    const sound = async (/** @type {string} */ where) => {
        assert.equal(await page.evaluate(() => /** @type {any} */ (window).__owned), undefined, where);
        assert.deepEqual(wrong, [], where);
        assert.equal(await page.title(), "Cove", where);
        assert.equal(await page.evaluate(() => document.elementFromPoint(60, 24)?.closest(".bar") !== null), true, `${where}: the bar is covered`);
        const odd = await page.evaluate(() => document.querySelectorAll("main iframe, main object, main embed, main form, main base, main script, main style, main link, main svg, #trap, [onerror], [onload]").length);
        assert.equal(odd, 0, where);
    };
    await page.goto(`${URL_}/#/sandbox/${id}`);
    await page.waitForSelector(".row");
    for (let at = 0; at < 5; at++) {
        await page.click(`.row >> nth=${at}`);
        await page.waitForSelector(".detail");
        await sound(`timeline ${at}`);
    }
    await page.goto(`${URL_}/#/sandboxes`);
    await page.waitForSelector(`a:has-text('${id}')`);
    await sound("sandboxes");
    await page.goto(`${URL_}/#/sandbox/${id}/files`);
    await page.waitForSelector(".entry");
    assert.ok((await page.locator(".entry").count()) >= hostile.names.length);
    for (const [path = ""] of hostile.files) {
        await page.click(`.entry >> text=/^▫ ${path}$/`);
        await page.waitForSelector(`.file-view h2:text-is("${path}")`);
        await page.waitForSelector(".file-view .editor-host[data-ready], .file-view table, .file-view .empty, .file-view .quiet");
        await sound(path);
    }
    await page.click(".entry >> nth=3");
    await sound("a hostile name");
    // Letters that turn a name around or that nobody sees are shown by their numbers, here and in the rows of the timeline.
    await page.waitForSelector(".entry:has-text('\\\\u202egnp.exe')");
    await page.waitForSelector(".entry:has-text('line\\\\nbreak.txt')");
    assert.doesNotMatch((await page.textContent(".file-tree")) ?? "", /[\u202a-\u202e\u2066-\u2069\u2028\u200b]/);
    // A call that waits: its tool's arguments, why it asks, its lines.
    const javascript = await sandbox("javascript");
    const asks = call("POST", `/v1/sandboxes/${javascript}/javascript/exec`, {
        code: `await pay(${all}, "\u202e\u2066") // \u202e ${hostile.texts[5]}`,
        tools: [{ name: "pay", ask: true }],
    }).catch(() => undefined);
    await page.goto(`${URL_}/#/waiting`);
    await page.waitForSelector(".question");
    await sound("a call that waits");
    assert.doesNotMatch((await page.textContent(".question")) ?? "", /[\u202a-\u202e\u2066-\u2069\u2028]/);
    await page.click(".question >> text=Deny");
    await asks;
    await call("DELETE", `/v1/sandboxes/${javascript}`);
    // The playground: console, value, error; and a link with hostile code.
    await page.goto(`${URL_}/#/playground`);
    await settled(page);
    await type(page, `for (const text of ${all}) console.log(text);\nreturn Object.fromEntries(${all}.map((text) => [text, text]))`);
    await page.click("button.main");
    await page.waitForSelector(".value .tree");
    await sound("playground value");
    await type(page, `throw new Error(${all}.join(" "))`);
    await page.click("button.main");
    await page.waitForSelector("pre.fault");
    await sound("playground error");
    for (const code of ["x", "<script>", "AAAA".repeat(100), "%00"]) {
        await page.goto(`${URL_}/#/playground?code=${code}`);
        await settled(page);
    }
    await page.waitForSelector(".note.bad");
    await page.goto(`${URL_}/#/sandbox/${encodeURIComponent(hostile.texts[0] ?? "")}`);
    await page.waitForSelector(".empty");
    await sound("an address");
    // The terminal.
    await page.goto(`${URL_}/#/sandbox/${id}/terminal`);
    await page.waitForSelector("[data-state=open]");
    const size = await page.evaluate(() => [innerWidth, innerHeight]);
    const bytes = Buffer.from(hostile.terminal.join("\r\n")).toString("base64");
    await page.keyboard.type(`echo ${bytes} | base64 -d; echo; echo do""ne\n`);
    await page.waitForFunction(() => document.querySelector(".xterm-rows")?.textContent?.includes("done"));
    await page.click(".xterm-rows >> text=click me").catch(() => undefined);
    await sound("terminal");
    assert.deepEqual(await page.evaluate(() => [innerWidth, innerHeight]), size);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll(".xterm-rows span")].some((one) => getComputedStyle(one).color === "rgb(176, 0, 0)")), true, "colours hold");
    await call("DELETE", base);
    await context.close();
});

test("dark, a phone, 简体中文, and the keyboard", async () => {
    const id = await sandbox("javascript");
    await call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code: "return 6 * 7" });
    const asks = call("POST", `/v1/sandboxes/${id}/javascript/exec`, {
        code: "return await transfer({ to: 'harbour', amount: 12 })",
        tools: [{ name: "transfer", ask: true }],
        timeout: 300,
    }).catch(() => undefined);
    const { page, context, wrong } = await loggedIn({ colorScheme: "dark", viewport: { width: 390, height: 844 } });
    await settled(page);
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    for (const [path, ready] of /** @type {const} */ ([
        ["playground", ".editor-host[data-ready]"],
        ["sandboxes", "table.rows"],
        [`sandbox/${id}/timeline`, ".row"],
        [`sandbox/${id}/files`, ".file-tree"],
        [`sandbox/${id}/javascript`, ".editor-host[data-ready]"],
        [`sandbox/${id}/limits`, ".facts"],
        ["waiting", ".question .code"],
        ["host", ".walls li"],
    ])) {
        await page.goto(`${URL_}/#/${path}`);
        await page.waitForSelector(ready);
        if (path === "playground") {
            await page.click("button.main");
            await page.waitForSelector(".value .tree-string");
        }
        await fits(page, path);
        await accessible(page, `${path}, dark, on a phone`);
    }
    // 简体中文 on a phone.
    await page.click("text=中文");
    for (const path of ["waiting", "sandboxes", `sandbox/${id}/timeline`, "host"]) {
        await page.goto(`${URL_}/#/${path}`);
        await page.waitForSelector("h1");
        await fits(page, `${path}, 简体中文`);
        await accessible(page, `${path}, 简体中文, on a phone`);
    }
    await page.click("text=English");
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${URL_}/#/playground`);
    await settled(page);
    await page.click("button.main");
    await page.waitForSelector("img.picture");
    await page.goto(`${URL_}/#/host`);
    // Two readings are a line.
    await page.waitForFunction(() => /\d ms/.test(document.querySelectorAll(".chart figcaption")[1]?.textContent ?? ""));
    await page.keyboard.press("t");
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
    await page.keyboard.press("?");
    await page.waitForSelector("dialog kbd");
    await accessible(page, "keys");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.waitForSelector("table.rows");
    await page.click("text=中文");
    await page.waitForSelector("th:has-text('状态')");
    assert.equal(await page.getAttribute("html", "lang"), "zh-CN");
    await accessible(page, "简体中文");
    await page.reload();
    await page.waitForSelector("th:has-text('状态')");
    assert.deepEqual(wrong, []);
    await call("DELETE", `/v1/sandboxes/${id}`);
    await asks;
    await context.close();
});

test("a call that waits is counted, seen, approved and denied", async () => {
    const { page, context, wrong } = await loggedIn();
    const id = await sandbox("javascript");
    await page.goto(`${URL_}/#/waiting`);
    await page.waitForSelector("text=Nothing waits for you.");
    assert.equal(await page.locator(".bar .count").count(), 0);
    const code = "const paid = await pay({to: 'a'}).catch((e) => e.message); paid";
    const run = () => call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code, session: "s", tools: [{ name: "pay", ask: true }] });
    const first = run();
    await page.waitForSelector(".question >> text=pay");
    await accessible(page, "waiting");
    await fits(page, "waiting");
    // Whoever is elsewhere sees that somebody waits.
    await page.goto(`${URL_}/#/playground`);
    await page.waitForSelector(".bar .count:text-is('1')");
    await page.click(".bar nav a:has-text('Waiting')");
    await page.click(".question >> text=Deny");
    assert.match((await first).data.result, /a person has denied it/);
    await page.waitForSelector("text=Nothing waits for you.");
    await page.waitForSelector(".bar .count", { state: "detached" });
    const second = run().catch(() => undefined);
    await page.click(".question >> text=Approve once");
    await page.waitForSelector("text=Approved: pay");
    // It was allowed, and now waits for the answer of its caller; the sandbox's end ends it.
    await call("DELETE", `/v1/sandboxes/${id}`);
    await second;
    assert.deepEqual(wrong, []);
    await context.close();
});

test("what was begun stays: cells with their output, and text that was not saved", async () => {
    const { page, context, wrong } = await loggedIn();
    const id = await sandbox();
    await call("PUT", `/v1/sandboxes/${id}/filesystem/files`, { path: "log.txt", content: "one" });
    await page.goto(`${URL_}/#/sandbox/${id}/javascript`);
    await settled(page);
    await type(page, "6 * 7");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".cell-out .tree-number:has-text('42')");
    await page.click(".tabs a:has-text('Files')");
    await page.click(".entry:has-text('log.txt')");
    await page.waitForSelector(".file-view .editor-host[data-ready]");
    await type(page, "one and two", ".file-view");
    await page.waitForSelector(".file-view [role=status]:text-is('not saved')");
    await page.click(".tabs a:has-text('JavaScript')");
    await page.waitForSelector(".cell-out .tree-number:has-text('42')");
    await page.click(".tabs a:has-text('Files')");
    await page.waitForSelector(".entry:has-text('log.txt') .unsaved");
    await page.click(".entry:has-text('log.txt')");
    await page.waitForFunction(() => document.querySelector(".file-view .editor-host")?.shadowRoot?.textContent?.includes("one and two"));
    await page.click(".file-view button:has-text('Discard')");
    await page.waitForSelector(".unsaved", { state: "detached" });
    await page.waitForFunction(() => !document.querySelector(".file-view .editor-host")?.shadowRoot?.textContent?.includes("and two"));
    assert.deepEqual(wrong, []);
    await call("DELETE", `/v1/sandboxes/${id}`);
    await context.close();
});

test("the keyboard: out of the terminal, and no key of a tab that is not there; pictures of the call that drew them", async () => {
    const { page, context, wrong } = await loggedIn();
    const id = await sandbox();
    const draw = (/** @type {number} */ side) => call("POST", `/v1/sandboxes/${id}/javascript/exec`, { code: `getCanvas(${side}, ${side}).getContext('2d').fillRect(0, 0, 9, 9)` });
    await draw(30);
    await draw(50);
    await page.goto(`${URL_}/#/sandbox/${id}/terminal`);
    await page.waitForSelector("[data-state=open]");
    const inTerminal = () => page.evaluate(() => document.activeElement?.closest(".terminal-place") !== null);
    assert.equal(await inTerminal(), true);
    await page.keyboard.press("Tab");
    assert.equal(await inTerminal(), true, "Tab is the shell's");
    await page.keyboard.press("F8");
    assert.equal(await inTerminal(), false);
    // The terminal goes with the theme.
    const ground = () => page.evaluate(() => getComputedStyle(/** @type {Element} */ (document.querySelector(".xterm-viewport"))).backgroundColor);
    const before = await ground();
    await page.keyboard.press("t");
    await page.waitForFunction((before) => getComputedStyle(/** @type {Element} */ (document.querySelector(".xterm-viewport"))).backgroundColor !== before, before);
    await page.keyboard.press("t");
    await page.keyboard.press("?");
    await page.waitForSelector(".shortcuts dd:text-is('Leave the terminal')");
    // This profile has no browser.
    assert.equal(await page.locator(".shortcuts dd:text-is('Browser')").count(), 0);
    assert.equal(await page.locator(".shortcuts dd:text-is('Timeline')").count(), 1);
    await page.keyboard.press("Escape");
    await page.keyboard.press("1");
    await page.click(".row >> nth=0");
    await page.waitForSelector(".detail img.picture");
    const sizes = await page.$$eval(".detail img.picture", (all) => all.map((one) => /** @type {HTMLImageElement} */ (one).naturalWidth));
    assert.deepEqual(sizes, [50]);
    await page.fill(".timeline input[type=search]", "nothing has these words");
    await page.waitForSelector("text=No call fits.");
    // Found by its text, also when it ran after the search was begun.
    await page.fill(".timeline input[type=search]", "getCanvas(70");
    await draw(70);
    await page.waitForSelector(".row:has-text('getCanvas(70')");
    assert.deepEqual(wrong, []);
    await call("DELETE", `/v1/sandboxes/${id}`);
    await context.close();
});

test("whoever only looks starts nothing, and is told", async () => {
    const id = await sandbox();
    const { page, context, wrong } = await newPage();
    const share = await call("POST", "/page/links", { sandbox_id: id });
    await page.goto(URL_ + share.path);
    await page.click(".tabs a:has-text('Files')");
    await page.waitForSelector("text=The sandbox does not run.");
    assert.equal((await call("GET", `/v1/sandboxes/${id}`)).status, "idle");
    // What the network opens is no secret of administrators.
    await page.click(".tabs a:has-text('Limits')");
    await page.waitForSelector("text=nothing outside can be reached");
    await call("PUT", `/v1/sandboxes/${id}/filesystem/files`, { path: "log.txt", content: "one" });
    await page.click(".tabs a:has-text('Files')");
    await page.waitForSelector(".entry:has-text('log.txt')");
    assert.deepEqual(wrong, []);
    await call("DELETE", `/v1/sandboxes/${id}`);
    await context.close();
});
