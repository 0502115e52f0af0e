// Cells of Python or JavaScript that keep their variables, with output as it comes, and plots.

import { useRef, useState } from "preact/hooks";
import { artifact, type JavaScriptResult, type PythonResult, runJavaScript, runPython, type Sandbox } from "../../api.js";
import { follow } from "../../events.js";
import { useKey } from "../../keys.js";
import type { Mark } from "../../parts/codemirror.js";
import { Editor } from "../../parts/editor.js";
import { FetchedPicture, fromBase64, Picture } from "../../parts/picture.js";
import { curl, literal, quoted, Same } from "../../parts/same.js";
import { Tree } from "../../parts/tree.js";
import { said } from "../../server.js";
import { t, took } from "../../words.js";

type CellLanguage = "python" | "javascript";

const BEGIN: Record<CellLanguage, string> = {
    python: "import sys\nprint(sys.version)\n",
    javascript: 'const greeting = "hello";\ngreeting.toUpperCase()\n',
};
/** Output that is kept while a cell runs. */
const MAX_LIVE = 200_000;

export function Cells({ info, language }: { info: Sandbox; language: CellLanguage }) {
    const [cells, setCells] = useState([0]);
    const last = useRef(BEGIN[language]);
    const more = language === "javascript" ? { session: true } : {};
    return (
        <div class="cells">
            {cells.map((id) => (
                <Cell
                    key={id}
                    info={info}
                    language={language}
                    first={id === 0}
                    ran={(code) => {
                        last.current = code;
                        setCells((all) => (all.at(-1) === id ? [...all, id + 1] : all));
                    }}
                />
            ))}
            <Same
                lines={{
                    curl: curl("POST", `/v1/sandboxes/${info.id}/${language}/exec`, { code: last.current, ...more }),
                    python: language === "python" ? `sandbox.python.exec(${literal(last.current)})` : `sandbox.javascript.session().run(${literal(last.current)})`,
                    typescript: language === "python" ? `await sandbox.python.exec(${literal(last.current)});` : `await sandbox.javascript.session().run(${literal(last.current)});`,
                    cove: `cove sandbox exec ${info.id} --${language === "python" ? "python" : "js"} -c ${quoted(last.current)}`,
                }}
            />
        </div>
    );
}

type Outcome = { python: PythonResult } | { javascript: JavaScriptResult } | { fault: string };

function Cell({ info, language, first, ran }: { info: Sandbox; language: CellLanguage; first: boolean; ran: (code: string) => void }) {
    const [code, setCode] = useState(first ? BEGIN[language] : "");
    useKey("Ctrl+Enter", "run");
    const [busy, setBusy] = useState(false);
    const [live, setLive] = useState("");
    const [outcome, setOutcome] = useState<Outcome | undefined>();
    const [marks, setMarks] = useState<Mark[]>([]);
    const running = useRef<AbortController | undefined>();
    const run = async () => {
        if (running.current !== undefined) return;
        const stop = (running.current = new AbortController());
        const listening = new AbortController();
        const tag = `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
        setBusy(true);
        setLive("");
        setOutcome(undefined);
        setMarks([]);
        try {
            await new Promise<void>((ready) => {
                const hear = (event: { kind: string; data: Record<string, unknown> }) => {
                    const own = event.kind === "output" ? event.data["tag"] === tag : event.kind === "console" && language === "javascript";
                    const text = `${String(event.data["text"])}${event.kind === "console" ? "\n" : ""}`;
                    if (own) setLive((now) => (now + text).slice(-MAX_LIVE));
                };
                void follow(info.id, hear, listening.signal, ready).then(ready);
                setTimeout(ready, 500);
            });
            if (language === "python") setOutcome({ python: await runPython(info.id, { code, output_tag: tag, timeout: 300 }, { signal: stop.signal }) });
            else {
                const javascript = await runJavaScript(info.id, { code, session: true, timeout: 300 }, { signal: stop.signal });
                setOutcome({ javascript });
                const place = javascript.success ? undefined : (javascript.data?.result as { line?: number; column?: number; message?: string } | null | undefined);
                if (typeof place?.line === "number") setMarks([{ line: place.line, column: place.column ?? 1, message: place.message ?? "" }]);
            }
            ran(code);
        } catch (reason) {
            setOutcome({ fault: stop.signal.aborted ? t("stopped") : said(reason) });
        } finally {
            listening.abort();
            running.current = undefined;
            setBusy(false);
        }
    };
    return (
        <section class="cell card" aria-label={t("cell")} aria-busy={busy}>
            <Editor label={t("code")} text={code} syntax={language} change={setCode} run={() => void run()} marks={marks} />
            <div class="toolbar">
                <button class="main" disabled={busy || code.trim() === ""} onClick={() => void run()} title="Ctrl+Enter">
                    ▶ {t("run")}
                </button>
                {busy && <button onClick={() => running.current?.abort()}>{t("stop")}</button>}
            </div>
            {busy && live !== "" && (
                <pre class="console" tabIndex={0}>
                    {live}
                </pre>
            )}
            {outcome && <Shown info={info} outcome={outcome} />}
        </section>
    );
}

function Shown({ info, outcome }: { info: Sandbox; outcome: Outcome }) {
    if ("fault" in outcome) return <pre class="fault">{outcome.fault}</pre>;
    const result = "python" in outcome ? outcome.python : outcome.javascript;
    const text = "python" in outcome ? outcome.python.output : (outcome.javascript.data?.logs ?? "");
    return (
        <div class="cell-out">
            {text !== "" && (
                <pre class="console" tabIndex={0}>
                    {text}
                </pre>
            )}
            {"python" in outcome &&
                outcome.python.data?.output.images.map((image, at) =>
                    Object.values(image as Record<string, string>).map((base64) => <Shot key={at} base64={base64} />),
                )}
            {"javascript" in outcome &&
                outcome.javascript.data?.images.map((image) => <FetchedPicture key={image.name} alt={image.name} fetch={() => artifact(info.id, image.name)} />)}
            {"javascript" in outcome && outcome.javascript.success && <Tree value={outcome.javascript.data?.result ?? null} />}
            {result.error && <pre class="fault">{result.error}</pre>}
            <span class="chip">{took(result.execution_time_ms ?? 0)}</span>
        </div>
    );
}

function Shot({ base64 }: { base64: string }) {
    const [bytes] = useState(() => {
        try {
            return fromBase64(base64);
        } catch {
            return new Uint8Array();
        }
    });
    return <Picture bytes={bytes} alt={t("plot")} />;
}
