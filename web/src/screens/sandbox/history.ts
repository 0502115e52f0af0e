// The record of a sandbox in pages, read as they come into sight. A search by text, which the server does not have, reads all of
// it once; what runs afterwards is put before that.

import { useEffect, useRef, useState } from "preact/hooks";
import { history, type HistoryEntry } from "../../api.js";
import { useEvents } from "../../events.js";
import { said } from "../../server.js";

const PAGE = 200;
/** Entries that a search reads at once, and of new ones; beyond `MAX_SEARCHED` it does not read. */
const SEARCHED = 500;
const NEWEST = 50;
const MAX_SEARCHED = 20_000;

export interface Filter {
    kind: string;
    failed: boolean;
    text: string;
}

export interface Found {
    count: number;
    at: (index: number) => HistoryEntry | undefined;
    seen: (from: number, to: number) => void;
    fault: string;
}

export function useHistory(id: string, filter: Filter): Found {
    const pages = useRef(new Map<number, HistoryEntry[] | "asked">());
    const [total, setTotal] = useState(0);
    const [fault, setFault] = useState("");
    const [, again] = useState(0);
    const [version, setVersion] = useState(0);
    const searches = filter.text.trim() !== "";
    const which = { exec_type: filter.kind || undefined, failed_only: filter.failed || undefined };
    const sight = useRef<[number, number]>([0, PAGE]);

    const load = (page: number) => {
        if (pages.current.has(page)) return;
        const mine = pages.current;
        mine.set(page, "asked");
        history(id, { limit: PAGE, offset: page * PAGE, ...which }).then(
            (list) => {
                mine.set(page, list.entries);
                if (mine !== pages.current) return;
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
        if (!searches) seen(...sight.current);
    }, [id, filter.kind, filter.failed, searches, version]);

    const all = useSearched(id, which, searches, version);

    // Several runs that end together are one look.
    const timer = useRef<ReturnType<typeof setTimeout> | undefined>();
    useEvents(id, (event) => {
        if (event.kind !== "run_finished" && event.kind !== "gap") return;
        timer.current ??= setTimeout(() => {
            timer.current = undefined;
            setVersion((now) => now + 1);
        }, 150);
    });

    if (searches) {
        const words = filter.text.trim().toLowerCase();
        const kept = all.filter((one) => `${one.code}\n${one.output ?? ""}\n${one.error ?? ""}\n${one.tags ?? ""}`.toLowerCase().includes(words));
        return { count: kept.length, at: (index) => kept[index], seen: () => undefined, fault };
    }
    const at = (index: number) => {
        const page = pages.current.get(Math.floor(index / PAGE));
        return page === undefined || page === "asked" ? undefined : page[index % PAGE];
    };
    return { count: total, at, seen, fault };
}

/** All entries, for a search: read once, and then what is new. */
function useSearched(id: string, which: { exec_type: string | undefined; failed_only: true | undefined }, searches: boolean, version: number): HistoryEntry[] {
    const [all, setAll] = useState<HistoryEntry[]>([]);
    /** Whether everything has been read, up to now. */
    const [whole, setWhole] = useState(false);
    const [turn, setTurn] = useState(0);
    const page = (limit: number, offset: number, signal: AbortSignal) => history(id, { limit, offset, ...which }, { signal });
    useEffect(() => {
        setAll([]);
        setWhole(false);
        if (!searches) return;
        const stop = new AbortController();
        void (async () => {
            const found = new Map<string, HistoryEntry>();
            for (let offset = 0; offset < MAX_SEARCHED; ) {
                const list = await page(SEARCHED, offset, stop.signal);
                // What ran meanwhile has moved the rest: an entry may come twice.
                for (const one of list.entries) found.set(one.id, one);
                setAll([...found.values()]);
                offset += list.entries.length;
                if (list.entries.length === 0 || offset >= list.total) break;
            }
            setWhole(true);
        })().catch(() => undefined);
        return () => stop.abort();
    }, [id, which.exec_type, which.failed_only, searches, turn]);
    useEffect(() => {
        if (!whole) return;
        const stop = new AbortController();
        void page(NEWEST, 0, stop.signal).then(({ entries }) => {
            const known = new Set(all.map((one) => one.id));
            const fresh = entries.filter((one) => !known.has(one.id));
            // More than that ran since: all is read again.
            if (fresh.length === NEWEST) setTurn((now) => now + 1);
            else if (fresh.length > 0) setAll([...fresh, ...all]);
        }, () => undefined);
        return () => stop.abort();
    }, [whole, version]);
    return all;
}
