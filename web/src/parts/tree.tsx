// A JSON value as a tree. Everything in it is text of a guest, and stays text.

import { useState } from "preact/hooks";
import { t } from "../words.js";
import { plain, plainLine } from "./plain.js";

/** What one level shows before it asks. */
const SHOWN = 100;

export function Tree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
    const [open, setOpen] = useState(depth < 2);
    const [most, setMost] = useState(SHOWN);
    const label = name === undefined ? null : <span class="tree-name">{plainLine(name)}: </span>;
    if (typeof value !== "object" || value === null) {
        return (
            <div class="tree-leaf">
                {label}
                <span class={`tree-${value === null ? "null" : typeof value}`}>{typeof value === "string" ? plain(JSON.stringify(value)) : String(value)}</span>
            </div>
        );
    }
    const entries = Object.entries(value);
    const [before, after] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
    if (entries.length === 0) {
        return (
            <div class="tree-leaf">
                {label}
                {before + after}
            </div>
        );
    }
    return (
        <div class="tree">
            <button class="tree-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
                {label}
                <span class="tree-sum">{`${before}${open ? "" : `… ${entries.length} …${after}`}`}</span>
            </button>
            {open && (
                <div class="tree-inner">
                    {entries.slice(0, most).map(([key, inner]) => (
                        <Tree key={key} name={key} value={inner} depth={depth + 1} />
                    ))}
                    {entries.length > most && (
                        <button class="plain" onClick={() => setMost(most + 10 * SHOWN)}>
                            {t("more", entries.length - most)}
                        </button>
                    )}
                </div>
            )}
            {open && <div class="tree-end">{after}</div>}
        </div>
    );
}
