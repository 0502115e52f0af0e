// The verbs of the interface that the page uses, with the types of docs/openapi.json.

import type { components } from "../../sdk/typescript/src/schema.js";
import { answer, ask, type Ask } from "./server.js";

type Schemas = components["schemas"];
export type Sandbox = Schemas["SandboxInfo"];
export type Profile = Schemas["ProfileInfo"];
export type HistoryEntry = Schemas["HistoryEntry"];
export type FileInfo = Schemas["FileInfo"];
export type JavaScriptResult = Schemas["JavaScriptExecResult"];
export type PythonResult = Schemas["PythonExecResult"];
export type ShellResult = Schemas["ShellExecResult"];
export type BrowserResult = Schemas["BrowserExecResult"];
export type PortInfo = Schemas["PortInfo"];
export type PortLink = Schemas["PortLink"];
export type ExecType = Schemas["ExecType"];
export type Barrier = Schemas["Barrier"];
export type Approval = Schemas["Approval"];

/** What a call takes besides its own arguments. */
type More = Pick<Ask, "signal">;

const box = (id: string) => `/v1/sandboxes/${encodeURIComponent(id)}`;
const query = (words: Record<string, string | number | boolean | undefined>) => {
    const given = Object.entries(words).filter(([, value]) => value !== undefined && value !== "");
    return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
};

export const profiles = () => ask<Schemas["ProfileList"]>("GET", "/v1/profiles?detail=true").then((list) => list.items);

/** All sandboxes, at most a thousand, and what they use. */
export async function sandboxes(more: More = {}): Promise<Sandbox[]> {
    const all: Sandbox[] = [];
    let cursor: string | undefined;
    do {
        const page: Schemas["SandboxList"] = await ask("GET", `/v1/sandboxes${query({ limit: 200, cursor, usage: true })}`, more);
        all.push(...page.items);
        cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && all.length < 1_000);
    return all;
}
export const sandbox = (id: string, more: More = {}) => ask<Sandbox>("GET", box(id), more);
export const createSandbox = (body: Schemas["CreateSandbox"]) => ask<Sandbox>("POST", "/v1/sandboxes", { body });
export const stopSandbox = (id: string) => ask("POST", `${box(id)}/stop`);
export const deleteSandbox = (id: string) => ask("DELETE", box(id));
export const extendSandbox = (id: string, seconds: number) =>
    ask<Sandbox>("POST", `${box(id)}/extend_ttl`, { body: { extend_by: seconds } });

/** Says in the record that a command is this page's own, to draw something: it is not what the agent did, and not shown. */
const OWN_TAG = "page-refs";
export const history = (id: string, words: { limit: number; offset: number; exec_type?: string | undefined; failed_only?: boolean | undefined; barred?: boolean }, more: More = {}) =>
    ask<Schemas["HistoryList"]>("GET", `${box(id)}/history${query({ ...words, without_tags: OWN_TAG })}`, more);
export const lastExecution = (id: string) => history(id, { limit: 1, offset: 0 }).then((list) => list.entries[0]);
export const execution = (id: string, execution: string) => ask<HistoryEntry>("GET", `${box(id)}/history/${encodeURIComponent(execution)}`);
export const trace = (id: string, reference: string) =>
    ask<unknown>("GET", `${box(id)}/browser/traces/${encodeURIComponent(reference)}`);

export const runJavaScript = (
    id: string,
    body: { code: string; input?: unknown; engine?: string; session?: boolean | string; timeout?: number; tools?: { name: string }[] },
    more: More = {},
) => ask<JavaScriptResult>("POST", `${box(id)}/javascript/exec`, { body, ...more });
export const answerTool = (id: string, call: string, result: unknown) =>
    ask("POST", `${box(id)}/javascript/tools/${encodeURIComponent(call)}`, { body: { result } });
export const runPython = (id: string, body: { code: string; timeout?: number; output_tag?: string }, more: More = {}) =>
    ask<PythonResult>("POST", `${box(id)}/python/exec`, { body, ...more });
export const runShell = (id: string, body: { command: string; timeout?: number }) =>
    ask<ShellResult>("POST", `${box(id)}/shell/exec`, { body });
export const runBrowser = (id: string, body: { cmd: string; timeout?: number }) =>
    ask<BrowserResult>("POST", `${box(id)}/browser/exec`, { body });
/** A command that only helps this page to draw. */
export const measureBrowser = (id: string, body: { cmd: string; timeout: number }) =>
    ask<BrowserResult>("POST", `${box(id)}/browser/exec`, { body: { ...body, tags: OWN_TAG } });

export const folder = (id: string, path: string) =>
    ask<Schemas["DirectoryList"]>("GET", `${box(id)}/filesystem/directories${query({ path: path || "." })}`).then((list) => list.entries);
export const writeFile = (id: string, path: string, content: string) =>
    ask("PUT", `${box(id)}/filesystem/files`, { body: { path, content } });
export const deleteFile = (id: string, path: string) => ask("DELETE", `${box(id)}/filesystem/files${query({ path })}`);
export const download = (id: string, path: string) =>
    answer("GET", `${box(id)}/filesystem/download${query({ path })}`).then((response) => response.arrayBuffer());
export async function upload(id: string, path: string, file: Blob): Promise<void> {
    const form = new FormData();
    form.append("path", path);
    form.append("file", file);
    await ask("POST", `${box(id)}/filesystem/upload`, { form });
}

export const ports = (id: string, more: More = {}) => ask<Schemas["PortList"]>("GET", `${box(id)}/ports`, more).then((list) => list.items);
export const portLinks = (id: string, more: More = {}) =>
    ask<Schemas["PortLinkList"]>("GET", `${box(id)}/port_links`, more).then((list) => list.items);
/** A link that works for an hour. */
export const createPortLink = (id: string, port: number) =>
    ask<Schemas["CreatedPortLink"]>("POST", `${box(id)}/port_links`, { body: { port } });
export const revokePortLink = (id: string, link: string) => ask("DELETE", `${box(id)}/port_links/${encodeURIComponent(link)}`);

export const artifact = (id: string, name: string) =>
    answer("GET", `${box(id)}/artifacts/${encodeURIComponent(name)}`).then((response) => response.arrayBuffer());

/** The calls of code that wait for a person, oldest first. */
export const approvals = (more: More = {}) => ask<Schemas["ApprovalList"]>("GET", "/v1/approvals", more).then((list) => list.items);
export const decide = (id: string, approve: boolean, body: { remember: boolean }) =>
    ask("POST", `/v1/approvals/${encodeURIComponent(id)}/${approve ? "approve" : "deny"}`, { body });

/** Where a sandbox's terminal is. */
export const terminalUrl = (id: string, cols: number, rows: number) =>
    `${location.origin.replace(/^http/, "ws")}${box(id)}/terminal${query({ cols, rows })}`;
/** Where a sandbox's browser is seen; with `control`, where a person may take it over. */
export const viewUrl = (id: string, control: boolean) =>
    `${location.origin.replace(/^http/, "ws")}${box(id)}/browser/view${query({ control: control ? true : undefined })}`;
export const eventsPath = (id: string, after: number | undefined) => `${box(id)}/events${query({ after })}`;
