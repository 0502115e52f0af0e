// One file: a picture as a picture, CSV as a table, text in an editor. Everything else is text too: HTML, SVG and Markdown
// are shown as they are written, never as what they would be.

import { useEffect, useState } from "preact/hooks";
import { download, writeFile } from "../../api.js";
import { Editor } from "../../parts/editor.js";
import { note, refused } from "../../parts/notes.js";
import { plain } from "../../parts/plain.js";
import { Picture, pictureKind } from "../../parts/picture.js";
import { Wait } from "../../parts/wait.js";
import { said } from "../../server.js";
import { onlyLooks } from "../../session.js";
import { t } from "../../words.js";
import { readCsv } from "./csv.js";
import { draftOf, keepDraft } from "./drafts.js";

type Content = { picture: Uint8Array<ArrayBuffer> } | { text: string } | { binary: true };

const MAX_ROWS = 500;

export function FileView({ id, path, saved }: { id: string; path: string; saved: () => void }) {
    const [content, setContent] = useState<Content | undefined>();
    const [fault, setFault] = useState("");
    const [asText, setAsText] = useState(false);
    useEffect(() => {
        download(id, path).then(
            (buffer) => setContent(read(new Uint8Array(buffer))),
            (reason: unknown) => setFault(said(reason)),
        );
    }, [id, path]);
    if (fault !== "") return <p class="fault">{fault}</p>;
    if (content === undefined) return <Wait />;
    if ("picture" in content) return <Picture bytes={content.picture} alt={plain(path)} />;
    if ("binary" in content) return <p class="empty">{t("binary")}</p>;
    const draft = draftOf(id, path);
    const text = draft ?? content.text;
    if (/\.csv$/i.test(path) && !asText && draft === undefined) {
        return (
            <>
                <div class="toolbar">
                    <button onClick={() => setAsText(true)}>{t("asText")}</button>
                </div>
                <Table text={text} />
            </>
        );
    }
    const store = async () => {
        await writeFile(id, path, text);
        setContent({ text });
        keepDraft(id, path, undefined);
        note(t("saved"));
        saved();
    };
    const syntax = /\.py$/i.test(path) ? "python" : /\.([cm]?[jt]sx?|json)$/i.test(path) ? "javascript" : "text";
    return (
        <>
            <div class="file-editor">
                <Editor label={path} text={text} syntax={syntax} change={(now) => keepDraft(id, path, now === content.text ? undefined : now)} run={() => void store().catch(refused)} readOnly={onlyLooks.value} />
            </div>
            {!onlyLooks.value && (
                <div class="toolbar">
                    <button class="main" disabled={draft === undefined} onClick={() => void store().catch(refused)}>
                        {t("save")}
                    </button>
                    {draft !== undefined && (
                        <>
                            <button onClick={() => keepDraft(id, path, undefined)}>{t("discard")}</button>
                            <span class="quiet" role="status">
                                {t("notSaved")}
                            </span>
                        </>
                    )}
                </div>
            )}
        </>
    );
}

function read(bytes: Uint8Array<ArrayBuffer>): Content {
    if (pictureKind(bytes) !== undefined) return { picture: bytes };
    try {
        const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
        return text.includes("\0") ? { binary: true } : { text };
    } catch {
        return { binary: true };
    }
}

function Table({ text }: { text: string }) {
    const [head = [], ...rows] = readCsv(text, MAX_ROWS + 1);
    return (
        <div class="table-scroll" tabIndex={0}>
            <table class="rows csv">
                <thead>
                    <tr>
                        {head.map((cell, at) => (
                            <th key={at} scope="col">
                                {plain(cell)}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map((row, at) => (
                        <tr key={at}>
                            {row.map((cell, column) => (
                                <td key={column}>{plain(cell)}</td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
