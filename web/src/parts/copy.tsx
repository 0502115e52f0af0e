// A line to copy, with its button.

import { t } from "../words.js";
import { note } from "./notes.js";

/** Puts a text on the clipboard; where there is none (a page without TLS), it is shown to be taken by hand. */
export const copied = (text: string, said: string, title: string): Promise<void> =>
    (navigator.clipboard === undefined ? Promise.reject(new Error("no clipboard")) : navigator.clipboard.writeText(text)).then(
        () => note(said),
        () => void prompt(title, text),
    );

export function Copy({ text }: { text: string }) {
    return (
        <button type="button" class="copy" onClick={() => void copied(text, t("copied"), t("copy"))}>
            {t("copy")}
        </button>
    );
}
