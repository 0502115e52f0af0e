// Every call in order, one line each; failures stand out with their cause. One click shows all of a call.

import { useState } from "preact/hooks";
import { artifact, artifacts, type HistoryEntry, runBrowser, runJavaScript, runPython, runShell, type Sandbox, trace } from "../../api.js";
import { note, refused } from "../../parts/notes.js";
import { FetchedPicture } from "../../parts/picture.js";
import { curl, literal, quoted, Same } from "../../parts/same.js";
import { Tree } from "../../parts/tree.js";
import { Windowed } from "../../parts/windowed.js";
import { onlyLooks } from "../../session.js";
import { t, took } from "../../words.js";
import { useHistory } from "./history.js";

const KINDS = ["", "python", "shell", "javascript", "browser", "browser_batch"];
const ROW = 34;

export function Timeline({ info }: { info: Sandbox }) {
    const [kind, setKind] = useState("");
    const [failed, setFailed] = useState(false);
    const [text, setText] = useState("");
    const [open, setOpen] = useState<HistoryEntry | undefined>();
    const found = useHistory(info.id, { kind, failed, text });
    return (
        <div class="timeline">
            <div class="toolbar">
                <label class="inline">
                    {t("kind")}
                    <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
                        {KINDS.map((one) => (
                            <option key={one} value={one}>
                                {one || t("all")}
                            </option>
                        ))}
                    </select>
                </label>
                <label class="inline">
                    <input type="checkbox" checked={failed} onChange={(event) => setFailed(event.currentTarget.checked)} /> {t("onlyFailed")}
                </label>
                <input type="search" aria-label={t("search")} placeholder={t("search")} value={text} onInput={(event) => setText(event.currentTarget.value)} />
                <span class="quiet end" role="status">
                    {t("entries", found.count)}
                </span>
            </div>
            {found.fault !== "" && <p class="fault">{found.fault}</p>}
            <div class={open ? "split open" : "split"}>
                {found.count === 0 ? (
                    <p class="empty">{t("noHistory")}</p>
                ) : (
                    <Windowed
                        count={found.count}
                        rowHeight={ROW}
                        label={t("timeline")}
                        seen={found.seen}
                        row={(at) => <Row entry={found.at(at)} on={open !== undefined && found.at(at)?.id === open.id} open={setOpen} />}
                    />
                )}
                {open && <Detail key={open.id} info={info} entry={open} close={() => setOpen(undefined)} />}
            </div>
            <Same
                lines={{
                    curl: curl("GET", `/v1/sandboxes/${info.id}/history`),
                    python: "sandbox.history.list()",
                    typescript: "await sandbox.history.list();",
                    cove: `cove sandbox logs ${info.id} --follow`,
                }}
            />
        </div>
    );
}

/** The last line of an error is its cause: Python ends with it; JavaScript begins with it. */
function cause(entry: HistoryEntry): string {
    const lines = (entry.error ?? "").trim().split("\n");
    return ((entry.exec_type === "python" ? lines.at(-1) : lines[0]) ?? "").replace(/^js_execution_failed: /, "");
}

function Row({ entry, on, open }: { entry: HistoryEntry | undefined; on: boolean; open: (entry: HistoryEntry) => void }) {
    if (entry === undefined) return <div class="row waiting" />;
    const said = entry.success ? (entry.output ?? "").trim().split("\n").at(-1)! : cause(entry);
    return (
        <button class={entry.success ? "row" : "row failed"} aria-pressed={on} onClick={() => open(entry)}>
            <time dateTime={entry.created_at}>{new Date(entry.created_at).toLocaleTimeString()}</time>
            <span class={`kind ${entry.exec_type}`}>{entry.exec_type}</span>
            <code>{entry.code.trim().split("\n", 1)[0]!.slice(0, 200)}</code>
            <span class="said">{said.slice(0, 200)}</span>
            <span class="took">{took(entry.execution_time_ms)}</span>
        </button>
    );
}

function Detail({ info, entry, close }: { info: Sandbox; entry: HistoryEntry; close: () => void }) {
    const [steps, setSteps] = useState<unknown>();
    const [pictures, setPictures] = useState<string[] | undefined>();
    const replay = async () => {
        await again(info.id, entry);
        note(t("replayed"));
    };
    const showPictures = async () => {
        const end = Date.parse(entry.created_at) + 1_500;
        const begin = Date.parse(entry.created_at) - entry.execution_time_ms - 1_500;
        const near = (await artifacts(info.id)).filter((one) => Date.parse(one.created_at) >= begin && Date.parse(one.created_at) <= end);
        setPictures(near.map((one) => one.name));
    };
    return (
        <aside class="detail card" aria-label={entry.id}>
            <header class="toolbar">
                <h2 class="mono small">{entry.id}</h2>
                <span class={entry.success ? "chip good" : "chip bad"}>{entry.success ? t("done") : t("failed")}</span>
                <span class="chip">{took(entry.execution_time_ms)}</span>
                <button class="plain end" onClick={close} aria-label={t("close")}>
                    ✕
                </button>
            </header>
            {entry.error && <pre class="fault">{entry.error}</pre>}
            <h3 class="small">{t("code")}</h3>
            <pre class="code" tabIndex={0}>
                {entry.code}
            </pre>
            {entry.output && (
                <>
                    <h3 class="small">{t("output")}</h3>
                    <pre class="console" tabIndex={0}>
                        {entry.output}
                    </pre>
                </>
            )}
            {(entry.description || entry.tags || entry.notes) && <p class="quiet">{[entry.description, entry.tags, entry.notes].filter(Boolean).join(" · ")}</p>}
            {steps !== undefined && <Tree value={steps} />}
            {pictures?.map((name) => <FetchedPicture key={name} alt={name} fetch={() => artifact(info.id, name)} />)}
            {pictures?.length === 0 && <p class="quiet">{t("noPictures")}</p>}
            <div class="toolbar">
                {!onlyLooks.value && <button onClick={() => void replay().catch(refused)}>{t("replay")}</button>}
                {entry.exec_type === "javascript" && <button onClick={() => void showPictures().catch(refused)}>{t("pictures")}</button>}
                {entry.payload_ref && <button onClick={() => void trace(info.id, entry.payload_ref!).then(setSteps, refused)}>{t("trace")}</button>}
            </div>
            <Same lines={sameRun(info.id, entry)} />
        </aside>
    );
}

/** Where each kind is called, by which field, method and flag. */
const CALLS: Record<HistoryEntry["exec_type"], [path: string, field: string, method: string, flag: string]> = {
    python: ["python/exec", "code", "python.exec", " --python -c"],
    shell: ["shell/exec", "command", "shell.exec", " --"],
    javascript: ["javascript/exec", "code", "javascript.run", " --js -c"],
    browser: ["browser/exec", "cmd", "browser.exec", " --browser"],
    browser_batch: ["browser/exec", "cmd", "browser.exec", " --browser"],
};

/** Runs the same once more. */
async function again(id: string, entry: HistoryEntry): Promise<void> {
    switch (entry.exec_type) {
        case "python":
            return void (await runPython(id, { code: entry.code }));
        case "shell":
            return void (await runShell(id, { command: entry.code }));
        case "javascript":
            return void (await runJavaScript(id, { code: entry.code }));
        default:
            for (const cmd of entry.code.split("\n").filter((line) => line.trim() !== "")) await runBrowser(id, { cmd });
    }
}

function sameRun(id: string, entry: HistoryEntry) {
    const [path, field, method, flag] = CALLS[entry.exec_type];
    return {
        curl: curl("POST", `/v1/sandboxes/${id}/${path}`, { [field]: entry.code }),
        python: `sandbox.${method}(${literal(entry.code)})`,
        typescript: `await sandbox.${method}(${literal(entry.code)});`,
        cove: `cove sandbox exec ${id}${flag} ${entry.exec_type === "shell" ? `bash -c ${quoted(entry.code)}` : quoted(entry.code)}`,
    };
}
