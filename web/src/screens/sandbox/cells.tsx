// Cells of Python or JavaScript that keep their variables, with output as it comes, and plots.

import { useState } from "preact/hooks";
import { artifact, type Sandbox } from "../../api.js";
import { useKey } from "../../keys.js";
import { Editor } from "../../parts/editor.js";
import { FetchedPicture, fromBase64, Picture } from "../../parts/picture.js";
import { curl, literal, python, quoted, Same, typescript } from "../../parts/same.js";
import { Tree } from "../../parts/tree.js";
import { t, took } from "../../words.js";
import { type Cell, type CellLanguage, notebook, type Outcome } from "./notebook.js";

export function Cells({ info, language }: { info: Sandbox; language: CellLanguage }) {
    const book = notebook(info.id, language);
    const code = book.last.value;
    const more = language === "javascript" ? { session: true } : {};
    const call = language === "python" ? `sandbox.python.exec(${literal(code)})` : `sandbox.javascript.session().run(${literal(code)})`;
    return (
        <div class="cells">
            {book.cells.value.map((cell) => (
                <OneCell key={cell.id} info={info} language={language} cell={cell} />
            ))}
            <Same
                lines={{
                    curl: curl("POST", `/v1/sandboxes/${info.id}/${language}/exec`, { code, ...more }),
                    python: python(`print(${call}${language === "python" ? ".output" : ".value"})`, info.id),
                    typescript: typescript(`console.log((await ${call}).${language === "python" ? "output" : "value"});`, info.id),
                    cove: `cove sandbox exec ${info.id} --${language === "python" ? "python" : "js"} -c ${quoted(code)}`,
                }}
            />
        </div>
    );
}

function OneCell({ info, language, cell }: { info: Sandbox; language: CellLanguage; cell: Cell }) {
    useKey("Ctrl+Enter", "run");
    const busy = cell.busy.value;
    const live = cell.live.value;
    const code = cell.code.value;
    return (
        <section class="cell card" aria-label={t("cell")} aria-busy={busy}>
            <div class="cell-editor" style={{ "--lines": code.split("\n").length }}>
                <Editor label={t("code")} text={code} syntax={language} change={(text) => (cell.code.value = text)} run={() => void cell.run()} marks={cell.marks.value} />
            </div>
            <div class="toolbar">
                <button class="main" disabled={busy || code.trim() === ""} onClick={() => void cell.run()} title="Ctrl+Enter">
                    ▶ {t("run")}
                </button>
                {busy && <button onClick={() => cell.stop()}>{t("stop")}</button>}
            </div>
            {busy && live !== "" && (
                <pre class="console" tabIndex={0}>
                    {live}
                </pre>
            )}
            {cell.outcome.value && <Shown info={info} outcome={cell.outcome.value} />}
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
            {"javascript" in outcome && outcome.javascript.success && (
                <div class="value">
                    <Tree value={outcome.javascript.data?.result ?? null} />
                </div>
            )}
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
