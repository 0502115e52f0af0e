/** One real server for the tests of a file. */

import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { Cove } from "../src/index.js";
import { LocalServer } from "../src/local.js";

/** The root of the repository; tests run from `build/test`. */
export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** The `cove` under test. */
export const BINARY = process.env["COVE_BIN"] || `${ROOT}target/debug/cove`;

process.env["COVE_BIN"] = BINARY;
const browsers = `${ROOT}.tools/agent-browser/node_modules/agent-browser/bin/`;
process.env["COVE_AGENT_BROWSER"] ||= `${browsers}agent-browser-linux-${process.arch}`;
process.env["COVE_DATA_DIR"] = "/nonexistent/cove";
for (const name of ["COVE_URL", "COVE_KEY", "BAY_ENDPOINT", "BAY_TOKEN"]) delete process.env[name];

/** Starts one; it ends after the file's last test. */
export async function serve(): Promise<{ server: LocalServer; cove: Cove }> {
    const server = await LocalServer.start(BINARY);
    after(() => server.close());
    return { server, cove: new Cove({ url: server.url, key: server.key }) };
}
