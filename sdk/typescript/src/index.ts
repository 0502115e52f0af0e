/** Cove: a sheltered place for the code that AI agents write. */

export { Artifacts } from "./artifacts.js";
export { type BatchOptions, Browser, type BrowserOptions, type ReplayOptions, type StepOptions } from "./browser.js";
export type { OnOutput, Output, Tool, Tools } from "./calls.js";
export { Approvals } from "./approvals.js";
export { Cargos } from "./cargos.js";
export { Cove, type CoveOptions } from "./client.js";
export * from "./errors.js";
export { Files, type FindOptions, type GrepOptions } from "./files.js";
export type { Content } from "./form.js";
export { History, type HistoryQuery } from "./history.js";
export type { Image } from "./image.js";
export { type Engine, JavaScript, type JavaScriptOptions, JavaScriptSession, type SessionOptions } from "./javascript.js";
export { Processes, type ProcessOptions } from "./processes.js";
export { Python, type PythonOptions } from "./python.js";
export {
    type BrowserBatch,
    type BrowserReplay,
    type BrowserRun,
    check,
    type FileAnswer,
    type JavaScriptRun,
    type PythonRun,
    type Screenshot,
    type ShellRun,
} from "./results.js";
export { Sandbox } from "./sandbox.js";
export { Sandboxes, type SandboxQuery } from "./sandboxes.js";
export { Shell, type ShellOptions } from "./shell.js";
export { type CandidateQuery, type ReleaseQuery, Skills } from "./skills.js";
export type { CallOptions, Schemas } from "./wire.js";
