// A line over time, by uPlot.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark } from "../../theme.js";

interface Props {
    title: string;
    times: number[];
    series: { name: string; values: (number | null)[]; colour: string }[];
    show: (value: number) => string;
    /** The steps between ticks; else those of decimal figures. */
    steps?: number[];
}

const HEIGHT = 150;
/** At least so many seconds. */
const SHOWN = 60;

/** A moment, by this machine's clock. */
const clock = (second: number) => new Date(second * 1_000).toTimeString().slice(0, 8);

/** From the first reading to the last, and never less than a minute. */
function lately(times: ArrayLike<number>): [number, number] {
    const last = times[times.length - 1] ?? SHOWN;
    return [Math.min(times[0] ?? 0, last - SHOWN), last];
}

export function Chart({ title, times, series, show, steps }: Props) {
    const place = useRef<HTMLDivElement>(null);
    const plot = useRef<uPlot | undefined>();
    const dark = isDark();
    useEffect(() => {
        const edge = dark ? "#2b3a40" : "#e3e9ec";
        const text = dark ? "#a9bac1" : "#51626b";
        const axis = { stroke: text, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge, width: 1 }, font: "11px system-ui" };
        const made = new uPlot(
            {
                width: place.current!.clientWidth || 300,
                height: HEIGHT,
                legend: { show: false },
                cursor: { show: false },
                scales: { x: { range: (made) => lately(made.data[0]) }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(1, (high ?? 1) * 1.15)] } },
                axes: [{ ...axis, size: 30, space: 90, values: (_, ticks) => ticks.map(clock) }, { ...axis, size: 72, ...(steps ? { incrs: steps } : {}), values: (_, ticks) => ticks.map((tick) => show(tick).replace(".0 ", " ")) }],
                series: [{}, ...series.map((one) => ({ label: one.name, stroke: one.colour, width: 2, points: { show: false }, spanGaps: true }))],
            },
            [times, ...series.map((one) => one.values)],
            place.current!,
        );
        plot.current = made;
        const look = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height: HEIGHT }));
        look.observe(place.current!);
        return () => {
            look.disconnect();
            made.destroy();
        };
    }, [dark]);
    useEffect(() => plot.current?.setData([times, ...series.map((one) => one.values)]), [times]);
    const latest = series.map((one) => ({ ...one, text: `${one.name} ${one.values.at(-1) == null ? "–" : show(one.values.at(-1)!)}` }));
    return (
        <figure class="chart">
            <figcaption>
                {title}{" "}
                {latest.map((one) => (
                    <span key={one.name} class="quiet">
                        <span class="chart-key" style={{ background: one.colour }} />
                        {one.text}
                    </span>
                ))}
            </figcaption>
            <div class="chart-place" ref={place} role="img" aria-label={`${title}: ${latest.map((one) => one.text).join(", ")}`} />
        </figure>
    );
}
