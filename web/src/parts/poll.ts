// Asking again and again while somebody looks, and never while nobody does.

import { useEffect } from "preact/hooks";

/** Calls `ask` at once and then so often, one call at a time; not while the page is hidden. */
export function usePoll(ask: (signal: AbortSignal) => Promise<void>, ms: number, again: unknown[] = []): void {
    useEffect(() => {
        const stop = new AbortController();
        let timer: ReturnType<typeof setTimeout> | undefined;
        const turn = async () => {
            timer = undefined;
            if (document.hidden) return;
            await ask(stop.signal).catch(() => undefined);
            if (!stop.signal.aborted && timer === undefined) timer = setTimeout(() => void turn(), ms);
        };
        const seen = () => !document.hidden && timer === undefined && void turn();
        document.addEventListener("visibilitychange", seen);
        void turn();
        return () => {
            stop.abort();
            clearTimeout(timer);
            document.removeEventListener("visibilitychange", seen);
        };
    }, again);
}
