// Light, dark, or as the system has it. Kept in the browser: it is nobody's secret.

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEPT = "cove-theme";
const kept = localStorage.getItem(KEPT);
export const theme = signal<Theme>(kept === "light" || kept === "dark" ? kept : "system");

effect(() => {
    const root = document.documentElement;
    if (theme.value === "system") root.removeAttribute("data-theme");
    else root.dataset["theme"] = theme.value;
    localStorage.setItem(KEPT, theme.value);
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(prefersDark.matches);
prefersDark.addEventListener("change", () => (systemDark.value = prefersDark.matches));

/** Whether it is dark now: for what cannot be said in CSS. */
export const isDark = (): boolean => (theme.value === "system" ? systemDark.value : theme.value === "dark");

export function nextTheme(): void {
    theme.value = isDark() ? "light" : "dark";
}
