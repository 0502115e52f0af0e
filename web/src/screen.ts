// A screen is one folder in `screens/` whose `screen.ts` says what it is. Adding one touches nothing else.

import type { ComponentType } from "preact";
import type { Word } from "./words.js";

export interface Screen {
    /** First segment of its address. */
    path: string;
    /** Its name in the bar; none: it is reached from another screen. */
    title?: Word;
    /** The address of the screen that it is reached from, which the bar then marks. */
    parent?: string;
    /** Its place in the bar, from the left. */
    order?: number;
    /** The keys that lead there. */
    keys?: string;
    /** Whether only administrators have it. */
    admin?: boolean;
    /** How much there waits for this person; asked now and then, and shown beside its name. */
    count?: (signal: AbortSignal) => Promise<number>;
    /** The screen itself, in a chunk of its own. */
    load: () => Promise<{ default: ComponentType }>;
}

const found = import.meta.glob<{ screen: Screen }>("./screens/*/screen.ts", { eager: true });
export const screens = Object.values(found)
    .map((module) => module.screen)
    .sort((a, b) => (a.order ?? 99) - (b.order ?? 99));
