// The last call of each sandbox whose row is in sight, looked up one after the other, and again while it is.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type HistoryEntry, lastExecution } from "../../api.js";

/** How often it is looked up again, in milliseconds. */
const AGAIN = 8_000;
/** Rows that come into sight together are one look. */
const TOGETHER = 120;

/** `null`: nothing has run; none: not known yet. */
export type LastCalls = ReadonlyMap<string, HistoryEntry | null>;

export interface Watched {
    calls: LastCalls;
    /** Watches a row for as long as it is there; the answer ends that. */
    watch: (row: Element, id: string) => () => void;
}

export function useLastCalls(): Watched {
    const [calls, setCalls] = useState<LastCalls>(new Map());
    const sight = useRef(new Set<string>());
    const ids = useRef(new WeakMap<Element, string>());
    const known = useRef(new Map<string, number>());
    const look = useRef<IntersectionObserver | undefined>();
    const soon = useRef<() => void>(() => undefined);
    const timer = useRef<ReturnType<typeof setTimeout> | undefined>();
    const observer = () =>
        (look.current ??= new IntersectionObserver((entries) => {
            for (const one of entries) {
                const id = ids.current.get(one.target);
                if (id === undefined) continue;
                if (one.isIntersecting) sight.current.add(id);
                else sight.current.delete(id);
            }
            soon.current();
        }));
    useEffect(() => {
        let there = true;
        let busy = false;
        const turn = async () => {
            timer.current = undefined;
            if (busy || document.hidden) return;
            busy = true;
            const due = [...sight.current].filter((id) => Date.now() - (known.current.get(id) ?? 0) >= AGAIN);
            const found = new Map<string, HistoryEntry | null>();
            for (const id of due) {
                if (!there) return;
                await lastExecution(id).then((entry) => found.set(id, entry ?? null)).catch(() => undefined);
                known.current.set(id, Date.now());
            }
            busy = false;
            if (there && found.size > 0) setCalls((all) => new Map([...all, ...found]));
            // What came into sight meanwhile is looked up at once.
            if (there && [...sight.current].some((id) => !known.current.has(id))) soon.current();
        };
        soon.current = () => void (timer.current ??= setTimeout(() => void turn(), TOGETHER));
        const again = setInterval(() => soon.current(), AGAIN / 4);
        soon.current();
        return () => {
            there = false;
            clearInterval(again);
            clearTimeout(timer.current);
            look.current?.disconnect();
        };
    }, []);
    const watch = useCallback((row: Element, id: string) => {
        ids.current.set(row, id);
        observer().observe(row);
        return () => {
            look.current?.unobserve(row);
            sight.current.delete(id);
        };
    }, []);
    return { calls, watch };
}
