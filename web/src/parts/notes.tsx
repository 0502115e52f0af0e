// Short notes at the bottom: what was done, what was refused.

import { signal } from "@preact/signals";
import { said } from "../server.js";
import { t } from "../words.js";

interface Note {
    id: number;
    text: string;
    bad: boolean;
}

const notes = signal<Note[]>([]);
let last = 0;

/** Shows a note for a few seconds; refusals stay longer. */
export function note(text: string, bad = false): void {
    const one = { id: ++last, text: text.slice(0, 500), bad };
    notes.value = [...notes.value.slice(-3), one];
    setTimeout(() => (notes.value = notes.value.filter((other) => other !== one)), bad ? 10_000 : 3_000);
}

/** Shows why something was refused. */
export const refused = (fault: unknown): void => note(said(fault), true);

export function Notes() {
    return (
        <div class="notes" role="status" aria-live="polite">
            {notes.value.map((one) => (
                <div key={one.id} class={one.bad ? "note bad" : "note"}>
                    {one.text}
                    <button class="plain" aria-label={t("close")} onClick={() => (notes.value = notes.value.filter((other) => other !== one))}>
                        ✕
                    </button>
                </div>
            ))}
        </div>
    );
}
