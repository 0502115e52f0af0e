// Writes src/schema.ts from the server's OpenAPI document.
//
//   node scripts/write-schema.mjs           writes it
//   node scripts/write-schema.mjs --check   says whether it is as the document wants it (exit code 1: no)

import { readFile, writeFile } from "node:fs/promises";
import openapiTypeScript, { astToString } from "openapi-typescript";

const document = new URL("../../../docs/openapi.json", import.meta.url);
const target = new URL("../src/schema.ts", import.meta.url);
const head = "// Written by scripts/write-schema.mjs from docs/openapi.json; a change here is lost.\n\n";

// What is asked and answered is enough: which path takes what is said by the package's verbs, and held by its tests.
const { openapi, info, components } = JSON.parse(await readFile(document, "utf8"));
const words = { openapi, info, paths: {}, components: { schemas: components.schemas } };
const ast = await openapiTypeScript(words, { alphabetize: true, defaultNonNullable: false });
const wanted = head + astToString(ast);
if (process.argv.includes("--check")) {
    const there = await readFile(target, "utf8").catch(() => "");
    if (there !== wanted) {
        console.error("src/schema.ts is not what docs/openapi.json says; run `npm run generate` in sdk/typescript");
        process.exit(1);
    }
} else {
    await writeFile(target, wanted);
}
