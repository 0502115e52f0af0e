// What came of a run: the value as a tree, pictures, console, timing, and which engine ran it and why.

import type { JavaScriptResult } from "../../api.js";
import { Marked } from "../../parts/marked.js";
import { FetchedPicture } from "../../parts/picture.js";
import { Tree } from "../../parts/tree.js";
import { t, took } from "../../words.js";

interface Props {
    busy: boolean;
    lines: string[];
    result: JavaScriptResult | undefined;
    fault: string;
    picture: (name: string) => Promise<ArrayBuffer>;
}

export function Outcome({ busy, lines, result, fault, picture }: Props) {
    if (fault !== "") return <pre class="fault" role="alert">{fault}</pre>;
    if (result === undefined && !busy) return <p class="empty">{t("playgroundEmpty")}</p>;
    const data = result?.data;
    const logs = data?.logs ?? lines.join("\n");
    return (
        <div class="result">
            <div class="chips" role="status">
                {busy && <span class="chip busy">{t("running")}</span>}
                {result && <span class={result.success ? "chip good" : "chip bad"}>{result.success ? (data?.is_final ? "final_answer" : t("done")) : t("failed")}</span>}
                {typeof result?.execution_time_ms === "number" && <span class="chip">{took(result.execution_time_ms)}</span>}
                {data?.engine && (
                    <span class="chip" title={data.engine.reason}>
                        {data.engine.name}: <Marked text={data.engine.because} />
                    </span>
                )}
            </div>
            {data?.warnings?.map((warning) => (
                <p key={warning} class="warning">
                    <Marked text={warning} />
                </p>
            ))}
            {result?.success === false && <pre class="fault">{result.error}</pre>}
            {data?.images.map((image) => (
                <FetchedPicture
                    key={image.name}
                    alt={`${image.width ?? "?"} × ${image.height ?? "?"}`}
                    size={image.width && image.height ? [image.width, image.height] : undefined}
                    fetch={() => picture(image.name)}
                />
            ))}
            {result?.success === true && (
                <div class="value">
                    <Tree value={data?.result ?? null} />
                </div>
            )}
            {logs !== "" && (
                <section aria-label={t("console")}>
                    <h2 class="small">{t("console")}</h2>
                    <pre class="console" tabIndex={0}>
                        {logs}
                    </pre>
                </section>
            )}
        </div>
    );
}
