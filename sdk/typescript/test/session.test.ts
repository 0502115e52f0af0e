import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "./server.js";

const { cove } = await serve();
const sandbox = await cove.sandbox();

test("a session remembers until it is reset", async () => {
    await using session = sandbox.javascript.session();
    await session.run("const port = 'Oslo'");
    assert.equal((await session.run("port")).value, "Oslo");
    assert.equal((await sandbox.javascript.session({ name: session.name }).run("port")).value, "Oslo");
    await session.reset();
    assert.equal((await session.run("port")).success, false);
});

test("tools are plain functions", async () => {
    let both: () => void = () => undefined;
    const met = new Promise<void>((resolve) => {
        both = resolve;
    });
    const waiting: string[] = [];
    await using session = sandbox.javascript.session({
        tools: {
            depth: (harbour: string) => ({ harbour, metres: 12 }),
            wind: { description: "How it blows.", run: async (unit: string) => `5 ${unit}` },
            refuse: () => {
                throw new RangeError("no berth left");
            },
            odd: () => 1n,
            nothing: () => undefined,
            meet: async (name: string) => {
                waiting.push(name);
                if (waiting.length === 2) both();
                await met;
                return name;
            },
        },
    });
    await session.run("const d = await depth('Oslo')");
    assert.equal((await session.run("d.metres")).value, 12);
    assert.equal((await session.run("await wind('m/s')")).value, "5 m/s");
    assert.equal((await session.run("(await Promise.all([meet('a'), meet('b')])).join()")).value, "a,b");
    assert.equal((await session.run("await nothing()")).success, true);
    assert.match((await session.run("await refuse()")).error ?? "", /no berth left/);
    assert.match((await session.run("await odd()")).error ?? "", /BigInt/);
    const final = await session.run("final_answer(await depth('Hull'))");
    assert.deepEqual([final.isFinal, final.value], [true, { harbour: "Hull", metres: 12 }]);
});

test("two sessions do not answer for each other", async () => {
    const answers = await Promise.all(
        ["one", "two"].map(async (who) => {
            await using session = sandbox.javascript.session({ tools: { who: () => who } });
            return [await session.run("await who()"), await session.run("await who()")].map((run) => run.value);
        }),
    );
    assert.deepEqual(answers, [["one", "one"], ["two", "two"]]);
});

test("a tool's name must be one that JavaScript can call", () => {
    assert.throws(() => sandbox.javascript.session({ tools: { "not-a-name": () => 1 } }), TypeError);
});

test("events as they happen", async () => {
    const seen: string[] = [];
    await sandbox.javascript.run("console.log('ahoy'); return 1");
    for await (const event of sandbox.events({ after: 0 })) {
        seen.push(event.kind);
        if (event.kind === "console" && event.data["text"] === "ahoy") break;
    }
    assert.ok(seen.includes("run_started"));
});
