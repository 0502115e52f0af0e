// One sandbox: its state above, one of its tabs below.

import { useEffect, useRef, useState } from "preact/hooks";
import { deleteSandbox, extendSandbox, type Sandbox, sandbox, stopSandbox } from "../../api.js";
import { useKey } from "../../keys.js";
import { copied } from "../../parts/copy.js";
import { note, refused } from "../../parts/notes.js";
import { usePoll } from "../../parts/poll.js";
import { StatusDot } from "../../parts/status.js";
import { Wait } from "../../parts/wait.js";
import { go, route } from "../../route.js";
import { ask, Refused, said } from "../../server.js";
import { onlyLooks } from "../../session.js";
import { span, t, type Word } from "../../words.js";
import { BrowserTab } from "./browser/tab.js";
import { Cells } from "./cells.js";
import { Files } from "./files.js";
import { Limits } from "./limits.js";
import { Ports } from "./ports.js";
import { TerminalTab } from "./terminal.js";
import { Timeline } from "./timeline.js";

interface TabSpec {
    path: string;
    word: Word;
    /** What the sandbox must be able to do. */
    needs?: string;
    /** Whether it only shows. */
    looks?: boolean;
    view: (props: { info: Sandbox }) => preact.JSX.Element;
}

const TABS: TabSpec[] = [
    { path: "timeline", word: "timeline", looks: true, view: Timeline },
    { path: "files", word: "files", needs: "filesystem", looks: true, view: Files },
    { path: "terminal", word: "terminal", needs: "terminal", view: TerminalTab },
    { path: "python", word: "python", needs: "python", view: (props) => <Cells key="python" {...props} language="python" /> },
    { path: "javascript", word: "javascript", needs: "javascript", view: (props) => <Cells key="javascript" {...props} language="javascript" /> },
    { path: "browser", word: "browser", needs: "browser", looks: true, view: BrowserTab },
    { path: "ports", word: "ports", needs: "shell", view: Ports },
    { path: "limits", word: "limits", looks: true, view: Limits },
];

/** How often its state is read again, in milliseconds. */
const AGAIN = 2_000;

export default function OneSandbox() {
    const [, id = "", tab = "timeline"] = route.value.segments;
    const [info, setInfo] = useState<Sandbox | undefined>();
    const [fault, setFault] = useState("");
    const read = async (signal?: AbortSignal) => {
        try {
            setInfo(await sandbox(id, signal ? { signal } : {}));
            setFault("");
        } catch (reason) {
            if (signal?.aborted) return;
            setFault(said(reason));
            if (reason instanceof Refused && reason.status === 404) setInfo(undefined);
        }
    };
    usePoll(read, AGAIN, [id]);
    const bar = useRef<HTMLElement>(null);
    // On a phone the bar is longer than the screen.
    useEffect(() => bar.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [tab, info === undefined]);
    const tabs = TABS.filter((one) => (one.needs === undefined || info?.capabilities.includes(one.needs)) && (!onlyLooks.value || one.looks));
    TABS.forEach((one, at) => useKey(String(at + 1), info !== undefined && tabs.includes(one) ? one.word : undefined, () => go(`sandbox/${id}/${one.path}`)));
    if (info === undefined || info.id !== id) return fault === "" ? <Wait /> : <p class="empty fault">{fault}</p>;
    const shown = tabs.find((one) => one.path === tab) ?? tabs[0]!;
    const act = (what: Promise<unknown>, done: string) => what.then(() => (note(done), read())).catch(refused);
    const share = async () => {
        const link = await ask<{ path: string }>("POST", "/page/links", { body: { sandbox_id: id } });
        await copied(location.origin + link.path, t("shareCopied"), t("share"));
    };
    const View = shown.view;
    return (
        <div class="page sandbox">
            <div class="toolbar">
                <h1 class="mono sandbox-name">{info.id}</h1>
                <span class="about">
                    <StatusDot status={info.status} />
                    <span class="quiet">
                    {info.profile}
                    {info.expires_at && ` · ${t("expires")} ${t("in", span(Date.parse(info.expires_at) - Date.now()))}`}
                    </span>
                </span>
                {onlyLooks.value ? (
                    <span class="chip end">{t("onlyLooks")}</span>
                ) : (
                    <span class="end actions">
                        <button onClick={() => void share().catch(refused)}>{t("share")}</button>
                        <button disabled={info.status !== "ready"} onClick={() => void act(stopSandbox(id), t("stoppedIt", id))}>
                            {t("stop")}
                        </button>
                        <button disabled={!info.expires_at} onClick={() => void act(extendSandbox(id, 3_600), t("extendedIt", id))}>
                            {t("extend")}
                        </button>
                        <button class="danger" onClick={() => confirm(t("sureDelete", id)) && void deleteSandbox(id).then(() => go("sandboxes"), refused)}>
                            {t("delete")}
                        </button>
                    </span>
                )}
            </div>
            <nav class="tabs" ref={bar} aria-label={t("tabs")}>
                {tabs.map((one) => (
                    <a key={one.path} href={`#/sandbox/${id}/${one.path}`} aria-current={one === shown ? "page" : undefined}>
                        {t(one.word)}
                    </a>
                ))}
            </nav>
            {fault !== "" && <p class="fault">{fault}</p>}
            <View key={`${id} ${shown.path}`} info={info} />
        </div>
    );
}
