// A dialog above the page: the browser's own, so that focus stays in it and Escape closes it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../words.js";

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
    const place = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        const dialog = place.current!;
        if (!dialog.open) dialog.showModal();
        return () => dialog.close();
    }, []);
    return (
        <dialog ref={place} aria-labelledby="dialog-title" onCancel={close} onClick={(event) => event.target === place.current && close()}>
            <div class="dialog">
                <header>
                    <h2 id="dialog-title">{title}</h2>
                    <button class="plain" onClick={close} aria-label={t("close")}>
                        ✕
                    </button>
                </header>
                {children}
            </div>
        </dialog>
    );
}
