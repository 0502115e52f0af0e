// Calls of code that wait for a person: who asks, what, why, and in which line.

import { useState } from "preact/hooks";
import { type Approval, approvals, decide } from "../../api.js";
import { note } from "../../parts/notes.js";
import { plain, plainLine } from "../../parts/plain.js";
import { usePoll } from "../../parts/poll.js";
import { curl, python, Same, typescript } from "../../parts/same.js";
import { Wait } from "../../parts/wait.js";
import { Refused, said } from "../../server.js";
import { span, t } from "../../words.js";

/** How often the list is read again, in milliseconds: somebody's code stands still meanwhile. */
const AGAIN = 1_000;

export default function Waiting() {
    const [items, setItems] = useState<Approval[] | undefined>();
    const [fault, setFault] = useState("");
    const read = async (signal?: AbortSignal) => {
        try {
            setItems(await approvals(signal ? { signal } : {}));
            setFault("");
        } catch (reason) {
            if (!signal?.aborted) setFault(said(reason));
        }
    };
    usePoll(read, AGAIN);
    const act = async (one: Approval, approve: boolean, remember: boolean) => {
        try {
            await decide(one.id, approve, { remember });
            note(t(approve ? "approvedIt" : "deniedIt", plainLine(one.tool)));
        } catch (reason) {
            // Somebody else was quicker, or the code has ended.
            note(reason instanceof Refused && reason.status === 404 ? t("decidedAlready") : said(reason));
        }
        await read();
    };
    return (
        <div class="page">
            <div class="toolbar">
                <h1>{t("waiting")}</h1>
                {items !== undefined && items.length > 0 && <span class="quiet">{items.length}</span>}
            </div>
            {fault !== "" && <p class="fault">{fault}</p>}
            {items === undefined && fault === "" && <Wait />}
            {items?.length === 0 && <p class="empty">{t("nothingWaits")}</p>}
            {items?.map((one) => <Question key={one.id} one={one} act={act} />)}
            <Same
                lines={{
                    curl: curl("GET", "/v1/approvals"),
                    python: python("print(cove.approvals.list())"),
                    typescript: typescript("console.log(await cove.approvals.list());"),
                    cove: "cove approvals",
                }}
            />
        </div>
    );
}

function Question({ one, act }: { one: Approval; act: (one: Approval, approve: boolean, remember: boolean) => Promise<void> }) {
    const [busy, setBusy] = useState(false);
    const press = (approve: boolean, remember: boolean) => {
        setBusy(true);
        void act(one, approve, remember).finally(() => setBusy(false));
    };
    return (
        <section class="card question approval" aria-label={plainLine(one.tool)}>
            <div class="toolbar">
                <h2 class="mono">{plainLine(one.tool)}</h2>
                <span class="chip warn end">{t("deniedIn", span(Date.parse(one.ends_at) - Date.now()))}</span>
            </div>
            <p class="quiet">
                <a class="mono" href={`#/sandbox/${one.sandbox_id}`}>
                    {one.sandbox_id}
                </a>
                {one.session ? ` · ${plainLine(one.session)}` : ""} · {t("waitsSince", span(Date.now() - Date.parse(one.asked_at)))}
            </p>
            <p>{plain(one.why)}</p>
            <h3 class="small">{t("arguments")}</h3>
            <pre class="code" tabIndex={0}>
                {plain(JSON.stringify(one.args, null, 2))}
            </pre>
            {one.lines.length > 0 && (
                <>
                    <h3 class="small">{t("code")}</h3>
                    <pre class="code" tabIndex={0} aria-label={t("code")}>
                        {one.lines.map((line) => `${line.line} | ${plain(line.text)}`).join("\n")}
                    </pre>
                </>
            )}
            <span class="actions">
                <button class="main" disabled={busy} onClick={() => press(true, false)}>
                    {t("approveOnce")}
                </button>
                <button disabled={busy} onClick={() => press(true, true)}>
                    {t("approveSession")}
                </button>
                <button class="danger" disabled={busy} onClick={() => press(false, false)}>
                    {t("deny")}
                </button>
            </span>
        </section>
    );
}
