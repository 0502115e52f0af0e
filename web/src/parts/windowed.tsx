// A long list of which only the rows in sight exist. All rows have one height, so nothing moves.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows beyond the edges, so that scrolling shows no gap. */
const BEYOND = 8;

interface Props {
    count: number;
    rowHeight: number;
    label: string;
    row: (at: number) => ComponentChildren;
    /** Told which rows are in sight. */
    seen?: (from: number, to: number) => void;
}

export function Windowed({ count, rowHeight, label, row, seen }: Props) {
    const place = useRef<HTMLDivElement>(null);
    const [top, setTop] = useState(0);
    const [height, setHeight] = useState(600);
    useEffect(() => {
        const look = new ResizeObserver(() => setHeight(place.current?.clientHeight ?? 600));
        look.observe(place.current!);
        return () => look.disconnect();
    }, []);
    const from = Math.max(0, Math.floor(top / rowHeight) - BEYOND);
    const to = Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND);
    useEffect(() => seen?.(from, to), [from, to, count]);
    const rows = [];
    for (let at = from; at < to; at++) {
        rows.push(
            <div key={at} class="windowed-row" role="listitem" aria-setsize={count} aria-posinset={at + 1} style={{ top: `${at * rowHeight}px`, height: `${rowHeight}px` }}>
                {row(at)}
            </div>,
        );
    }
    return (
        <div class="windowed" ref={place} tabIndex={0} role="list" aria-label={label} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
            <div class="windowed-all" role="presentation" style={{ height: `${count * rowHeight}px` }}>
                {rows}
            </div>
        </div>
    );
}
