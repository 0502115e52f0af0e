import assert from "node:assert/strict";
import { test } from "node:test";
import * as sdk from "../src/index.js";
import { serve } from "./server.js";

const { cove } = await serve();
const sandbox = await cove.sandbox();

const isPng = (bytes: Uint8Array): boolean => bytes[0] === 0x89 && bytes[1] === 0x50;

test("a run takes input and gives a value", async () => {
    const run = await sandbox.javascript.run<{ sum: number }>(
        "const list: number[] = input.list; console.log('adding'); return { sum: list.reduce((a, b) => a + b, 0) }",
        { list: [1, 2, 39] },
    );
    assert.deepEqual(sdk.check(run).value, { sum: 42 });
    assert.match(run.logs, /adding/);
});

test("a failure is a value that says where", async () => {
    const run = await sandbox.javascript.run("const a = 1\nthrow new Error('no wind')");
    assert.equal(run.success, false);
    assert.equal(run.failure?.["line"], 2);
    assert.throws(() => sdk.check(run), (fault) => fault instanceof sdk.RunFailedError && fault.result === run);
});

test("what JSON loses is told", async () => {
    const run = await sandbox.javascript.run("return { ports: new Map([['Oslo', 1]]) }");
    assert.deepEqual([run.value, run.warnings.length], [{ ports: {} }, 1]);
    assert.match(run.warnings[0] ?? "", /`ports` is a Map.*Object\.fromEntries\(map\)/);
    assert.deepEqual((await sandbox.javascript.run("return 1")).warnings, []);
});

test("pictures are bytes", async () => {
    const code = "const x = getCanvas(40, 30).getContext('2d'); x.fillRect(0, 0, 40, 30); return 1";
    const [image] = sdk.check(await sandbox.javascript.run(code)).images;
    assert.ok(image !== undefined && isPng(image.data));
    assert.deepEqual([image.width, image.height], [40, 30]);
    assert.ok((await sandbox.artifacts.list()).some((one) => one.name === image.name));
    assert.deepEqual((await sandbox.javascript.run("getCanvas(4, 4); return 1", undefined, { images: false })).images, []);
});

test("python remembers", async () => {
    await sandbox.python.exec("x = 20");
    assert.match(sdk.check(await sandbox.python.exec("x + 22")).output, /42/);
    assert.match((await sandbox.python.exec("1 / 0")).error ?? "", /ZeroDivisionError/);
});

test("the shell has a folder and an exit code", async () => {
    await sandbox.files.write("below/here.txt", "found\n");
    const run = await sandbox.shell.exec("cat here.txt; exit 3", { cwd: "below" });
    assert.deepEqual([run.success, run.exit_code, run.output], [false, 3, "found\n"]);
});

test("a process runs on, and is followed, fed and ended", async () => {
    const started = await sandbox.processes.start("read x; echo got $x; exit 3", { name: "reader", input: true });
    assert.deepEqual([started.process_id, started.running], ["reader", true]);
    await sandbox.processes.write("reader", "it\n", { end: true });
    const frames: sdk.Schemas["ProcessFrame"][] = [];
    for await (const frame of sandbox.processes.follow("reader", { from: 0 })) frames.push(frame);
    const last = frames.at(-1);
    assert.ok(typeof last === "object" && "ended" in last && last.ended.return_code === 3, JSON.stringify(frames));
    const asleep = await sandbox.processes.start(["sleep", "600"]);
    assert.equal((await sandbox.processes.kill(asleep.process_id)).status, "killed");
    assert.ok((await sandbox.processes.list()).some((one) => one.process_id === "reader"));
    await assert.rejects(sandbox.processes.follow("nobody").next(), sdk.NotFoundError);
});

test("a folder is watched", async () => {
    await sandbox.shell.exec("mkdir -p watched");
    let begun = false;
    for await (const frame of sandbox.files.watch("watched")) {
        if ("watching" in frame) {
            begun = true;
            await sandbox.files.write("watched/new.txt", "new");
        }
        if ("event" in frame && frame.event.path === "new.txt") break;
    }
    assert.ok(begun);
});

test("output is heard while it is written", async () => {
    const heard: sdk.Output[] = [];
    let begun = false;
    const run = await sandbox.shell.exec("echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; echo three", {
        onOutput: async (output) => {
            heard.push(output);
            // It could not go on if this were heard only at its end.
            if (!begun) await sandbox.files.write("go", "");
            begun = true;
        },
    });
    assert.equal(sdk.check(run).output, "one\nthree\ntwo\n");
    const said = (stream: string): string => heard.filter((one) => one.stream === stream).map((one) => one.text).join("");
    assert.deepEqual([said("stdout"), said("stderr")], ["one\nthree\n", "two\n"]);
    const python: string[] = [];
    await sandbox.python.exec("for n in range(3): print(n)", { onOutput: (output) => python.push(output.text) });
    assert.equal(python.join(""), "0\n1\n2\n");
});

test("files", async () => {
    const path = "notes/häfen & co?.txt";
    await sandbox.files.write(path, "one\ntwo\n");
    assert.equal(await sandbox.files.read(path), "one\ntwo\n");
    assert.deepEqual((await sandbox.files.list("notes")).map((one) => one.name), ["häfen & co?.txt"]);
    await sandbox.files.edit(path, "two", "three");
    assert.match((await sandbox.files.grep("thr.e", { glob: "*.txt" })).text, /three/);
    assert.match((await sandbox.files.find("*.txt", { path: "notes" })).text, /häfen/);
    const data = Uint8Array.from({ length: 256_000 }, (_, index) => index % 256);
    for (const content of [data, new Blob([data])]) {
        assert.equal((await sandbox.files.upload("some/data.bin", content)).size, data.length);
        assert.deepEqual(await sandbox.files.download("some/data.bin"), data);
    }
    async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < data.length; at += 10_000) yield data.slice(at, at + 10_000);
    }
    for (const content of [pieces(), new Blob([data]).stream()]) {
        assert.equal((await sandbox.files.upload("some/pieces.bin", content)).size, data.length);
    }
    const back: Uint8Array[] = [];
    for await (const piece of await sandbox.files.stream("some/pieces.bin")) back.push(piece);
    assert.deepEqual(new Uint8Array(await new Blob(back as BlobPart[]).arrayBuffer()), data);
    await sandbox.files.delete("some/data.bin");
    await assert.rejects(sandbox.files.download("some/data.bin"), sdk.WorkspaceFileNotFoundError);
});

test("refusals are classes", async () => {
    await assert.rejects(sandbox.files.read("../../etc/passwd"), (fault) => {
        assert.ok(fault instanceof sdk.InvalidPathError);
        assert.deepEqual([fault.status, fault.code, fault.details["reason"]], [400, "invalid_path", "path_traversal"]);
        assert.ok(fault.requestId);
        assert.equal(fault.name, "InvalidPathError");
        return true;
    });
    await assert.rejects(sandbox.browser.exec("get title"), sdk.CapabilityNotSupportedError);
    await assert.rejects(sandbox.python.exec("1", { timeout: 10_000 }), sdk.ValidationError);
    await assert.rejects(cove.sandboxes.get("sandbox-000000000000"), sdk.NotFoundError);
    await assert.rejects(new sdk.Cove({ url: cove.url, key: "sk-bay-wrong" }).sandboxes.list(), sdk.UnauthorizedError);
});

test("a signal ends the wait", async () => {
    const over = new AbortController();
    const run = sandbox.python.exec("import time; time.sleep(20)", { signal: over.signal });
    setTimeout(() => over.abort(new Error("enough")), 50);
    await assert.rejects(run, /enough/);
});
