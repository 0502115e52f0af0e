// The sandbox's browser, one command at a time: what an agent sends, a person can send too. The picture is taken when it is
// asked for, by the same command that agents use: it is in the timeline, and counts as use.

import { useState } from "preact/hooks";
import { type BrowserResult, download, history, type HistoryEntry, runBrowser, type Sandbox } from "../../api.js";
import { useEvents } from "../../events.js";
import { refused } from "../../parts/notes.js";
import { Picture } from "../../parts/picture.js";
import { usePoll } from "../../parts/poll.js";
import { curl, literal, quoted, Same } from "../../parts/same.js";
import { t, took } from "../../words.js";

/** Where the picture is put: one file, written anew each time. */
const PLACE = ".page-view.png";
/** Commands that are shown beside it. */
const SHOWN = 20;

export function BrowserTab({ info }: { info: Sandbox }) {
    const [command, setCommand] = useState("open data:text/html,<h1>Ahoy</h1>");
    const [busy, setBusy] = useState(false);
    const [result, setResult] = useState<BrowserResult | undefined>();
    const [picture, setPicture] = useState<Uint8Array<ArrayBuffer> | undefined>();
    const [commands, setCommands] = useState<HistoryEntry[]>([]);
    const [version, setVersion] = useState(0);
    usePoll(async (signal) => setCommands((await history(info.id, { limit: SHOWN, offset: 0, exec_type: "browser" }, { signal })).entries), 60_000, [version]);
    useEvents(info.id, (event) => event.kind === "run_finished" && setVersion((now) => now + 1));
    const look = async () => {
        const taken = await runBrowser(info.id, { cmd: `screenshot ${PLACE}` });
        if (taken.success) setPicture(new Uint8Array(await download(info.id, PLACE)));
        else setResult(taken);
    };
    const send = async (what: () => Promise<void>) => {
        setBusy(true);
        await what().catch(refused);
        setBusy(false);
    };
    const run = async (cmd: string) => {
        setResult(await runBrowser(info.id, { cmd, timeout: 60 }));
        await look();
    };
    return (
        <div class="browser-tab">
            <form
                class="toolbar"
                onSubmit={(event) => {
                    event.preventDefault();
                    void send(() => run(command));
                }}
            >
                <input class="mono wide" aria-label={t("command")} spellcheck={false} value={command} onInput={(event) => setCommand(event.currentTarget.value)} />
                <button class="main" disabled={busy || command.trim() === ""}>
                    {t("send")}
                </button>
                {["snapshot -i", "back", "reload"].map((one) => (
                    <button type="button" key={one} disabled={busy} onClick={() => void send(() => run(one))}>
                        {one}
                    </button>
                ))}
                <button type="button" disabled={busy} onClick={() => void send(look)}>
                    {t("takePicture")}
                </button>
            </form>
            <p class="quiet">{t("browserUse")}</p>
            <div class="split open">
                <div class="browser-view" aria-busy={busy}>
                    {picture ? <Picture bytes={picture} alt={t("browserPicture")} /> : <p class="empty">{busy ? t("loading") : t("noView")}</p>}
                </div>
                <div class="browser-side">
                    {result && (
                        <section class="card">
                            <h2 class="small">{t("output")}</h2>
                            <pre class={result.success ? "console" : "fault"} tabIndex={0}>
                                {result.success ? result.output || t("done") : (result.error ?? result.stderr)}
                            </pre>
                        </section>
                    )}
                    <section class="card">
                        <h2 class="small">{t("commands")}</h2>
                        <ul class="plain-list">
                            {commands.map((one) => (
                                <li key={one.id} class={one.success ? "" : "failed"}>
                                    <code>{one.code.slice(0, 120)}</code> <span class="quiet">{took(one.execution_time_ms)}</span>
                                </li>
                            ))}
                        </ul>
                    </section>
                </div>
            </div>
            <Same
                lines={{
                    curl: curl("POST", `/v1/sandboxes/${info.id}/browser/exec`, { cmd: command }),
                    python: `sandbox.browser.exec(${literal(command)})`,
                    typescript: `await sandbox.browser.exec(${literal(command)});`,
                    cove: `cove sandbox exec ${info.id} --browser ${quoted(command)}`,
                }}
            />
        </div>
    );
}
