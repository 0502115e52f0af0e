// The playground: code, input, and what came of it.

import { useEffect, useRef, useState } from "preact/hooks";
import { answerTool, artifact, type JavaScriptResult, runJavaScript } from "../../api.js";
import { follow } from "../../events.js";
import { useKey } from "../../keys.js";
import type { Mark } from "../../parts/codemirror.js";
import { Editor } from "../../parts/editor.js";
import { Marked } from "../../parts/marked.js";
import { copied } from "../../parts/copy.js";
import { note, refused } from "../../parts/notes.js";
import { curl, literal, python, quoted, Same, typescript } from "../../parts/same.js";
import { replace, route } from "../../route.js";
import { said } from "../../server.js";
import { t } from "../../words.js";
import { examples } from "./examples.js";
import { Outcome } from "./outcome.js";
import { ASK, mayAsk, PATIENCE, type Question, QuestionForm, questionOf } from "./question.js";
import { playgroundSandbox } from "./sandbox.js";
import { MAX_LINK, pack, unpack } from "./share.js";

/** Console lines that are kept while code runs. */
const MAX_LINES = 1_000;

const ENGINES = ["auto", "embedded", "browser"] as const;

export default function Playground() {
    const [code, setCode] = useState(examples[0]!.code);
    const [input, setInput] = useState(examples[0]!.input ?? "");
    const [engine, setEngine] = useState<string>("auto");
    const [sandbox, setSandbox] = useState("");
    const [busy, setBusy] = useState(false);
    const [lines, setLines] = useState<string[]>([]);
    const [result, setResult] = useState<JavaScriptResult | undefined>();
    const [fault, setFault] = useState("");
    const [marks, setMarks] = useState<Mark[]>([]);
    const [question, setQuestion] = useState<Question | undefined>();
    const running = useRef<AbortController | undefined>();
    const outcome = useRef<HTMLElement>(null);
    const shared = route.value.query.get("code");

    useEffect(() => {
        if (shared === null) return;
        void unpack(shared).then((found) => {
            if (found === undefined) return note(t("badLink"), true);
            setCode(found.code);
            setInput(found.input);
            setEngine(ENGINES.some((one) => one === found.engine) ? found.engine : "auto");
        });
    }, [shared]);
    useEffect(() => () => running.current?.abort(), []);

    const run = async () => {
        if (running.current !== undefined) return;
        let parsed: unknown;
        try {
            parsed = input.trim() === "" ? undefined : JSON.parse(input);
        } catch (reason) {
            setFault(`${t("badInput")} ${said(reason)}`);
            setResult(undefined);
            return;
        }
        const stop = (running.current = new AbortController());
        const listening = new AbortController();
        setBusy(true);
        // On a phone the result is below the code.
        if (matchMedia("(max-width: 720px)").matches) outcome.current?.scrollIntoView({ block: "start" });
        setLines([]);
        setResult(undefined);
        setFault("");
        setMarks([]);
        try {
            const id = await playgroundSandbox();
            setSandbox(id);
            // Lines that are written before the stream is open come with the answer.
            await new Promise<void>((ready) => {
                void follow(id, hear, listening.signal, ready).then(ready);
                setTimeout(ready, 500);
            });
            const more = { ...(parsed === undefined ? {} : { input: parsed }), ...(mayAsk(code) ? { tools: [{ name: ASK }], timeout: PATIENCE } : {}) };
            const done = await runJavaScript(id, { code, engine, ...more }, { signal: stop.signal });
            setResult(done);
            const place = done.success ? undefined : (done.data?.result as { line?: number; column?: number; message?: string } | null | undefined);
            if (typeof place?.line === "number") setMarks([{ line: place.line, column: place.column ?? 1, message: place.message ?? "" }]);
        } catch (reason) {
            setFault(stop.signal.aborted ? t("stopped") : said(reason));
        } finally {
            listening.abort();
            running.current = undefined;
            setQuestion(undefined);
            setBusy(false);
        }
    };
    const hear = (event: { kind: string; data: Record<string, unknown> }) => {
        if (event.kind === "tool_call") setQuestion(questionOf(event.data));
        if (event.kind === "console") setLines((all) => [...all.slice(1 - MAX_LINES), String(event.data["text"])]);
    };
    useKey("Ctrl+Enter", "run", () => void run());

    const share = async () => {
        const packed = await pack({ code, input, engine });
        if (packed.length > MAX_LINK) return note(t("tooLong"), true);
        replace(`playground?code=${packed}`);
        await copied(location.href, t("linkCopied"), t("linkInAddress"));
    };
    const body = { code, ...(input.trim() === "" ? {} : { input: safely(input) }), ...(engine === "auto" ? {} : { engine }) };
    const place = sandbox || "$BOX";
    const given = input.trim() === "" ? undefined : input.trim();
    const [pythonMore, typescriptMore] = [
        [...(given === undefined ? [] : [`json.loads(${literal(given)})`]), ...(engine === "auto" ? [] : [`engine=${literal(engine)}`])],
        [...(given === undefined ? (engine === "auto" ? [] : ["undefined"]) : [given]), ...(engine === "auto" ? [] : [`{ engine: ${literal(engine)} }`])],
    ];
    return (
        <div class="playground">
            <section class="pane" aria-label={t("code")}>
                <div class="toolbar">
                    <button class="main" onClick={() => void run()} disabled={busy} title="Ctrl+Enter">
                        ▶ {t("run")}
                    </button>
                    <button onClick={() => running.current?.abort()} disabled={!busy}>
                        {t("stop")}
                    </button>
                    <label class="inline">
                        {t("engine")}
                        <select value={engine} onChange={(event) => setEngine(event.currentTarget.value)}>
                            {ENGINES.map((one) => (
                                <option key={one}>{one}</option>
                            ))}
                        </select>
                    </label>
                    <button class="end" onClick={() => void share().catch(refused)}>
                        {t("share")}
                    </button>
                </div>
                <div class="gallery" role="group" aria-label={t("examples")}>
                    {examples.map((one) => (
                        <button
                            key={one.title}
                            class="chip"
                            aria-pressed={code === one.code}
                            onClick={() => {
                                setCode(one.code);
                                setInput(one.input ?? "");
                                setMarks([]);
                            }}
                        >
                            {t(one.title)}
                        </button>
                    ))}
                </div>
                <Editor label={t("code")} text={code} syntax="javascript" change={setCode} run={() => void run()} marks={marks} />
                <label class="input-label" for="input">
                    <Marked text={t("input")} />
                </label>
                <textarea id="input" class="input mono" rows={3} spellcheck={false} value={input} placeholder="{}" onInput={(event) => setInput(event.currentTarget.value)} />
            </section>
            <section class="pane outcome" ref={outcome} aria-label={t("result")} aria-busy={busy}>
                {question && (
                    <QuestionForm
                        key={question.call}
                        question={question}
                        answer={(text) => {
                            setQuestion(undefined);
                            void answerTool(sandbox, question.call, text).catch(refused);
                        }}
                    />
                )}
                <Outcome busy={busy} lines={lines} result={result} fault={fault} picture={(name) => artifact(sandbox, name)} />
                <Same
                    lines={{
                        curl: curl("POST", `/v1/sandboxes/${place}/javascript/exec`, body),
                        python: (given === undefined ? "" : "import json\n") + python(`print(sandbox.javascript.run(${[literal(code), ...pythonMore].join(", ")}).value)`, place),
                        typescript: typescript(`console.log((await sandbox.javascript.run(${[literal(code), ...typescriptMore].join(", ")})).value);`, place),
                        cove: `printf %s ${quoted(code)} | cove run -${input.trim() === "" ? "" : ` --input ${quoted(input.trim())}`}${engine === "auto" ? "" : ` --engine ${engine}`}`,
                    }}
                />
            </section>
        </div>
    );
}

/** JSON where it is JSON, else the text. */
function safely(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}
