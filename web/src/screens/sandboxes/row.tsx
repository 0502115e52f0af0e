// One sandbox in the list.

import { useEffect, useRef } from "preact/hooks";
import type { HistoryEntry, Sandbox } from "../../api.js";
import { plainLine } from "../../parts/plain.js";
import { StatusDot } from "../../parts/status.js";
import { go } from "../../route.js";
import { bytes, span, t } from "../../words.js";
import type { Watched } from "./calls.js";

interface Props {
    one: Sandbox;
    /** The share of a processor that it uses, where that is known. */
    share: number | undefined;
    watched: Watched;
    stop: () => void;
    extend: () => void;
    remove: () => void;
}

export function Row({ one, share, watched, stop, extend, remove }: Props) {
    const place = useRef<HTMLTableRowElement>(null);
    useEffect(() => watched.watch(place.current!, one.id), [one.id]);
    return (
        <tr ref={place} onDblClick={() => go(`sandbox/${one.id}`)}>
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
            <td title={one.profile}>{one.profile}</td>
            <td data-label={t("age")}>{span(Date.now() - Date.parse(one.created_at))}</td>
            <td data-label={t("expires")}>{one.expires_at ? t("in", span(Date.parse(one.expires_at) - Date.now())) : t("never")}</td>
            <td class="figure" data-label={t("memory")}>
                {one.usage ? bytes(one.usage.memory_bytes) : "–"}
            </td>
            <td class="figure" data-label={t("cpu")}>
                {share === undefined ? "–" : `${share.toFixed(0)} %`}
            </td>
            <td class="last">
                <Last entry={watched.calls.get(one.id)} />
            </td>
            <td>
                <span class="actions">
                    <button disabled={one.status !== "ready"} onClick={stop}>
                        {t("stop")}
                    </button>
                    <button disabled={!one.expires_at} onClick={extend}>
                        {t("extend")}
                    </button>
                    <button class="danger" onClick={remove}>
                        {t("delete")}
                    </button>
                </span>
            </td>
        </tr>
    );
}

function Last({ entry }: { entry: HistoryEntry | null | undefined }) {
    if (entry === undefined) return <span class="quiet" title={t("loading")}>…</span>;
    if (entry === null) return <span class="quiet">{t("noneYet")}</span>;
    const line = plainLine(entry.code.split("\n", 1)[0]!.slice(0, 120));
    return (
        <span class={entry.success ? "" : "failed"} title={line}>
            <span class="kind">{entry.exec_type}</span> {line}
        </span>
    );
}
