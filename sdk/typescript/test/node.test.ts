import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { connect, ServerNotFoundError } from "../src/node.js";
import { BINARY, serve } from "./server.js";

const { server } = await serve();

/** Waits until a process is over; one that waits for its parent to look is. */
async function gone(pid: number): Promise<void> {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
        const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
        if (stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z")) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail(`${pid} is still there`);
}

test("the environment names a server", async () => {
    for (const [address, secret] of [["COVE_URL", "COVE_KEY"], ["BAY_ENDPOINT", "BAY_TOKEN"]] as const) {
        process.env[address] = server.url;
        process.env[secret] = server.key;
        try {
            await using cove = await connect({ start: false });
            assert.equal(cove.url, server.url);
            assert.ok((await cove.profiles()).length > 0);
        } finally {
            delete process.env[address];
            delete process.env[secret];
        }
    }
});

test("no server is said plainly", async () => {
    await assert.rejects(connect({ start: false }), (fault) => fault instanceof ServerNotFoundError && /COVE_URL/.test(fault.message));
    for (const binary of ["/nonexistent/cove", "/bin/false"]) {
        process.env["COVE_BIN"] = binary;
        try {
            await assert.rejects(connect({ start: true }), /did not come up/);
        } finally {
            process.env["COVE_BIN"] = BINARY;
        }
    }
});

test("a server that is started is as it was told", async () => {
    const folder = await mkdtemp(join(tmpdir(), "cove-config-"));
    try {
        await mkdir(join(folder, "venv", "bin"), { recursive: true });
        await symlink("/usr/bin/python3", join(folder, "venv", "bin", "python3"));
        const profiles = [{ id: "small", resources: { memory: "64m" } }];
        const config = { profiles, allowHosts: ["example.com"], python: join(folder, "venv"), dataDir: join(folder, "data") };
        let id: string;
        {
            await using cove = await connect({ config });
            id = (await cove.sandbox({ profile: "small" })).id;
            assert.ok((await cove.profiles()).some((profile) => profile.id === "python-default"));
            await assert.rejects(cove.sandbox({ profile: "large" }), /there are: .*python-default.*small/);
        }
        // The data folder stays, and its sandboxes with it.
        await using again = await connect({ config: { profiles, dataDir: config.dataDir } });
        await (await again.sandboxes.get(id)).delete();
        await assert.rejects(connect({ config: { profiles: [{ id: "tiny", resources: { memory: "1m" } }] } }), /memory/);
        await assert.rejects(connect({ config, start: false }), /started now/);
    } finally {
        await rm(folder, { recursive: true, force: true });
    }
});

test("a server that is started ends with its client", async () => {
    let url: string;
    {
        await using cove = await connect();
        url = cove.url;
        await using sandbox = await cove.sandbox();
        assert.equal((await sandbox.javascript.run("return 6 * 7")).value, 42);
    }
    await assert.rejects(fetch(`${url}/health`));
});

for (const how of ["killed", "forgotten"] as const) {
    test(`a server ends with its parent, ${how}`, async () => {
        const module = new URL("../src/local.js", import.meta.url).href;
        const code = `
            const { LocalServer } = await import(${JSON.stringify(module)});
            const server = await LocalServer.start(${JSON.stringify(BINARY)});
            const { execFileSync } = await import("node:child_process");
            console.log(execFileSync("pgrep", ["-P", String(process.pid), "-f", "serve --ephemeral"]).toString().trim());
            ${how === "killed" ? "setInterval(() => {}, 1000);" : ""}
        `;
        const parent = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
        const [pid] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
        if (how === "killed") parent.kill("SIGKILL");
        if (parent.exitCode === null && parent.signalCode === null) await once(parent, "exit");
        await gone(Number(pid));
    });
}
