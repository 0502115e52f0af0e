// Where we are: the fragment of the address. `#/sandbox/ID/files?path=a` is `["sandbox", "ID", "files"]` with a query.

import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

export const route = computed(() => {
    const [path = "", words = ""] = hash.value.replace(/^#\/?/, "").split("?", 2);
    const segments = path.split("/").filter((part) => part !== "");
    return { segments: segments.map(decoded), query: new URLSearchParams(words) };
});

export function go(path: string): void {
    location.hash = `#/${path}`;
}

/** Replaces the address without a new entry in the history. */
export function replace(path: string): void {
    history.replaceState(null, "", `#/${path}`);
    hash.value = location.hash;
}

function decoded(text: string): string {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}
