// Why a call failed, in one line: Python's errors end with it, JavaScript's begin with it. A code before it is told apart.

import type { HistoryEntry } from "../../api.js";
import { plainLine } from "../../parts/plain.js";

/** `js_execution_failed: …`: words with underscores before a colon. */
const CODE = /^([a-z]+(?:_[a-z]+)+): /;

/** The code that an error begins with, and the rest of it. */
export function errorOf(entry: HistoryEntry): { code: string | undefined; text: string } {
    const text = (entry.error ?? "").trim();
    const code = CODE.exec(text)?.[1];
    return { code, text: text.replace(CODE, "") };
}

export function causeOf(entry: HistoryEntry): string {
    const lines = errorOf(entry).text.split("\n");
    return plainLine((entry.exec_type === "python" ? lines.at(-1) : lines[0]) ?? "");
}
