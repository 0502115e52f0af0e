// All sandboxes, as they are now.

import { useRef, useState } from "preact/hooks";
import { deleteSandbox, extendSandbox, type Sandbox, sandboxes, stopSandbox } from "../../api.js";
import { useKey } from "../../keys.js";
import { note, refused } from "../../parts/notes.js";
import { usePoll } from "../../parts/poll.js";
import { curl, python, Same, typescript } from "../../parts/same.js";
import { Wait } from "../../parts/wait.js";
import { go } from "../../route.js";
import { said } from "../../server.js";
import { t } from "../../words.js";
import { useLastCalls } from "./calls.js";
import { Create } from "./create.js";
import { Row } from "./row.js";

/** How often the table is read again, in milliseconds. */
const AGAIN = 2_000;
export default function Sandboxes() {
    const [items, setItems] = useState<Sandbox[] | undefined>();
    const [fault, setFault] = useState("");
    const [sought, setSought] = useState("");
    const [making, setMaking] = useState(false);
    const [busy, setBusy] = useState<ReadonlyMap<string, number>>(new Map());
    const before = useRef<{ at: number; cpu: Map<string, number> } | undefined>();
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
    const watched = useLastCalls();
    useKey("/", "search", () => search.current?.focus());
    useKey("n", "newSandbox", () => setMaking(true));
    const act = (what: Promise<unknown>, done: string) => what.then(() => (note(done), read())).catch(refused);
    return (
        <div class="page">
            <div class="toolbar">
                <h1>
                    {t("sandboxes")} {items !== undefined && <span class="quiet tally">{shown.length === items.length ? items.length : `${shown.length} / ${items.length}`}</span>}
                </h1>
                <input ref={search} type="search" aria-label={t("search")} placeholder={`${t("search")} (/)`} value={sought} onInput={(event) => setSought(event.currentTarget.value)} />
                <button class="main end" onClick={() => setMaking(true)}>
                    + {t("newSandbox")}
                </button>
            </div>
            {fault !== "" && <p class="fault">{fault}</p>}
            {items === undefined && fault === "" && <Wait />}
            {items?.length === 0 && <p class="empty">{t("noSandboxes")}</p>}
            {items !== undefined && items.length > 0 && shown.length === 0 && <p class="empty">{t("noHits", sought.trim())}</p>}
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
                                <Row
                                    key={one.id}
                                    one={one}
                                    share={busy.get(one.id)}
                                    watched={watched}
                                    stop={() => void act(stopSandbox(one.id), t("stoppedIt", one.id))}
                                    extend={() => void act(extendSandbox(one.id, 3_600), t("extendedIt", one.id))}
                                    remove={() => confirm(t("sureDelete", one.id)) && void act(deleteSandbox(one.id), t("deletedIt", one.id))}
                                />
                            ))}
                        </tbody>
                    </table>
                </div>
            )}
            <Same
                lines={{
                    curl: curl("GET", "/v1/sandboxes"),
                    python: python("for sandbox in cove.sandboxes.all(): print(sandbox.id)"),
                    typescript: typescript("for await (const sandbox of cove.sandboxes.all()) console.log(sandbox.id);"),
                    cove: "cove sandbox list",
                }}
            />
            {making && <Create close={() => setMaking(false)} made={(one) => go(`sandbox/${one.id}`)} />}
        </div>
    );
}
