// The keyboard: every shortcut of the page, so that `?` can show them all.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { t, type Word } from "./words.js";

interface Shortcut {
    keys: string;
    word: Word;
    /** None: whoever has the keyboard then acts itself. */
    act?: (() => void) | undefined;
}

/** All that hold now, the screen's own last. */
export const shortcuts = signal<Shortcut[]>([]);
export const overlay = signal(false);

/** What was typed of a shortcut of two keys. */
let first = "";
let firstAt = 0;

addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const held = event.ctrlKey || event.metaKey;
    const key = (held ? "Ctrl+" : "") + (event.key.length === 1 && !held ? event.key : event.key.length === 1 ? event.key.toUpperCase() : event.key);
    if (!held && typing(event)) return;
    const both = Date.now() - firstAt < 1_000 ? `${first} ${key}` : "";
    const ours = shortcuts.value.filter((one) => one.act !== undefined).reverse();
    const found = ours.find((one) => one.keys === both) ?? ours.find((one) => one.keys === key);
    if (key === "Escape" && overlay.value) overlay.value = false;
    else if (found !== undefined) {
        event.preventDefault();
        found.act?.();
    }
    [first, firstAt] = [key, Date.now()];
});

/** Whether somebody is writing. */
function typing(event: KeyboardEvent): boolean {
    const [target] = event.composedPath();
    return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

/** A shortcut for as long as a component is there; without `act`, one that is only told of; without `word`, none for now. */
export function useKey(keys: string, word: Word | undefined, act?: () => void): void {
    const latest = useRef(act);
    latest.current = act;
    // With the first paint: a key that is pressed at once is heard.
    useLayoutEffect(() => {
        if (word === undefined) return;
        const one = { keys, word, act: act && (() => latest.current?.()) };
        shortcuts.value = [...shortcuts.value, one];
        return () => {
            shortcuts.value = shortcuts.value.filter((other) => other !== one);
        };
    }, [keys, word]);
}

/** All shortcuts that hold now, with what they do. */
export const listed = (): [string, string][] => [...new Map(shortcuts.value.map((one) => [one.keys, t(one.word)]))];
