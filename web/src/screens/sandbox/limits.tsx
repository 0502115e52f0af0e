// What this sandbox may use and reach, what holds it, and what was refused.

import { useEffect, useState } from "preact/hooks";
import { type Barrier, history, type HistoryEntry, type Profile, profiles, type Sandbox } from "../../api.js";
import { Marked } from "../../parts/marked.js";
import { curl, Same } from "../../parts/same.js";
import { ask } from "../../server.js";
import { onlyLooks, session } from "../../session.js";
import { span, t, type Word } from "../../words.js";
import type { HostReport } from "../host/report.js";

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
    const [host, setHost] = useState<HostReport | undefined>();
    const [refusals, setRefusals] = useState<HistoryEntry[]>([]);
    useEffect(() => {
        if (!onlyLooks.value) profiles().then((all) => setProfile(all.find((one) => one.id === info.profile)), () => undefined);
        if (session.value?.admin) ask<HostReport>("GET", "/page/host").then(setHost, () => undefined);
        history(info.id, { limit: LISTED, offset: 0, barred: true }).then((list) => setRefusals(list.entries), () => undefined);
    }, [info.id]);
    const opened = host?.profiles.find((one) => one.id === info.profile)?.containers ?? [];
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
                    {host === undefined && <p class="quiet">{t("networkUnknown")}</p>}
                    {host !== undefined && opened.every((one) => one.network.allow_hosts.length === 0) && <p>{t("networkClosed")}</p>}
                    {opened
                        .filter((one) => one.network.allow_hosts.length > 0)
                        .map((one) => (
                            <dl key={one.name} class="facts">
                                <dt>{t("container")}</dt>
                                <dd>{one.name}</dd>
                                <dt>{t("openHosts")}</dt>
                                <dd class="mono">{one.network.allow_hosts.join(", ")}</dd>
                                {one.network.allow_private.length > 0 && (
                                    <>
                                        <dt>{t("openPrivate")}</dt>
                                        <dd class="mono">{one.network.allow_private.join(", ")}</dd>
                                    </>
                                )}
                            </dl>
                        ))}
                </section>
            </div>
            <section class="card">
                <h2>{t("refusedHere")}</h2>
                {refusals.length === 0 && <p class="quiet">{t("nothingRefused")}</p>}
                <ul class="plain-list">
                    {refusals.map((one) => (
                        <li key={one.id}>
                            {one.barrier && <span class="chip warn">{t(BARRIERS[one.barrier])}</span>} <span class="kind">{one.exec_type}</span>{" "}
                            <code>{one.code.split("\n", 1)[0]!.slice(0, 80)}</code>
                            <p class="quiet small-print">{(one.error ?? "").trim().split("\n").at(one.exec_type === "python" ? -1 : 0)}</p>
                        </li>
                    ))}
                </ul>
            </section>
            <Same
                lines={{
                    curl: curl("GET", `/v1/sandboxes/${info.id}`),
                    python: `cove.sandboxes.get("${info.id}")`,
                    typescript: `await cove.sandboxes.get("${info.id}");`,
                    cove: `cove sandbox get ${info.id}`,
                }}
            />
        </div>
    );
}
