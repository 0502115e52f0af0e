// The workspace: a tree, and the file that is chosen in it.

import { useEffect, useState } from "preact/hooks";
import { deleteFile, download, type FileInfo, folder, type Sandbox, upload, writeFile } from "../../api.js";
import { note, refused } from "../../parts/notes.js";
import { plainLine } from "../../parts/plain.js";
import { curl, literal, python, quoted, Same, typescript } from "../../parts/same.js";
import { route } from "../../route.js";
import { onlyLooks } from "../../session.js";
import { bytes, t } from "../../words.js";
import { draftOf, keepDraft } from "./drafts.js";
import { FileView } from "./file.js";

/** Larger ones are only downloaded. */
const MAX_SHOWN = 2 << 20;

export function Files({ info }: { info: Sandbox }) {
    const [chosen, setChosen] = useState<FileInfo | undefined>();
    const [version, setVersion] = useState(0);
    const [over, setOver] = useState(false);
    const wanted = route.value.query.get("path");
    const put = async (files: FileList | null | undefined) => {
        for (const file of files ?? []) {
            await upload(info.id, file.name, file);
            note(t("uploaded", plainLine(file.name)));
        }
        setVersion((now) => now + 1);
    };
    const make = async () => {
        const name = prompt(t("fileName"));
        if (name === null || name.trim() === "") return;
        await writeFile(info.id, name.trim(), "");
        setVersion((now) => now + 1);
        setChosen({ name: name.trim().split("/").at(-1)!, path: name.trim(), is_dir: false, is_file: true, size: 0, modified_at: null });
    };
    const remove = async (file: FileInfo) => {
        if (!confirm(t("sureDelete", plainLine(file.path)))) return;
        await deleteFile(info.id, file.path);
        keepDraft(info.id, file.path, undefined);
        setChosen(undefined);
        setVersion((now) => now + 1);
    };
    const path = chosen?.path ?? ".";
    // Whoever only looks starts nothing.
    const sleeps = onlyLooks.value && info.status !== "ready";
    return (
        <div class="files">
            <div class="split open files-split">
                <div
                    class={over ? "file-tree drop" : "file-tree"}
                    onDragOver={(event) => (event.preventDefault(), setOver(!onlyLooks.value))}
                    onDragLeave={() => setOver(false)}
                    onDrop={(event) => {
                        event.preventDefault();
                        setOver(false);
                        if (!onlyLooks.value) void put(event.dataTransfer?.files).catch(refused);
                    }}
                >
                    {!onlyLooks.value && (
                        <div class="toolbar">
                            <button onClick={() => void make().catch(refused)}>+ {t("newFile")}</button>
                            <label class="button">
                                {t("upload")}
                                <input type="file" multiple class="unseen" onChange={(event) => void put(event.currentTarget.files).catch(refused)} />
                            </label>
                            <button class="plain" aria-label={t("reload")} title={t("reload")} onClick={() => setVersion((now) => now + 1)}>
                                ⟳
                            </button>
                        </div>
                    )}
                    {sleeps ? <p class="quiet">{t("filesAsleep")}</p> : <Folder id={info.id} path="" version={version} chosen={chosen?.path ?? wanted} choose={setChosen} />}
                    {!onlyLooks.value && <p class="quiet drop-hint"><span class="no-touch">{t("dropHere")} </span>{t("filesUse")}</p>}
                </div>
                <div class="file-view">
                    {chosen === undefined ? (
                        <p class="empty">{t("chooseFile")}</p>
                    ) : (
                        <>
                            <div class="toolbar">
                                <h2 class="mono">{plainLine(chosen.path)}</h2>
                                <span class="quiet small-print">{chosen.size != null && bytes(chosen.size)}</span>
                                <span class="end actions">
                                    <button onClick={() => void save(info.id, chosen).catch(refused)}>{t("download")}</button>
                                    {!onlyLooks.value && (
                                        <button class="danger" onClick={() => void remove(chosen).catch(refused)}>
                                            {t("delete")}
                                        </button>
                                    )}
                                </span>
                            </div>
                            {(chosen.size ?? 0) > MAX_SHOWN ? (
                                <p class="empty">{t("tooLarge")}</p>
                            ) : (
                                <FileView key={chosen.path} id={info.id} path={chosen.path} saved={() => setVersion((now) => now + 1)} />
                            )}
                        </>
                    )}
                </div>
            </div>
            <Same
                lines={
                    chosen === undefined
                        ? {
                              curl: curl("GET", `/v1/sandboxes/${info.id}/filesystem/directories?path=.`),
                              python: python("print(sandbox.files.list())", info.id),
                              typescript: typescript("console.log(await sandbox.files.list());", info.id),
                              cove: `cove sandbox exec ${info.id} -- ls -la`,
                          }
                        : {
                              curl: curl("GET", `/v1/sandboxes/${info.id}/filesystem/download?path=${encodeURIComponent(path)}`),
                              python: python(`print(sandbox.files.download(${literal(path)}))`, info.id),
                              typescript: typescript(`console.log(await sandbox.files.download(${literal(path)}));`, info.id),
                              cove: `cove sandbox cp ${quoted(`${info.id}:${path}`)} .`,
                          }
                }
            />
        </div>
    );
}

interface FolderProps {
    id: string;
    path: string;
    version: number;
    chosen: string | null;
    choose: (file: FileInfo) => void;
}

function Folder({ id, path, version, chosen, choose }: FolderProps) {
    const [entries, setEntries] = useState<FileInfo[] | undefined>();
    useEffect(() => {
        folder(id, path).then(
            (all) => setEntries(all.sort((a, b) => Number(b.is_dir) - Number(a.is_dir) || (a.name < b.name ? -1 : 1))),
            (fault: unknown) => (refused(fault), setEntries([])),
        );
    }, [id, path, version]);
    if (entries === undefined) return <p class="quiet">{t("loading")}</p>;
    if (entries.length === 0) return <p class="quiet">{t("emptyFolder")}</p>;
    return (
        <ul class="folder">
            {entries.map((one) => (
                <li key={one.path}>
                    {one.is_dir ? (
                        <Inner id={id} entry={one} version={version} chosen={chosen} choose={choose} />
                    ) : (
                        <button class="entry" aria-pressed={one.path === chosen} onClick={() => choose(one)}>
                            <span aria-hidden="true">▫</span> {plainLine(one.name)}
                            {draftOf(id, one.path) !== undefined && (
                                <span class="unsaved" title={t("notSaved")}>
                                    {" "}
                                    ●
                                </span>
                            )}
                        </button>
                    )}
                </li>
            ))}
        </ul>
    );
}

function Inner({ id, entry, version, chosen, choose }: Omit<FolderProps, "path"> & { entry: FileInfo }) {
    const [open, setOpen] = useState(false);
    return (
        <>
            <button class="entry" aria-expanded={open} onClick={() => setOpen(!open)}>
                <span aria-hidden="true">{open ? "▾" : "▸"}</span> {plainLine(entry.name)}/
            </button>
            {open && <Folder id={id} path={entry.path} version={version} chosen={chosen} choose={choose} />}
        </>
    );
}

/** Saves a file on the user's own machine. */
async function save(id: string, file: FileInfo): Promise<void> {
    const url = URL.createObjectURL(new Blob([await download(id, file.path)], { type: "application/octet-stream" }));
    const link = document.createElement("a");
    [link.href, link.download] = [url, plainLine(file.name)];
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
