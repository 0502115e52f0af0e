// What the page says, in two languages.

import { effect, signal } from "@preact/signals";
import { en } from "./words/en.js";
import { zh } from "./words/zh.js";

export type Word = keyof typeof en;
export type Language = "en" | "zh";

const KEPT = "cove-language";
const kept = localStorage.getItem(KEPT);
const usual: Language = navigator.language.startsWith("zh") ? "zh" : "en";
export const language = signal<Language>(kept === "en" || kept === "zh" ? kept : usual);

effect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
    localStorage.setItem(KEPT, language.value);
});

/** A sentence, with `{0}`, `{1}` … filled in. */
export function t(word: Word, ...parts: (string | number)[]): string {
    const text = (language.value === "zh" ? zh : en)[word];
    return text.replace(/\{(\d)\}/g, (_, at: string) => String(parts[Number(at)] ?? ""));
}

/** How long ago, or how long still. */
export function span(ms: number): string {
    const seconds = Math.max(0, Math.round(ms / 1_000));
    if (seconds < 60) return t("seconds", seconds);
    if (seconds < 3_600) return t("minutes", Math.floor(seconds / 60));
    if (seconds < 172_800) return t("hours", Math.floor(seconds / 3_600));
    return t("days", Math.floor(seconds / 86_400));
}

/** Bytes for people. */
export function bytes(count: number): string {
    if (count < 1_024) return `${count} B`;
    const unit = Math.min(4, Math.floor(Math.log2(count) / 10));
    return `${(count / 2 ** (10 * unit)).toFixed(1)} ${["B", "KB", "MB", "GB", "TB"][unit]}`;
}

/** A run's time for people. */
export const took = (ms: number): string => (ms < 10_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);
