// The line that does the same: for curl, Python, TypeScript and the command line, ready to copy.

import { signal } from "@preact/signals";
import { t } from "../words.js";
import { Copy } from "./copy.js";

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
    const parts = ["curl -H \"Authorization: Bearer $COVE_KEY\""];
    if (method !== "GET" && !(method === "POST" && body !== undefined)) parts.push(`-X ${method}`);
    if (body !== undefined) parts.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`);
    parts.push(quoted(`${location.origin}${path}`));
    return parts.join(" ");
}

/** A text as a literal of Python and TypeScript alike. */
export const literal = (text: string): string => JSON.stringify(text);

/** A program in Python; `id`: with this sandbox as `sandbox`. */
export const python = (line: string, id?: string): string =>
    ["from cove import Cove", "", "with Cove() as cove:", ...(id === undefined ? [] : [`    sandbox = cove.sandboxes.get(${literal(id)})`]), `    ${line}`].join("\n");

/** A program in TypeScript; `id`: with this sandbox as `sandbox`. */
export const typescript = (line: string, id?: string): string =>
    [
        'import { connect } from "@cove/sdk/node";',
        "",
        "await using cove = await connect();",
        ...(id === undefined ? [] : [`const sandbox = await cove.sandboxes.get(${literal(id)});`]),
        line,
    ].join("\n");

export function Same({ lines }: { lines: Lines }) {
    const names = (Object.keys(NAMES) as (keyof Lines)[]).filter((name) => lines[name] !== undefined);
    const name = names.includes(chosen.value) ? chosen.value : names[0]!;
    const line = lines[name]!;
    return (
        <section class="same" aria-label={t("same")}>
            <div class="same-bar">
                <span class="quiet same-title">{t("same")}</span>
                <div class="choices" role="group" aria-label={t("same")}>
                    {names.map((one) => (
                        <button key={one} class="plain" aria-pressed={one === name} onClick={() => (chosen.value = one)}>
                            {NAMES[one]}
                        </button>
                    ))}
                </div>
                <Copy text={line} />
            </div>
            <pre tabIndex={0}>{line}</pre>
        </section>
    );
}
