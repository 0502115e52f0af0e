/** The package is what the server's document says: every operation has a verb, and a verb says only what the document knows. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as sdk from "../src/index.js";
import { ROOT, serve } from "./server.js";

const { server } = await serve();

interface Operation {
    operationId: string;
    parameters?: Array<{ name: string; in: string }>;
    requestBody?: { content: Record<string, { schema: { $ref?: string } }> };
    responses: Record<string, unknown>;
}
const document = JSON.parse(readFileSync(join(ROOT, "docs/openapi.json"), "utf8")) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, { properties?: object }> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`),
        names: path.split("{").length,
        operation,
    })),
);

/** For people and operators: a client of sandboxes does not need them. */
const NOT_OFFERED = new Set(["run_collector", "get_collector"]);
const seen = new Set<string>();

/** `fetch`, with a look at everything that passes. */
const looking: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    const found = operations.filter((one) => one.method === (init?.method ?? "GET") && one.path.test(url.pathname));
    const { operation } = found.sort((a, b) => a.names - b.names)[0] ?? assert.fail(`${init?.method} ${url.pathname} is not in the document`);
    seen.add(operation.operationId);
    const queries = (operation.parameters ?? []).filter((one) => one.in === "query").map((one) => one.name);
    for (const name of url.searchParams.keys()) assert.ok(queries.includes(name), `${operation.operationId}: no ${name} in the query`);
    if (typeof init?.body === "string") {
        const reference = operation.requestBody?.content["application/json"]?.schema.$ref?.split("/").at(-1);
        const known = document.components.schemas[reference ?? ""]?.properties;
        for (const name of Object.keys(JSON.parse(init.body) as object)) {
            assert.ok(known === undefined || name in known, `${operation.operationId}: the document knows no ${name}`);
        }
    }
    const response = await fetch(input, init);
    assert.ok(String(response.status) in operation.responses, `${operation.operationId}: ${response.status} is not in the document`);
    return response;
};

test("every operation has a verb", async () => {
    const cove = new sdk.Cove({ url: server.url, key: server.key, retries: 0, fetch: looking });
    const id = "sandbox-000000000000";
    const info = { id, status: "idle", profile: "none", cargo_id: "", capabilities: [], created_at: "" } as const;
    await using made = await cove.sandbox();
    const sandbox = new sdk.Sandbox(Reflect.get(made, "transport"), { ...info, capabilities: [] });
    const { javascript, python, shell, processes, files, browser, history, artifacts } = sandbox;
    const run = { timeout: 5, include_code: true, description: "a sample", tags: "one" };
    const step = { ...run, include_code: undefined, learn: false, include_trace: false };
    const calls: Array<() => Promise<unknown>> = [
        () => cove.health(),
        () => cove.profiles({ detail: true }),
        () => cove.sandboxes.get(id),
        () => cove.sandboxes.list({ limit: 1, status: "idle", usage: true }),
        () => cove.sandboxes.delete(id),
        () => cove.cargos.create({ size_limit_mb: 1 }),
        () => cove.cargos.get("ws-000000000000"),
        () => cove.cargos.list({ managed: true, limit: 1 }),
        () => cove.cargos.delete("ws-000000000000"),
        () => cove.approvals.list(),
        () => cove.approvals.approve("a-1", { remember: true }),
        () => cove.approvals.deny("a-1", { reason: "no" }),
        () => sandbox.refresh(),
        () => sandbox.extendTtl(1),
        () => sandbox.keepalive(),
        () => sandbox.stop(),
        () => sandbox.delete(),
        () => sandbox.ports(),
        () => sandbox.portUrl(3000, { seconds: 60 }),
        () => sandbox.portLinks(),
        () => sandbox.revokePortLink("link-000000000000"),
        () => sandbox.network(),
        () => sandbox.setNetwork(["example.com"]),
        () => sandbox.events({ after: 1 }).next(),
        () => javascript.run("return 1", { a: 1 }, { ...run, engine: "embedded" }),
        () => javascript.session({ tools: { tool: () => 1 } }).run("tool()"),
        () => made.javascript.session({ tools: { tool: () => 1 } }).run("await tool()"),
        () => javascript.session().reset(),
        () => python.exec("1", run),
        () => shell.exec("true", { ...run, cwd: "." }),
        () => processes.start("true", { name: "a", env: { A: "b" }, cwd: ".", input: true, terminal: { cols: 80, rows: 24 }, timeout: 5, restart: true }),
        () => processes.list(),
        () => processes.get("a"),
        () => processes.follow("a", { from: 0 }).next(),
        () => processes.write("a", "a", { data: "YQ==", end: true }),
        () => processes.kill("a"),
        () => processes.resize("a", { cols: 80, rows: 24 }),
        () => files.watch("a", { recursive: true }).next(),
        () => files.read("a"),
        () => files.write("a", "a"),
        () => files.delete("a"),
        () => files.list(),
        () => files.upload("a", "a"),
        () => files.download("a"),
        () => files.edit("a", "a", "b"),
        () => files.grep("a", { path: ".", glob: "*", ignoreCase: true, literal: true, context: 1, limit: 1 }),
        () => files.find("a", { path: ".", limit: 1 }),
        () => browser.exec("get title", step),
        () => browser.batch(["get title"], { ...step, stop_on_error: true }),
        () => browser.navigate("about:blank", { timeout: 5 }),
        () => browser.snapshot({ interactive: true }),
        () => browser.click("@e1"),
        () => browser.fill("@e1", "a"),
        () => browser.screenshot({ full_page: true }),
        () => browser.runSkill("a", { stop_on_error: true, include_trace: true }),
        () => browser.trace("blob-000000000000"),
        () => history.list({ exec_type: "python", success_only: true, limit: 1, offset: 0, tags: "a", has_notes: true, has_description: true }),
        () => history.last({ exec_type: "python" }),
        () => history.get("exec-000000000000"),
        () => history.annotate("exec-000000000000", { description: "a", tags: "a", notes: "a" }),
        () => artifacts.list(),
        () => artifacts.download("a.png"),
        () => cove.skills.createPayload({ a: 1 }),
        () => cove.skills.payload("blob:blob-000000000000"),
        () => cove.skills.createCandidate({ skill_key: "a", source_execution_ids: ["exec-000000000000"] }),
        () => cove.skills.listCandidates({ status: "draft", skill_key: "a", limit: 1, offset: 0 }),
        () => cove.skills.candidate("sc-000000000000"),
        () => cove.skills.deleteCandidate("sc-000000000000", { reason: "a" }),
        () => cove.skills.evaluate("sc-000000000000", { passed: true, score: 1, benchmark_id: "a", report: "a" }),
        () => cove.skills.promote("sc-000000000000", { stage: "canary" }),
        () => cove.skills.listReleases({ skill_key: "a", active_only: true, stage: "canary", limit: 1, offset: 0 }),
        () => cove.skills.release("sr-000000000000"),
        () => cove.skills.deleteRelease("sr-000000000000", { reason: "a" }),
        () => cove.skills.rollback("sr-000000000000"),
        () => cove.skills.releaseHealth("sr-000000000000"),
    ];
    for (const call of calls) {
        await call().catch((fault: unknown) => {
            // Most refuse: nothing that is named exists.
            if (!(fault instanceof sdk.ApiError)) throw fault;
        });
    }
    const missing = operations.map((one) => one.operation.operationId).filter((name) => !seen.has(name) && !NOT_OFFERED.has(name));
    assert.deepEqual(missing, []);
});
