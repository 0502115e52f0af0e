// What was written into files and not saved. It stays while the page does; who leaves the page is asked.

import { effect, signal } from "@preact/signals";

const drafts = signal<ReadonlyMap<string, string>>(new Map());
const key = (id: string, path: string) => `${id}\n${path}`;

export const draftOf = (id: string, path: string): string | undefined => drafts.value.get(key(id, path));

/** Keeps a text; none: it was saved, or given up. */
export function keepDraft(id: string, path: string, text: string | undefined): void {
    const all = new Map(drafts.value);
    if (text === undefined) all.delete(key(id, path));
    else all.set(key(id, path), text);
    drafts.value = all;
}

const ask = (event: BeforeUnloadEvent) => event.preventDefault();
effect(() => {
    if (drafts.value.size > 0) addEventListener("beforeunload", ask);
    else removeEventListener("beforeunload", ask);
});
