import assert from "node:assert/strict";
import { createServer, type Server, Socket } from "node:net";
import { after, test } from "node:test";
import * as sdk from "../src/index.js";
import { serve } from "./server.js";

const { cove, server } = await serve();

test("a sandbox is deleted at the end of its block", async () => {
    let id: string;
    {
        await using sandbox = await cove.sandbox({ ttl: 600 });
        id = sandbox.id;
        const before = sandbox.info.expires_at;
        await sandbox.extendTtl(60);
        assert.notEqual(sandbox.info.expires_at, before);
        await sandbox.keepalive();
        await sandbox.files.write("kept.txt", "kept");
        assert.equal((await sandbox.refresh()).status, "ready");
        await sandbox.stop();
        assert.equal((await sandbox.refresh()).status, "idle");
        assert.equal(await sandbox.files.read("kept.txt"), "kept");
        const ids: string[] = [];
        for await (const one of cove.sandboxes.all()) ids.push(one.id);
        assert.ok(ids.includes(id));
    }
    await assert.rejects(cove.sandboxes.get(id), sdk.NotFoundError);
});

test("the same key is the same sandbox", async () => {
    await using one = await cove.sandbox({}, { idempotencyKey: "the-same" });
    assert.equal((await cove.sandbox({}, { idempotencyKey: "the-same" })).id, one.id);
    await assert.rejects(cove.sandbox({ ttl: 77 }, { idempotencyKey: "the-same" }), sdk.ConflictError);
    await assert.rejects(one.extendTtl(1), sdk.SandboxTtlInfiniteError);
});

test("cargos outlive sandboxes", async () => {
    const cargo = await cove.cargos.create({ size_limit_mb: 16 });
    {
        await using one = await cove.sandbox({ cargo_id: cargo.id });
        await one.files.write("left.txt", "behind");
        await assert.rejects(cove.cargos.delete(cargo.id), sdk.ConflictError);
    }
    {
        await using two = await cove.sandbox({ cargo_id: cargo.id });
        assert.equal(await two.files.read("left.txt"), "behind");
    }
    {
        await using three = await cove.sandbox();
        const ids = async (managed?: boolean) => {
            const found: string[] = [];
            for await (const one of cove.cargos.all(managed === undefined ? {} : { managed })) found.push(one.id);
            return found;
        };
        const [mine, managed] = [await ids(), await ids(true)];
        assert.deepEqual([mine.includes(cargo.id), mine.includes(three.info.cargo_id)], [true, false]);
        assert.deepEqual([managed.includes(cargo.id), managed.includes(three.info.cargo_id)], [false, true]);
    }
    assert.equal((await cove.cargos.get(cargo.id)).size_limit_mb, 16);
    await cove.cargos.delete(cargo.id);
});

test("history and skills", async () => {
    await using sandbox = await cove.sandbox();
    const run = await sandbox.shell.exec("echo learnt", { tags: "skill" });
    const last = await sandbox.history.last({ exec_type: "shell" });
    assert.equal(last.id, run.execution_id);
    assert.equal((await sandbox.history.annotate(last.id, { notes: "worth keeping" })).notes, "worth keeping");
    assert.equal((await sandbox.history.list({ has_notes: true })).total, 1);
    const payload = await cove.skills.createPayload({ commands: ["echo learnt"] });
    assert.deepEqual((await cove.skills.payload(payload.payload_ref)).payload, { commands: ["echo learnt"] });
    const candidate = await cove.skills.createCandidate({ skill_key: "sample", source_execution_ids: [last.id] });
    await cove.skills.evaluate(candidate.id, { passed: true });
    const release = await cove.skills.promote(candidate.id, { stage: "stable" });
    assert.equal(release.is_active, true);
    assert.equal((await cove.skills.listReleases({ skill_key: "sample" })).total, 1);
    assert.equal((await cove.skills.releaseHealth(release.id)).release_id, release.id);
});

test("profiles and health", async () => {
    assert.ok((await cove.profiles()).some((profile) => profile.id === "python-default"));
    assert.ok((await cove.profiles({ detail: true })).some((profile) => profile.containers));
    assert.equal((await cove.health()).status, "ok");
});

/** A wire that loses the next answers on their way: the work is done, nobody hears of it. */
async function wire(cuts: number): Promise<{ url: string; requests: () => number; cut: (more: number) => void }> {
    let left = cuts;
    let requests = 0;
    const target = new URL(server.url);
    const proxy: Server = createServer((client) => {
        const up = new Socket().connect(Number(target.port), target.hostname);
        client.on("data", (data) => {
            if (/^(GET|POST|PUT|DELETE) /.test(data.toString("latin1", 0, 8))) requests += 1;
            up.write(data);
        });
        up.on("data", (data) => {
            if (left > 0) {
                left -= 1;
                client.destroy();
                up.destroy();
            } else client.write(data);
        });
        for (const [one, other] of [[client, up], [up, client]] as const) {
            one.on("error", () => other.destroy());
            one.on("close", () => other.destroy());
        }
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    after(() => proxy.close());
    return { url: `http://127.0.0.1:${(proxy.address() as { port: number }).port}`, requests: () => requests, cut: (more) => (left += more) };
}

test("a lost answer makes one sandbox", async () => {
    const ids = async (): Promise<Set<string>> => {
        const all = new Set<string>();
        for await (const one of cove.sandboxes.all()) all.add(one.id);
        return all;
    };
    const before = await ids();
    const cut = await wire(2);
    await using sandbox = await new sdk.Cove({ url: cut.url, key: server.key }).sandbox();
    assert.ok(cut.requests() >= 3);
    assert.deepEqual([...(await ids())].filter((id) => !before.has(id)), [sandbox.id]);
});

test("a run is never repeated", async () => {
    await using sandbox = await cove.sandbox();
    await sandbox.python.exec("n = 0");
    const line = await wire(0);
    const same = await new sdk.Cove({ url: line.url, key: server.key }).sandboxes.get(sandbox.id);
    line.cut(1);
    const before = line.requests();
    await assert.rejects(same.python.exec("n += 1"), sdk.TransportError);
    assert.equal(line.requests() - before, 1);
    assert.match((await same.python.exec("n")).output, /1/);
});

test("a call that may be repeated is given up in the end", async () => {
    const cut = await wire(100);
    await assert.rejects(new sdk.Cove({ url: cut.url, key: server.key, retries: 2 }).sandboxes.list(), sdk.TransportError);
    assert.equal(cut.requests(), 3);
});
