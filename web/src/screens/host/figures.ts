// Prometheus' text as figures, and what lies between two readings of it.

export interface Figure {
    name: string;
    labels: Record<string, string>;
    value: number;
}

export function readFigures(text: string): Figure[] {
    const found: Figure[] = [];
    for (const line of text.split("\n")) {
        const parts = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
        if (parts === null) continue;
        const labels = Object.fromEntries([...(parts[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((one) => [one[1]!, one[2]!]));
        found.push({ name: parts[1]!, labels, value: Number(parts[3]) });
    }
    return found;
}

export const sum = (figures: Figure[], name: string): number =>
    figures.filter((one) => one.name === name).reduce((total, one) => total + one.value, 0);

/** The time within which half, or another share, of the requests between two readings were answered, in milliseconds. */
export function quantile(before: Figure[], now: Figure[], name: string, share: number): number | null {
    const counts = (figures: Figure[]) => {
        const by = new Map<number, number>();
        for (const one of figures) {
            // Streams stay open for as long as somebody looks.
            if (one.name !== `${name}_bucket` || /events|terminal/.test(one.labels["route"] ?? "")) continue;
            const edge = one.labels["le"] === "+Inf" ? Infinity : Number(one.labels["le"]);
            by.set(edge, (by.get(edge) ?? 0) + one.value);
        }
        return by;
    };
    const [then, latest] = [counts(before), counts(now)];
    const edges = [...latest.keys()].sort((a, b) => a - b);
    const passed = (edge: number) => (latest.get(edge) ?? 0) - (then.get(edge) ?? 0);
    const all = passed(Infinity);
    if (all <= 0) return null;
    const edge = edges.find((one) => passed(one) >= all * share) ?? Infinity;
    return (Number.isFinite(edge) ? edge : (edges.at(-2) ?? 0)) * 1_000;
}
