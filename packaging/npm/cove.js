#!/usr/bin/env node
// Starts the binary of this platform's package, with the same arguments, streams, environment and exit code.
"use strict";
const { spawn } = require("node:child_process");
const { readdirSync } = require("node:fs");

function binary() {
    const usual = `@cove/cli-linux-${process.arch}`;
    const musl = `${usual}-musl`;
    // npm installs only what fits; older ones install both. A machine with glibc may have musl besides.
    const isMusl = () => {
        try {
            return readdirSync("/lib").some((name) => name.startsWith("ld-musl-"));
        } catch {
            return false;
        }
    };
    for (const name of isMusl() ? [musl, usual] : [usual, musl]) {
        try {
            return require.resolve(`${name}/bin/cove`);
        } catch {
            // The next one.
        }
    }
    console.error(
        process.platform === "linux"
            ? `error: there is no binary of Cove for linux-${process.arch} here: install without --omit=optional, or add ${usual}`
            : `error: Cove runs on Linux; on ${process.platform}, run it in a Linux container`,
    );
    process.exit(5);
}

const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
// The terminal sends its interrupt to both; the binary decides what it means.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
    console.error(`error: ${error.message}`);
    process.exit(5);
});
child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
});
