// All sandboxes, as they are now.

import { useRef, useState } from "preact/hooks";
import { deleteSandbox, extendSandbox, type HistoryEntry, lastExecution, type Sandbox, sandboxes, stopSandbox } from "../../api.js";
import { useKey } from "../../keys.js";
import { note, refused } from "../../parts/notes.js";
import { usePoll } from "../../parts/poll.js";
import { curl, Same } from "../../parts/same.js";
import { StatusDot } from "../../parts/status.js";
import { Wait } from "../../parts/wait.js";
import { go } from "../../route.js";
import { said } from "../../server.js";
import { bytes, span, t } from "../../words.js";
import { Create } from "./create.js";

/** How often the table is read again, in milliseconds. */
const AGAIN = 2_000;
/** For so many rows at the top the last call is looked up, and so often. */
const LOOKED_UP = 24;
const LOOKED_UP_AGAIN = 8_000;

export default function Sandboxes() {
    const [items, setItems] = useState<Sandbox[] | undefined>();
    const [fault, setFault] = useState("");
    const [sought, setSought] = useState("");
    const [making, setMaking] = useState(false);
    const [busy, setBusy] = useState<ReadonlyMap<string, number>>(new Map());
    const before = useRef<{ at: number; cpu: Map<string, number> } | undefined>();
    const [last, setLast] = useState<ReadonlyMap<string, HistoryEntry>>(new Map());
    const search = useRef<HTMLInputElement>(null);
    const read = async (signal?: AbortSignal) => {
        try {
            const all = await sandboxes(signal ? { signal } : {});
            // Two readings give the share of a processor between them.
            const now = { at: Date.now(), cpu: new Map(all.flatMap((one) => (one.usage ? [[one.id, one.usage.cpu_ms] as const] : []))) };
            const then = before.current;
            if (then !== undefined && now.at > then.at) {
                const shares = [...now.cpu].flatMap(([id, ms]) => {
                    const was = then.cpu.get(id);
                    return was === undefined ? [] : [[id, (100 * Math.max(0, ms - was)) / (now.at - then.at)] as const];
                });
                setBusy(new Map(shares));
            }
            before.current = now;
            setItems(all);
            setFault("");
        } catch (reason) {
            if (!signal?.aborted) setFault(said(reason));
        }
    };
    usePoll(read, AGAIN);
    const shown = (items ?? []).filter((one) => `${one.id} ${one.profile} ${one.status}`.includes(sought.trim()));
    const top = useRef<Sandbox[]>([]);
    top.current = shown.slice(0, LOOKED_UP);
    usePoll(
        async (signal) => {
            const found = new Map<string, HistoryEntry>();
            for (const one of top.current) {
                if (signal.aborted) return;
                const entry = await lastExecution(one.id).catch(() => undefined);
                if (entry !== undefined) found.set(one.id, entry);
            }
            setLast(found);
        },
        LOOKED_UP_AGAIN,
        [items === undefined, sought],
    );
    useKey("/", "search", () => search.current?.focus());
    useKey("n", "newSandbox", () => setMaking(true));
    const act = (what: Promise<unknown>, done: string) => what.then(() => (note(done), read())).catch(refused);
    return (
        <div class="page">
            <div class="toolbar">
                <h1>{t("sandboxes")}</h1>
                <input ref={search} type="search" aria-label={t("search")} placeholder={`${t("search")} (/)`} value={sought} onInput={(event) => setSought(event.currentTarget.value)} />
                <button class="main end" onClick={() => setMaking(true)}>
                    + {t("newSandbox")}
                </button>
            </div>
            {fault !== "" && <p class="fault">{fault}</p>}
            {items === undefined && fault === "" && <Wait />}
            {items?.length === 0 && <p class="empty">{t("noSandboxes")}</p>}
            {shown.length > 0 && (
                <div class="table-scroll">
                    <table class="rows boxes">
                        <thead>
                            <tr>
                                <th scope="col">{t("status")}</th>
                                <th scope="col">{t("sandbox")}</th>
                                <th scope="col">{t("profile")}</th>
                                <th scope="col">{t("age")}</th>
                                <th scope="col">{t("expires")}</th>
                                <th scope="col" class="figure">
                                    {t("memory")}
                                </th>
                                <th scope="col" class="figure" title={t("cpuWhy")}>
                                    {t("cpu")}
                                </th>
                                <th scope="col">{t("lastCall")}</th>
                                <th scope="col">
                                    <span class="unseen">{t("actions")}</span>
                                </th>
                            </tr>
                        </thead>
                        <tbody>
                            {shown.map((one) => (
                                <tr key={one.id} onDblClick={() => go(`sandbox/${one.id}`)}>
                                    <td>
                                        <StatusDot status={one.status} />
                                    </td>
                                    <td>
                                        <a class="mono" href={`#/sandbox/${one.id}`}>
                                            {one.id}
                                        </a>
                                        {one.warnings && one.warnings.length > 0 && (
                                            <span class="warn-mark" title={one.warnings.join("\n")} role="img" aria-label={one.warnings.join("; ")}>
                                                ⚠
                                            </span>
                                        )}
                                    </td>
                                    <td>{one.profile}</td>
                                    <td>{span(Date.now() - Date.parse(one.created_at))}</td>
                                    <td>{one.expires_at ? t("in", span(Date.parse(one.expires_at) - Date.now())) : t("never")}</td>
                                    <td class="figure">{one.usage ? bytes(one.usage.memory_bytes) : "–"}</td>
                                    <td class="figure">{busy.has(one.id) ? `${busy.get(one.id)!.toFixed(0)} %` : "–"}</td>
                                    <td class="last">
                                        <Last entry={last.get(one.id)} />
                                    </td>
                                    <td>
                                        <span class="actions">
                                        <button disabled={one.status !== "ready"} onClick={() => void act(stopSandbox(one.id), t("stoppedIt", one.id))}>
                                            {t("stop")}
                                        </button>
                                        <button disabled={!one.expires_at} onClick={() => void act(extendSandbox(one.id, 3_600), t("extendedIt", one.id))}>
                                            {t("extend")}
                                        </button>
                                        <button
                                            class="danger"
                                            onClick={() => confirm(t("sureDelete", one.id)) && void act(deleteSandbox(one.id), t("deletedIt", one.id))}
                                        >
                                            {t("delete")}
                                        </button>
                                        </span>
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            <Same
                lines={{
                    curl: curl("GET", "/v1/sandboxes"),
                    python: "for sandbox in cove.sandboxes.all(): print(sandbox.id)",
                    typescript: "for await (const sandbox of cove.sandboxes.all()) console.log(sandbox.id);",
                    cove: "cove sandbox list",
                }}
            />
            {making && <Create close={() => setMaking(false)} made={(one) => go(`sandbox/${one.id}`)} />}
        </div>
    );
}

function Last({ entry }: { entry: HistoryEntry | undefined }) {
    if (entry === undefined) return <span class="quiet">–</span>;
    return (
        <span class={entry.success ? "" : "failed"}>
            <span class="kind">{entry.exec_type}</span> {entry.code.split("\n", 1)[0]!.slice(0, 60)}
        </span>
    );
}
