// The refs of the agent's last snapshot, with the places of what they mean now.
//
// They are asked for without a snapshot of our own: that would give them other numbers while the agent works with the old ones.

import { type HistoryEntry, measureBrowser } from "../../../api.js";

export interface Ref {
    name: string;
    x: number;
    y: number;
    width: number;
    height: number;
}

/** More are not drawn. */
const MAX_REFS = 120;

/** The newest snapshot that worked. */
export const lastSnapshot = (newestFirst: HistoryEntry[]): HistoryEntry | undefined =>
    newestFirst.find((one) => one.success && /^\s*snapshot\b/.test(one.code));

/** The refs that a snapshot lists. */
export const refsIn = (snapshot: string): string[] => [...new Set([...snapshot.matchAll(/\[[^\]\n]*\bref=(e\d{1,5})\b[^\]\n]*\]/g)].map((one) => one[1]!))].slice(0, MAX_REFS);

/** Where they are now; those that are on the page no longer are left out. */
export async function placed(id: string, refs: string[]): Promise<Ref[]> {
    if (refs.length === 0) return [];
    const cmd = `batch --json ${refs.map((ref) => `"get box @${ref}"`).join(" ")}`;
    const ran = await measureBrowser(id, { cmd, timeout: 15 });
    const answers = JSON.parse(ran.stdout || "[]") as { success?: boolean; result?: Partial<Ref> | null }[];
    return answers.flatMap((answer, at) => {
        const box = answer.success === true ? answer.result : undefined;
        const sides = [box?.x, box?.y, box?.width, box?.height];
        if (!sides.every((side) => typeof side === "number" && Number.isFinite(side))) return [];
        const [x, y, width, height] = sides as [number, number, number, number];
        return width > 0 && height > 0 ? [{ name: refs[at]!, x, y, width, height }] : [];
    });
}
