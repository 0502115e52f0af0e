/**
 * A server of our own: one `cove serve --ephemeral` on loopback, with its own key, that ends with us.
 *
 * It says its address on standard output, ends when it is told to and, because it watches its standard input, also when
 * this process is killed; then it deletes what it kept.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { env } from "node:process";
import { createInterface } from "node:readline";
import { ServerNotFoundError } from "./errors.js";

/** Milliseconds for a server to come up. It needs a fraction of that; a loaded machine needs more. */
const START_MS = 60_000;
/** Milliseconds for a server to end its sandboxes before it is killed. */
const STOP_MS = 30_000;
/** Lines of the server's log that are kept for the message when it does not come up. */
const KEPT_LINES = 40;

/** A running server. */
export class LocalServer {
    readonly #child: ChildProcess;

    private constructor(child: ChildProcess, readonly url: string, readonly key: string) {
        this.#child = child;
    }

    /** Starts one. */
    static async start(binary: string, environment: Record<string, string> = {}, args: readonly string[] = []): Promise<LocalServer> {
        const key = `sk-bay-${randomBytes(32).toString("hex")}`;
        // Configuration of another server must not leak into this one.
        const inherited = Object.entries(env).filter(([name]) => !name.startsWith("BAY_"));
        const child = spawn(binary, ["serve", "--ephemeral", ...args], {
            stdio: ["pipe", "pipe", "pipe"],
            env: { ...Object.fromEntries(inherited), ...environment, BAY_API_KEY: key },
            cwd: tmpdir(),
            // Ctrl-C is for the program; it ends the server in its own time.
            detached: true,
        });
        const lines: string[] = [];
        createInterface({ input: child.stderr }).on("line", (line) => {
            lines.push(line);
            if (lines.length > KEPT_LINES) lines.shift();
        });
        const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
        try {
            const url = await new Promise<string>((resolve, reject) => {
                child.once("error", reject);
                child.once("close", () => reject(new Error(lines.join("\n") || "it said nothing")));
                createInterface({ input: child.stdout }).once("line", resolve);
            });
            const server = new LocalServer(child, url.trim(), key);
            // A program that forgets to close it may still end: then its standard input closes, and it ends too.
            child.unref();
            for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as { unref(): void }).unref();
            return server;
        } catch (fault) {
            child.kill("SIGKILL");
            throw new ServerNotFoundError(`\`${binary} serve\` did not come up: ${(fault as Error).message}`, { cause: fault });
        } finally {
            clearTimeout(timer);
        }
    }

    /** Ends it. May be called again. */
    async close(): Promise<void> {
        const child = this.#child;
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.ref();
        const ended = once(child, "exit");
        child.stdin?.end();
        child.kill("SIGTERM");
        const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
        await ended;
        clearTimeout(timer);
    }
}
