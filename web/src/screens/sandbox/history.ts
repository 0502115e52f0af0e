// The record of a sandbox in pages, read as they come into sight. A filter that the server does not have reads all of them.

import { useEffect, useRef, useState } from "preact/hooks";
import { history, type HistoryEntry } from "../../api.js";
import { useEvents } from "../../events.js";
import { said } from "../../server.js";

const PAGE = 200;
/** Beyond this a search does not read. */
const MAX_SEARCHED = 20_000;

export interface Filter {
    kind: string;
    failed: boolean;
    text: string;
}

export interface Found {
    count: number;
    total: number;
    at: (index: number) => HistoryEntry | undefined;
    seen: (from: number, to: number) => void;
    fault: string;
}

export function useHistory(id: string, filter: Filter): Found {
    const pages = useRef(new Map<number, HistoryEntry[] | "asked">());
    const [total, setTotal] = useState(0);
    const [fault, setFault] = useState("");
    const [, again] = useState(0);
    const [all, setAll] = useState<HistoryEntry[] | undefined>();
    const [version, setVersion] = useState(0);
    const sieved = filter.failed || filter.text.trim() !== "";
    const sight = useRef<[number, number]>([0, PAGE]);

    const load = (page: number) => {
        if (pages.current.has(page)) return;
        const mine = pages.current;
        mine.set(page, "asked");
        history(id, { limit: PAGE, offset: page * PAGE, exec_type: filter.kind || undefined }).then(
            (list) => {
                mine.set(page, list.entries);
                setTotal(list.total);
                setFault("");
                again((count) => count + 1);
            },
            (reason: unknown) => {
                mine.delete(page);
                setFault(said(reason));
            },
        );
    };
    const seen = (from: number, to: number) => {
        sight.current = [from, to];
        for (let page = Math.floor(from / PAGE); page * PAGE <= Math.max(to - 1, 0); page++) load(page);
    };
    useEffect(() => {
        pages.current = new Map();
        seen(...sight.current);
    }, [id, filter.kind, version]);

    useEffect(() => {
        if (!sieved) return setAll(undefined);
        const stop = new AbortController();
        void (async () => {
            const found: HistoryEntry[] = [];
            for (let offset = 0; offset < MAX_SEARCHED; ) {
                const list = await history(id, { limit: 500, offset, exec_type: filter.kind || undefined }, { signal: stop.signal });
                found.push(...list.entries);
                setAll([...found]);
                offset += list.entries.length;
                if (list.entries.length === 0 || offset >= list.total) break;
            }
        })().catch(() => undefined);
        return () => stop.abort();
    }, [id, filter.kind, sieved, version]);

    // Several runs that end together are one look.
    const timer = useRef<ReturnType<typeof setTimeout> | undefined>();
    useEvents(id, (event) => {
        if (event.kind !== "run_finished" && event.kind !== "gap") return;
        timer.current ??= setTimeout(() => {
            timer.current = undefined;
            setVersion((now) => now + 1);
        }, 150);
    });

    if (sieved) {
        const words = filter.text.trim().toLowerCase();
        const fits = (one: HistoryEntry) =>
            (!filter.failed || !one.success) &&
            (words === "" || `${one.code}\n${one.output ?? ""}\n${one.error ?? ""}\n${one.tags ?? ""}`.toLowerCase().includes(words));
        const kept = (all ?? []).filter(fits);
        return { count: kept.length, total, at: (index) => kept[index], seen: () => undefined, fault };
    }
    const at = (index: number) => {
        const page = pages.current.get(Math.floor(index / PAGE));
        return page === undefined || page === "asked" ? undefined : page[index % PAGE];
    };
    return { count: total, total, at, seen, fault };
}
