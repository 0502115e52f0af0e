// Builds the page into crates/page/dist, each file gzipped, as the binary embeds it.
//
//   node scripts/build.mjs           builds it
//   node scripts/build.mjs --check   says whether what is there is what the sources give (exit code 1: no)

import { mkdtemp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { build } from "vite";

/** What may be loaded before the first screen is seen, gzipped. */
const FIRST_PAINT_BYTES = 150 * 1024;

const web = fileURLToPath(new URL("..", import.meta.url));
const dist = join(web, "../crates/page/dist");
const outDir = await mkdtemp(join(tmpdir(), "cove-page-"));
try {
    await build({ root: web, logLevel: "warn", build: { outDir, emptyOutDir: true } });
    const files = new Map();
    for (const entry of await readdir(outDir, { recursive: true, withFileTypes: true })) {
        // The icon lies beside its folder only in `public`.
        if (entry.isFile()) files.set(basename(entry.name), await readFile(join(entry.parentPath, entry.name)));
    }
    files.set("licences.txt", Buffer.from(await licences()));
    tell(files);
    if (process.argv.includes("--check")) await compare(files);
    else await write(files);
} finally {
    await rm(outDir, { recursive: true, force: true });
}

/** The licences of what is in the page. */
async function licences() {
    const lock = JSON.parse(await readFile(join(web, "package-lock.json"), "utf8"));
    const roots = ["preact", "@preact/signals", "uplot", "@xterm/xterm", "@xterm/addon-fit", "@codemirror/lang-javascript",
        "@codemirror/lang-python", "@codemirror/commands", "@codemirror/lint", "@codemirror/autocomplete"];
    const seen = new Map();
    const add = async (name) => {
        const entry = lock.packages[`node_modules/${name}`];
        if (seen.has(name) || entry === undefined) return;
        const folder = join(web, "node_modules", name);
        const file = (await readdir(folder)).find((one) => /^licen[sc]e/i.test(one));
        const text = file === undefined ? entry.license : await readFile(join(folder, file), "utf8");
        seen.set(name, `${name} ${entry.version}\n\n${text.trim().replaceAll("\r\n", "\n")}\n`);
        for (const other of Object.keys(entry.dependencies ?? {})) await add(other);
    };
    for (const name of roots) await add(name);
    return [...seen.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text).join(`\n${"-".repeat(72)}\n\n`);
}

/** How large the page is, and whether its beginning is small enough. */
function tell(files) {
    const size = (name) => gzipSync(files.get(name), { level: 9 }).length;
    const index = files.get("index.html").toString("utf8");
    const first = ["index.html", ...[...index.matchAll(/\/page\/([\w.-]+)/g)].map((found) => found[1])];
    const bytes = first.reduce((sum, name) => sum + size(name), 0);
    for (const name of [...files.keys()].sort()) {
        console.log(`${(size(name) / 1024).toFixed(1).padStart(8)} KB  ${name}${first.includes(name) ? "  (first paint)" : ""}`);
    }
    console.log(`${(bytes / 1024).toFixed(1).padStart(8)} KB  first paint, gzipped`);
    if (bytes > FIRST_PAINT_BYTES) throw new Error(`the first paint is larger than ${FIRST_PAINT_BYTES} bytes`);
}

async function write(files) {
    await rm(dist, { recursive: true, force: true });
    await mkdir(dist, { recursive: true });
    for (const [name, bytes] of files) await writeFile(join(dist, `${name}.gz`), gzipSync(bytes, { level: 9 }));
}

/** Compares what is in the files, not their packing: that depends on the version of zlib. */
async function compare(files) {
    const there = new Map();
    for (const name of await readdir(dist)) there.set(name.replace(/\.gz$/, ""), gunzipSync(await readFile(join(dist, name))));
    const wrong = [...files].filter(([name, bytes]) => !there.get(name)?.equals(bytes)).map(([name]) => name);
    wrong.push(...[...there.keys()].filter((name) => !files.has(name)));
    if (wrong.length > 0) {
        console.error(`crates/page/dist is not what web/ gives (${wrong.join(", ")}); run \`npm run build\` in web/`);
        process.exitCode = 1;
    }
}
