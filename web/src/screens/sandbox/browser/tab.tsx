// The sandbox's browser: what it shows, live, and the agent's commands beside it. A person may send commands too, or take
// control for a while: the agent's commands wait meanwhile, and are told.

import { useEffect, useState } from "preact/hooks";
import { type BrowserResult, history, type HistoryEntry, runBrowser, type Sandbox } from "../../../api.js";
import { useEvents } from "../../../events.js";
import { refused } from "../../../parts/notes.js";
import { usePoll } from "../../../parts/poll.js";
import { plain, plainLine } from "../../../parts/plain.js";
import { curl, literal, python, quoted, Same, typescript } from "../../../parts/same.js";
import { onlyLooks } from "../../../session.js";
import { t, took } from "../../../words.js";
import { lastSnapshot, placed, type Ref, refsIn } from "./refs.js";
import { View } from "./view.js";

/** Commands that are shown beside it. */
const SHOWN = 40;
const BROWSER_KINDS = ["browser", "browser_batch"];

export function BrowserTab({ info }: { info: Sandbox }) {
    const [command, setCommand] = useState("open data:text/html,<h1>Ahoy</h1>");
    const [busy, setBusy] = useState(false);
    const [result, setResult] = useState<BrowserResult | undefined>();
    const [commands, setCommands] = useState<HistoryEntry[]>([]);
    const [version, setVersion] = useState(0);
    const [running, setRunning] = useState<ReadonlySet<unknown>>(new Set());
    const [mine, setMine] = useState(false);
    const [started, setStarted] = useState(false);
    const [drawn, setDrawn] = useState(false);
    const [refs, setRefs] = useState<Ref[]>([]);
    usePoll(
        async (signal) => {
            const kinds = await Promise.all(BROWSER_KINDS.map((exec_type) => history(info.id, { limit: SHOWN, offset: 0, exec_type }, { signal })));
            const all = kinds.flatMap((kind) => kind.entries);
            setCommands(all.sort((a, b) => (a.created_at < b.created_at ? 1 : -1)).slice(0, SHOWN));
        },
        60_000,
        [info.id, version],
    );
    useEvents(info.id, (event) => {
        const { execution_id: run, exec_type: kind } = event.data;
        if (event.kind === "run_started" && BROWSER_KINDS.includes(String(kind))) setRunning((now) => new Set([...now, run]));
        if (event.kind !== "run_finished" && event.kind !== "gap") return;
        setRunning((now) => (event.kind === "gap" ? new Set() : new Set([...now].filter((one) => one !== run))));
        setVersion((now) => now + 1);
    });
    const newest = commands[0]?.id;
    useEffect(() => {
        setRefs([]);
        const snapshot = drawn && !mine ? lastSnapshot(commands) : undefined;
        if (snapshot === undefined) return;
        let there = true;
        placed(info.id, refsIn(snapshot.output ?? "")).then((all) => there && setRefs(all), refused);
        return () => {
            there = false;
        };
    }, [info.id, drawn, mine, newest]);
    const run = async (cmd: string) => {
        setBusy(true);
        await runBrowser(info.id, { cmd, timeout: 60 }).then((ran) => (setResult(ran), setStarted(true)), refused);
        setBusy(false);
    };
    const browsers = (info.containers ?? []).filter((one) => one.capabilities.includes("browser"));
    const runs = started || browsers.some((one) => one.healthy !== false);
    return (
        <div class="browser-tab">
            <div class="split open browser-split">
                <View id={info.id} runs={runs} refs={refs} underWay={running.size} held={setMine} />
                <div class="browser-side">
                    {!onlyLooks.value && (
                        <section class="card">
                            <form
                                class="command"
                                onSubmit={(event) => {
                                    event.preventDefault();
                                    void run(command);
                                }}
                            >
                                <label class="small" for="browser-command">
                                    {t("command")}
                                </label>
                                <div class="toolbar">
                                    <input id="browser-command" class="mono wide" spellcheck={false} value={command} onInput={(event) => setCommand(event.currentTarget.value)} />
                                    <button disabled={busy || mine || command.trim() === ""}>
                                        {t("send")}
                                    </button>
                                </div>
                                <div class="toolbar">
                                    {["snapshot -i", "back", "reload"].map((one) => (
                                        <button type="button" class="mono" key={one} disabled={busy || mine} onClick={() => void run(one)}>
                                            {one}
                                        </button>
                                    ))}
                                    <label class="inline end" title={t("refsWhy")}>
                                        <input type="checkbox" checked={drawn} onChange={(event) => setDrawn(event.currentTarget.checked)} /> {t("refs")}
                                    </label>
                                </div>
                            </form>
                            {result && (
                                <pre class={result.success ? "console" : "fault"} tabIndex={0}>
                                    {result.success ? result.output || t("done") : (result.error ?? result.stderr)}
                                </pre>
                            )}
                            <p class="quiet small-print">{t("browserUse")}</p>
                        </section>
                    )}
                    <section class="card commands">
                        <h2 class="small">{t("commands")}</h2>
                        {commands.length === 0 && <p class="quiet">{t("noHistory")}</p>}
                        {commands.map((one) => (
                            <Command key={one.id} entry={one} />
                        ))}
                    </section>
                </div>
            </div>
            <Same
                lines={{
                    curl: curl("POST", `/v1/sandboxes/${info.id}/browser/exec`, { cmd: command }),
                    python: python(`print(sandbox.browser.exec(${literal(command)}).output)`, info.id),
                    typescript: typescript(`console.log((await sandbox.browser.exec(${literal(command)})).output);`, info.id),
                    cove: `cove sandbox exec ${info.id} --browser ${quoted(command)}`,
                }}
            />
        </div>
    );
}

/** A command, and what it answered. */
function Command({ entry }: { entry: HistoryEntry }) {
    const answer = entry.success ? entry.output : entry.error;
    return (
        <details class={entry.success ? "" : "failed"}>
            <summary>
                <code>{plainLine(entry.code.slice(0, 200))}</code> <span class="quiet">{took(entry.execution_time_ms)}</span>
            </summary>
            <pre class={entry.success ? "console" : "fault"} tabIndex={0}>
                {answer ? plain(answer) : t("done")}
            </pre>
        </details>
    );
}
