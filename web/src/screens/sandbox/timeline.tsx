// Every call in order, one line each; failures stand out with their cause. One click shows all of a call.

import { useEffect, useState } from "preact/hooks";
import { artifact, execution, type HistoryEntry, runBrowser, runJavaScript, runPython, runShell, type Sandbox, trace } from "../../api.js";
import { note, refused } from "../../parts/notes.js";
import { FetchedPicture } from "../../parts/picture.js";
import { plain, plainLine } from "../../parts/plain.js";
import { curl, literal, python, quoted, Same, typescript } from "../../parts/same.js";
import { Tree } from "../../parts/tree.js";
import { Windowed } from "../../parts/windowed.js";
import { replace, route } from "../../route.js";
import { onlyLooks } from "../../session.js";
import { t, took } from "../../words.js";
import { causeOf, errorOf } from "./cause.js";
import { useHistory } from "./history.js";

const KINDS = ["", "python", "shell", "javascript", "browser", "browser_batch"];
const ROW = 34;

export function Timeline({ info }: { info: Sandbox }) {
    const [kind, setKind] = useState("");
    const [failed, setFailed] = useState(false);
    const [text, setText] = useState("");
    const [open, setOpen] = useState<HistoryEntry | undefined>();
    const found = useHistory(info.id, { kind, failed, text });
    const filtered = kind !== "" || failed || text.trim() !== "";
    // A link to one call.
    const wanted = route.value.query.get("call");
    useEffect(() => {
        if (wanted !== null) execution(info.id, wanted).then(setOpen, refused);
    }, [info.id, wanted]);
    const close = () => {
        setOpen(undefined);
        if (wanted !== null) replace(`sandbox/${info.id}/timeline`);
    };
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
                    <p class="empty">{t(filtered ? "noCallFits" : "noHistory")}</p>
                ) : (
                    <Windowed
                        count={found.count}
                        rowHeight={ROW}
                        label={t("timeline")}
                        seen={found.seen}
                        row={(at) => <Row entry={found.at(at)} on={open !== undefined && found.at(at)?.id === open.id} open={setOpen} />}
                    />
                )}
                {open && <Detail key={open.id} info={info} entry={open} close={close} />}
            </div>
            <Same
                lines={{
                    curl: curl("GET", `/v1/sandboxes/${info.id}/history`),
                    python: python("print(sandbox.history.list())", info.id),
                    typescript: typescript("console.log(await sandbox.history.list());", info.id),
                    cove: `cove sandbox logs ${info.id}`,
                }}
            />
        </div>
    );
}

function Row({ entry, on, open }: { entry: HistoryEntry | undefined; on: boolean; open: (entry: HistoryEntry) => void }) {
    if (entry === undefined) return <div class="row waiting" />;
    const said = entry.success ? plainLine((entry.output ?? "").trim().split("\n").at(-1)!.slice(0, 200)) : causeOf(entry);
    return (
        <button class={entry.success ? "row" : "row failed"} aria-pressed={on} onClick={() => open(entry)}>
            <time dateTime={entry.created_at}>{new Date(entry.created_at).toLocaleTimeString()}</time>
            <span class={`kind ${entry.exec_type}`}>{entry.exec_type}</span>
            <code>{plainLine(entry.code.trim().split("\n", 1)[0]!.slice(0, 200))}</code>
            <span class="said" title={said.slice(0, 500)}>
                {said.slice(0, 300)}
            </span>
            <span class="took">{took(entry.execution_time_ms)}</span>
        </button>
    );
}

function Detail({ info, entry, close }: { info: Sandbox; entry: HistoryEntry; close: () => void }) {
    const [steps, setSteps] = useState<unknown>();
    const replay = async () => {
        await again(info.id, entry);
        note(t("replayed"));
    };
    const { code, text } = errorOf(entry);
    return (
        <aside class="detail card" aria-label={`${entry.exec_type} ${entry.id}`}>
            <header class="toolbar">
                <h2>
                    <span class="kind">{entry.exec_type}</span> <time dateTime={entry.created_at}>{new Date(entry.created_at).toLocaleTimeString()}</time>
                </h2>
                <span class={entry.success ? "chip good" : "chip bad"}>{entry.success ? t("done") : t("failed")}</span>
                <span class="chip">{took(entry.execution_time_ms)}</span>
                <button class="plain end" onClick={close} aria-label={t("close")}>
                    ✕
                </button>
            </header>
            {text !== "" && <pre class="fault">{plain(text)}</pre>}
            <h3 class="small">{t("code")}</h3>
            <pre class="code" tabIndex={0}>
                {plain(entry.code)}
            </pre>
            {entry.output && (
                <>
                    <h3 class="small">{t("output")}</h3>
                    <pre class="console" tabIndex={0}>
                        {plain(entry.output)}
                    </pre>
                </>
            )}
            {(entry.description || entry.tags || entry.notes) && <p class="quiet">{plain([entry.description, entry.tags, entry.notes].filter(Boolean).join(" · "))}</p>}
            {steps !== undefined && <Tree value={steps} />}
            {entry.artifacts && entry.artifacts.length > 0 && <h3 class="small">{t("pictures")}</h3>}
            {entry.artifacts?.map((name) => <FetchedPicture key={name} alt={name} fetch={() => artifact(info.id, name)} />)}
            <div class="toolbar">
                {!onlyLooks.value && <button onClick={() => void replay().catch(refused)}>{t("replay")}</button>}
                {entry.payload_ref && <button onClick={() => void trace(info.id, entry.payload_ref!).then(setSteps, refused)}>{t("trace")}</button>}
            </div>
            {entry.exec_type === "javascript" && !onlyLooks.value && <p class="quiet small-print">{t("replayAlone")}</p>}
            <p class="quiet small-print mono">
                {entry.id}
                {code !== undefined && ` · ${code}`}
            </p>
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
        python: python(`print(sandbox.${method}(${literal(entry.code)}))`, id),
        typescript: typescript(`console.log(await sandbox.${method}(${literal(entry.code)}));`, id),
        cove: `cove sandbox exec ${id}${flag} ${entry.exec_type === "shell" ? `bash -c ${quoted(entry.code)}` : quoted(entry.code)}`,
    };
}
