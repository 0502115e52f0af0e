// What this sandbox may use and reach, what holds it, and what was refused.

import { useEffect, useState } from "preact/hooks";
import { type Barrier, history, type HistoryEntry, type Profile, profiles, type Sandbox } from "../../api.js";
import { Marked } from "../../parts/marked.js";
import { plainLine } from "../../parts/plain.js";
import { curl, python, Same, typescript } from "../../parts/same.js";
import { onlyLooks } from "../../session.js";
import { span, t, type Word } from "../../words.js";
import { causeOf } from "./cause.js";

/** So many refusals are listed. */
const LISTED = 20;

const BARRIERS: Record<Barrier, Word> = {
    time_limit: "timeLimit",
    step_limit: "stepLimit",
    memory_limit: "memoryLimitHit",
    disk_limit: "diskLimit",
    size_limit: "sizeLimit",
    not_allowed: "notAllowed",
};

/** `1g`, as profiles write it, for people. */
const memory = (text: string): string => text.replace(/^(\d+(?:\.\d+)?)([kmg])i?b?$/i, (_, count: string, unit: string) => `${count} ${unit.toUpperCase()}B`);

export function Limits({ info }: { info: Sandbox }) {
    const [profile, setProfile] = useState<Profile | undefined>();
    const [refusals, setRefusals] = useState<HistoryEntry[]>([]);
    useEffect(() => {
        if (!onlyLooks.value) profiles().then((all) => setProfile(all.find((one) => one.id === info.profile)), () => undefined);
        history(info.id, { limit: LISTED, offset: 0, barred: true }).then((list) => setRefusals(list.entries), () => undefined);
    }, [info.id]);
    const opened = (info.network ?? []).filter((one) => one.allow_hosts.length > 0);
    return (
        <div class="limits">
            <div class="cards">
                <section class="card">
                    <h2>{t("limitsOnly")}</h2>
                    <dl class="facts">
                        <dt>{t("cpus")}</dt>
                        <dd>{profile?.resources.cpus ?? "–"}</dd>
                        <dt>{t("memory")}</dt>
                        <dd>{profile ? memory(profile.resources.memory) : "–"}</dd>
                        <dt>{t("idleFor")}</dt>
                        <dd>{profile ? span(profile.idle_timeout * 1_000) : "–"}</dd>
                        <dt>{t("expires")}</dt>
                        <dd>{info.expires_at ? new Date(info.expires_at).toLocaleString() : t("never")}</dd>
                        <dt>{t("capabilities")}</dt>
                        <dd>{info.capabilities.join(", ")}</dd>
                    </dl>
                </section>
                <section class="card">
                    <h2>{t("holds")}</h2>
                    {info.warnings && info.warnings.length > 0 ? (
                        <ul class="warnings">
                            {info.warnings.map((one) => (
                                <li key={one} class="warning">
                                    <Marked text={one} />
                                </li>
                            ))}
                        </ul>
                    ) : (
                        (info.containers ?? []).length > 0 && <p>{t("allHolds")}</p>
                    )}
                    <h3 class="small">{t("containers")}</h3>
                    {(info.containers ?? []).length === 0 && <p class="quiet">{t("noSession")}</p>}
                    <ul class="plain-list">
                        {info.containers?.map((one) => (
                            <li key={one.name}>
                                {one.name} <span class={one.healthy === false ? "chip bad" : "chip good"}>{one.status}</span> <span class="quiet">{one.version}</span>
                            </li>
                        ))}
                    </ul>
                </section>
                <section class="card">
                    <h2>{t("network")}</h2>
                    {info.network && opened.length === 0 && <p>{t("networkClosed")}</p>}
                    {opened.map((one) => (
                        <dl key={one.container} class="facts">
                            <dt>{t("container")}</dt>
                            <dd>{one.container}</dd>
                            <dt>{t("openHosts")}</dt>
                            <dd class="mono">{one.allow_hosts.join(", ")}</dd>
                            {one.allow_private.length > 0 && (
                                <>
                                    <dt>{t("openPrivate")}</dt>
                                    <dd class="mono">{one.allow_private.join(", ")}</dd>
                                </>
                            )}
                        </dl>
                    ))}
                </section>
            </div>
            <section class="card">
                <h2>{t("refusedHere")}</h2>
                {refusals.length === 0 && <p class="quiet">{t("nothingRefused")}</p>}
                <ul class="plain-list refusals">
                    {refusals.map((one) => (
                        <li key={one.id}>
                            <div class="toolbar">
                                <time class="quiet" dateTime={one.created_at} title={new Date(one.created_at).toLocaleString()}>
                                    {new Date(one.created_at).toLocaleTimeString()}
                                </time>
                                {one.barrier && <span class="chip warn">{t(BARRIERS[one.barrier])}</span>}
                                <a href={`#/sandbox/${info.id}/timeline?call=${one.id}`}>
                                    <span class="kind">{one.exec_type}</span> <code>{plainLine(one.code.split("\n", 1)[0]!.slice(0, 80))}</code>
                                </a>
                            </div>
                            <p class="quiet">{causeOf(one)}</p>
                        </li>
                    ))}
                </ul>
            </section>
            <Same
                lines={{
                    curl: curl("GET", `/v1/sandboxes/${info.id}`),
                    python: python("print(sandbox.info)", info.id),
                    typescript: typescript("console.log(sandbox.info);", info.id),
                    cove: `cove sandbox get ${info.id}`,
                }}
            />
        </div>
    );
}
