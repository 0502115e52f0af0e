// The machine: its engines and walls, what it keeps ready, how busy it is, what it refused.

import { useRef, useState } from "preact/hooks";
import { Marked } from "../../parts/marked.js";
import { usePoll } from "../../parts/poll.js";
import { curl, python, Same, typescript } from "../../parts/same.js";
import { Wait } from "../../parts/wait.js";
import { answer, ask, said } from "../../server.js";
import { session } from "../../session.js";
import { bytes, t } from "../../words.js";
import { Chart } from "./chart.js";
import { type Figure, quantile, readFigures, sum } from "./figures.js";
import type { HostReport } from "./report.js";

/** How often it is read, in milliseconds, and for how long it is kept. */
const AGAIN = 2_000;
const KEPT = 150;

/** Ticks of bytes stand at 256 MB, 512 MB, 1 GB. */
const BYTE_STEPS = Array.from({ length: 50 }, (_, power) => 2 ** power);

/** Refusals of so many seconds are recent. */
const LATELY = 300;

/** How often something was refused, and how often of that since this screen has been open, or in the last minutes. */
interface Refusals {
    code: string;
    count: number;
    lately: number;
}

interface Sample {
    at: number;
    memory: number;
    available: number;
    sessions: number;
    flight: number;
    rate: number | null;
    half: number | null;
    most: number | null;
}

export default function Host() {
    const [report, setReport] = useState<HostReport | undefined>();
    const [samples, setSamples] = useState<Sample[]>([]);
    const [refusals, setRefusals] = useState<Refusals[]>([]);
    const earlier = useRef<{ at: number; counts: Map<string, number> }[]>([]);
    const [fault, setFault] = useState("");
    const before = useRef<{ at: number; figures: Figure[] } | undefined>();
    usePoll(async (signal) => {
        try {
            const [host, text] = await Promise.all([
                ask<HostReport>("GET", "/page/host", { signal }),
                answer("GET", "/metrics", { signal }).then((response) => response.text()),
            ]);
            const at = Date.now() / 1_000;
            const figures = readFigures(text);
            const then = before.current;
            const name = "cove_http_request_seconds";
            const requests = "cove_http_requests_total";
            setReport(host);
            setSamples((all) => [
                ...all.slice(1 - KEPT),
                {
                    at,
                    memory: host.memory.process_bytes,
                    available: host.memory.total_bytes - host.memory.available_bytes,
                    sessions: host.sessions,
                    flight: sum(figures, "cove_http_requests_in_flight"),
                    rate: then ? (sum(figures, requests) - sum(then.figures, requests)) / (at - then.at) : null,
                    half: then ? quantile(then.figures, figures, name, 0.5) : null,
                    most: then ? quantile(then.figures, figures, name, 0.95) : null,
                },
            ]);
            const refused = figures.filter((one) => one.name === "cove_http_errors_total");
            const counts = new Map(refused.map((one) => [one.labels["code"] ?? "", one.value]));
            earlier.current = [...earlier.current, { at, counts }].filter((one) => at - one.at <= LATELY);
            const since = earlier.current[0]!.counts;
            const all = [...counts].map(([code, count]) => ({ code, count, lately: count - (since.get(code) ?? 0) }));
            setRefusals(all.sort((a, b) => b.lately - a.lately || b.count - a.count));
            before.current = { at, figures };
            setFault("");
        } catch (reason) {
            if (!signal.aborted) setFault(said(reason));
        }
    }, AGAIN);
    if (report === undefined) return fault === "" ? <Wait /> : <p class="empty fault">{fault}</p>;
    const times = samples.map((one) => one.at);
    const line = (of: (sample: Sample) => number | null) => samples.map(of);
    const walls = report.embedded.walls?.walls ?? [];
    const standing = walls.filter((one) => one.state === "active").length;
    return (
        <div class="page host">
            <div class="toolbar">
                <h1>{t("host")}</h1>
                <span class="quiet">Cove {session.value?.version}</span>
                <a class="end" href="/page/licences.txt" target="_blank" rel="noreferrer">
                    {t("licences")}
                </a>
                <a href="/docs">{t("docs")}</a>
            </div>
            {fault !== "" && <p class="fault">{fault}</p>}
            <div class="cards charts">
                <section class="card">
                    <Chart
                        title={t("memory")}
                        times={times}
                        show={bytes}
                        steps={BYTE_STEPS}
                        series={[
                            { name: "cove", values: line((one) => one.memory), colour: "#1098ad" },
                            { name: t("machine"), values: line((one) => one.available), colour: "#f08c00" },
                        ]}
                    />
                </section>
                <section class="card">
                    <Chart
                        title={t("latency")}
                        times={times}
                        show={(value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`}
                        series={[
                            { name: "p50", values: line((one) => one.half), colour: "#1098ad" },
                            { name: "p95", values: line((one) => one.most), colour: "#e8590c" },
                        ]}
                    />
                </section>
                <section class="card">
                    <Chart
                        title={t("load")}
                        times={times}
                        show={(value) => value.toFixed(value < 10 ? 1 : 0)}
                        series={[
                            { name: t("perSecond"), values: line((one) => one.rate), colour: "#1098ad" },
                            { name: t("sessions"), values: line((one) => one.sessions), colour: "#7048e8" },
                        ]}
                    />
                </section>
            </div>
            <div class="cards">
                <section class="card">
                    <h2>{t("engines")}</h2>
                    <ul class="plain-list">
                        <li>
                            embedded <span class={report.embedded.problem ? "chip bad" : "chip good"}>{report.embedded.problem ?? t("works")}</span>
                        </li>
                        <li>
                            browser <span class={report.browser.found ? "chip good" : "chip bad"}>{report.browser.found ? t("found") : t("missing")}</span>
                            {report.browser.problem && <p class="quiet">{report.browser.problem}</p>}
                        </li>
                        <li>
                            {t("memoryLimit")}{" "}
                            <span class={report.memory_is_enforced ? "chip good" : "chip warn"}>{report.memory_is_enforced ? t("enforced") : t("watched")}</span>
                        </li>
                    </ul>
                    <h2>{t("pools")}</h2>
                    <ul class="plain-list">
                        {report.profiles.map((one) => (
                            <li key={one.id}>
                                {one.id} <span class="quiet">{one.warm_pool_size > 0 ? t("keptReady", one.warm_ready, one.warm_pool_size) : t("noneReady")}</span>
                            </li>
                        ))}
                    </ul>
                </section>
                <section class="card">
                    <h2>
                        {t("walls")} <span class="quiet">{`${standing} / ${walls.length}`}</span>
                    </h2>
                    <ul class="plain-list walls">
                        {walls.map((one) => (
                            <li key={one.name}>
                                <span class={one.state === "active" ? "good-text" : "bad-text"} aria-hidden="true">
                                    {one.state === "active" ? "✓" : "✕"}
                                </span>{" "}
                                {one.name.replaceAll("_", " ")} <span class="unseen">{one.state}</span>
                                <span class="quiet" title={one.detail}>
                                    {one.detail}
                                </span>
                            </li>
                        ))}
                    </ul>
                    <h2>{t("sandboxWalls")}</h2>
                    {report.sandbox_warnings.length === 0 && <p><Marked text={t("sandboxWallsHold")} /></p>}
                    <ul class="warnings">
                        {report.sandbox_warnings.map((one) => (
                            <li key={one} class="warning">
                                <Marked text={one} />
                            </li>
                        ))}
                    </ul>
                </section>
                <section class="card">
                    <h2>{t("refusals")}</h2>
                    {refusals.length === 0 && <p class="quiet">{t("nothingRefused")}</p>}
                    <ul class="plain-list">
                        {refusals.map(({ code, count, lately }) => (
                            <li key={code}>
                                <code>{code}</code> <span class="chip">{count}</span> {lately > 0 && <span class="chip warn">{t("lately", lately)}</span>}
                            </li>
                        ))}
                    </ul>
                </section>
            </div>
            <Same lines={{ curl: curl("GET", "/metrics"), cove: "cove doctor", python: python("print(cove.health())"), typescript: typescript("console.log(await cove.health());") }} />
        </div>
    );
}
