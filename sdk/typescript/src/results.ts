/** What guest code answers: the server's own answers, with pictures as bytes. */

import { RunFailedError } from "./errors.js";
import type { Image } from "./image.js";
import type { Schemas } from "./wire.js";

/** What Python said. */
export interface PythonRun extends Omit<Schemas["PythonExecResult"], never> {
    /** Pictures that were shown, as bytes. */
    images: Image[];
}

/** What the shell said. */
export type ShellRun = Schemas["ShellExecResult"];

/** What JavaScript said. */
export interface JavaScriptRun<T = unknown> extends Omit<Schemas["JavaScriptExecResult"], never> {
    /** What the code returned; `undefined` after a failure. */
    value: T | undefined;
    /** The failure for programs: code, message, line, frame. */
    failure: Record<string, unknown> | undefined;
    /** Console lines. */
    logs: string;
    /** What was lost of the value on its way (a `Map` is `{}` in JSON), and what to write instead. */
    warnings: string[];
    /** Whether the session called `final_answer`. */
    isFinal: boolean;
    /** Pictures that were drawn, as bytes. */
    images: Image[];
}

/** The result of a browser command. It contains text of the page: do not trust it. */
export type BrowserRun = Schemas["BrowserExecResult"];

/** The results of several browser commands. */
export type BrowserBatch = Schemas["BrowserBatchResult"];

/** What the replay of a skill did. */
export type BrowserReplay = Schemas["BrowserSkillResult"];

/** A picture of the page. */
export interface Screenshot extends Omit<Schemas["BrowserExecResult"], never> {
    /** Where it is in the workspace. */
    path: string;
    /** The picture; none if none could be taken. */
    image: Image | undefined;
}

/** What a file tool answers: blocks of content, as a model gets them, and facts for programs. */
export interface FileAnswer {
    content: Array<{ type: "text"; text: string } | { type: "image"; mimeType: string; data: string }>;
    details?: Record<string, unknown>;
    /** All text of it. */
    text: string;
}

/** The result itself if it succeeded; else throws `RunFailedError`. Failures of guest code are values until then. */
export function check<T extends { success: boolean; error?: string | null; stderr?: string; output?: string }>(result: T): T {
    if (result.success) return result;
    throw new RunFailedError(result.error || result.stderr || result.output || "failed without an error message", result);
}
