// The line that does the same: for curl, Python, TypeScript and the command line, ready to copy.

import { signal } from "@preact/signals";
import { t } from "../words.js";
import { note } from "./notes.js";

export interface Lines {
    curl?: string;
    python?: string;
    typescript?: string;
    cove?: string;
}

const NAMES = { curl: "curl", python: "Python", typescript: "TypeScript", cove: "cove" } as const;
const chosen = signal<keyof Lines>("curl");

/** A text as one word of a shell. */
export const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** A call with curl. */
export function curl(method: string, path: string, body?: unknown): string {
    const parts = ["curl -H \"Authorization: Bearer $KEY\""];
    if (method !== "GET" && !(method === "POST" && body !== undefined)) parts.push(`-X ${method}`);
    if (body !== undefined) parts.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`);
    parts.push(quoted(`${location.origin}${path}`));
    return parts.join(" ");
}

/** A text as a literal of Python and TypeScript alike. */
export const literal = (text: string): string => JSON.stringify(text);

export function Same({ lines }: { lines: Lines }) {
    const names = (Object.keys(NAMES) as (keyof Lines)[]).filter((name) => lines[name] !== undefined);
    const name = names.includes(chosen.value) ? chosen.value : names[0]!;
    const line = lines[name]!;
    const copy = async () => {
        await navigator.clipboard.writeText(line);
        note(t("copied"));
    };
    return (
        <details class="same">
            <summary>{t("same")}</summary>
            <div class="same-line">
                <div class="choices" role="group" aria-label={t("same")}>
                    {names.map((one) => (
                        <button key={one} class="plain" aria-pressed={one === name} onClick={() => (chosen.value = one)}>
                            {NAMES[one]}
                        </button>
                    ))}
                </div>
                <pre tabIndex={0}>{line}</pre>
                <button onClick={() => void copy()}>{t("copy")}</button>
            </div>
        </details>
    );
}
