// The cells of a sandbox: their code, and what came of it. They stay while the page does, whichever screen is shown.

import { type Signal, signal } from "@preact/signals";
import { type JavaScriptResult, type PythonResult, runJavaScript, runPython } from "../../api.js";
import { follow } from "../../events.js";
import type { Mark } from "../../parts/codemirror.js";
import { said } from "../../server.js";
import { t } from "../../words.js";

export type CellLanguage = "python" | "javascript";
export type Outcome = { python: PythonResult } | { javascript: JavaScriptResult } | { fault: string };

const BEGIN: Record<CellLanguage, string> = {
    python: "import sys\nprint(sys.version)\n",
    javascript: 'const greeting = "hello";\ngreeting.toUpperCase()\n',
};
/** Output that is kept while a cell runs. */
const MAX_LIVE = 200_000;
/** Notebooks that are kept; those that were not looked at for longest go. */
const MAX_NOTEBOOKS = 20;
/** What a run may take, in seconds. */
const TIMEOUT = 300;

export class Cell {
    readonly code: Signal<string>;
    readonly busy = signal(false);
    readonly live = signal("");
    readonly outcome = signal<Outcome | undefined>(undefined);
    readonly marks = signal<Mark[]>([]);
    #running: AbortController | undefined;

    constructor(
        readonly id: number,
        private readonly notebook: Notebook,
        code: string,
    ) {
        this.code = signal(code);
    }

    stop(): void {
        this.#running?.abort();
    }

    async run(): Promise<void> {
        if (this.#running !== undefined) return;
        const { sandbox, language } = this.notebook;
        const code = this.code.value;
        const stop = (this.#running = new AbortController());
        const listening = new AbortController();
        const tag = `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
        this.busy.value = true;
        this.live.value = "";
        this.outcome.value = undefined;
        this.marks.value = [];
        try {
            await new Promise<void>((ready) => {
                const hear = (event: { kind: string; data: Record<string, unknown> }) => {
                    const own = event.kind === "output" ? event.data["tag"] === tag : event.kind === "console" && language === "javascript";
                    const text = `${String(event.data["text"])}${event.kind === "console" ? "\n" : ""}`;
                    if (own) this.live.value = (this.live.value + text).slice(-MAX_LIVE);
                };
                void follow(sandbox, hear, listening.signal, ready).then(ready);
                setTimeout(ready, 500);
            });
            if (language === "python") this.outcome.value = { python: await runPython(sandbox, { code, output_tag: tag, timeout: TIMEOUT }, { signal: stop.signal }) };
            else {
                const javascript = await runJavaScript(sandbox, { code, session: true, timeout: TIMEOUT }, { signal: stop.signal });
                this.outcome.value = { javascript };
                const place = javascript.success ? undefined : (javascript.data?.result as { line?: number; column?: number; message?: string } | null | undefined);
                if (typeof place?.line === "number") this.marks.value = [{ line: place.line, column: place.column ?? 1, message: place.message ?? "" }];
            }
            this.notebook.ran(this, code);
        } catch (reason) {
            this.outcome.value = { fault: stop.signal.aborted ? t("stopped") : said(reason) };
        } finally {
            listening.abort();
            this.#running = undefined;
            this.busy.value = false;
        }
    }
}

export class Notebook {
    readonly cells: Signal<Cell[]>;
    /** What ran last. */
    readonly last: Signal<string>;

    constructor(
        readonly sandbox: string,
        readonly language: CellLanguage,
    ) {
        this.last = signal(BEGIN[language]);
        this.cells = signal([new Cell(0, this, BEGIN[language])]);
    }

    /** After the last cell comes a further one. */
    ran(cell: Cell, code: string): void {
        this.last.value = code;
        if (this.cells.value.at(-1) === cell) this.cells.value = [...this.cells.value, new Cell(cell.id + 1, this, "")];
    }
}

const kept = new Map<string, Notebook>();

/** The notebook of a sandbox in a language. */
export function notebook(sandbox: string, language: CellLanguage): Notebook {
    const key = `${language} ${sandbox}`;
    const found = kept.get(key) ?? new Notebook(sandbox, language);
    kept.delete(key);
    kept.set(key, found);
    for (const old of [...kept.keys()].slice(0, -MAX_NOTEBOOKS)) kept.delete(old);
    return found;
}
