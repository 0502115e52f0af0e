/**
 * For Node.js: finds a server or starts one.
 *
 * The order: what the caller says; `COVE_URL` and `COVE_KEY`; `BAY_ENDPOINT` and `BAY_TOKEN`; a server of the same user,
 * which leaves its address and its key in its data folder; a server of our own.
 */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { Cove, type CoveOptions } from "./client.js";
import { type ServerConfig, serveArguments, serveEnvironment } from "./config.js";
import { ServerNotFoundError } from "./errors.js";
import { LocalServer } from "./local.js";

export * from "./index.js";
export type { ServerConfig } from "./config.js";

/** Milliseconds to ask whether a server is there. It is on this machine, so that is plenty. */
const PROBE_MS = 2_000;

/** Which server. */
export interface ConnectOptions extends Partial<CoveOptions> {
    /** `true` always starts a server of its own, `false` never does; else one is started if none is found. */
    start?: boolean | undefined;
    /** What a server of its own is to be like; starts one. */
    config?: ServerConfig | undefined;
}

/** A client for the server that is found, or started: then it ends with the client, and with this process at the latest. */
export async function connect(options: ConnectOptions = {}): Promise<Cove> {
    const { start, config, ...rest } = options;
    if (config !== undefined && (rest.url !== undefined || start === false)) {
        throw new TypeError("a config is for a server that is started now: give no url, and not start: false");
    }
    if (start === true || config !== undefined) {
        if (rest.url !== undefined) throw new TypeError("a url and start: true together: which server should it be?");
        return await started(rest, config);
    }
    const found = named(rest) ?? (await running(rest.key));
    if (found !== undefined) return new Cove({ ...rest, ...found });
    if (start === false) {
        throw new ServerNotFoundError(`no server: give a url, set COVE_URL and COVE_KEY, or run \`cove serve\` (looked in ${dataDir()})`);
    }
    return await started(rest);
}

interface Place {
    url: string;
    key: string | undefined;
}

function named(options: Partial<CoveOptions>): Place | undefined {
    if (options.url !== undefined) {
        return { url: options.url, key: options.key ?? (env["COVE_KEY"] || env["BAY_TOKEN"] || undefined) };
    }
    for (const [address, secret] of [["COVE_URL", "COVE_KEY"], ["BAY_ENDPOINT", "BAY_TOKEN"]] as const) {
        const url = env[address];
        if (url) return { url, key: options.key ?? (env[secret] || undefined) };
    }
    return undefined;
}

/** The folder in which a server of this user keeps everything. */
export function dataDir(): string {
    return env["COVE_DATA_DIR"] || join(env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "cove");
}

/** The server that left word in the data folder, if it is still there. */
async function running(given: string | undefined): Promise<Place | undefined> {
    const word = (name: string) => readFile(join(dataDir(), name), "utf8").then((text) => text.trim(), () => "");
    const url = await word("address");
    const key = given ?? (await word("api-key"));
    if (url === "" || key === "") return undefined;
    try {
        // First without the key: a server that was killed leaves its word behind, and somebody else may listen there now.
        const health = await fetch(`${url}/health`, { signal: AbortSignal.timeout(PROBE_MS) });
        if (!health.ok || (await health.json())?.status !== "ok") return undefined;
        const headers = { authorization: `Bearer ${key}` };
        const profiles = await fetch(`${url}/v1/profiles`, { headers, signal: AbortSignal.timeout(PROBE_MS) });
        await profiles.body?.cancel();
        return profiles.ok ? { url, key } : undefined;
    } catch {
        return undefined;
    }
}

async function started(options: Partial<CoveOptions>, config: ServerConfig = {}): Promise<Cove> {
    const server = await LocalServer.start(env["COVE_BIN"] || "cove", serveEnvironment(config), serveArguments(config));
    return new Cove({ ...options, url: server.url, key: server.key }, () => server.close());
}
