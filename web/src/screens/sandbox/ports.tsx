// The ports on which programs in the sandbox listen, and the links by which people reach them. A program's page is never
// shown in here: it opens in a tab of its own, on an origin of its own.

import { useState } from "preact/hooks";
import { createPortLink, type PortInfo, type PortLink, portLinks, ports, revokePortLink, type Sandbox } from "../../api.js";
import { useEvents } from "../../events.js";
import { copied } from "../../parts/copy.js";
import { note, refused } from "../../parts/notes.js";
import { usePoll } from "../../parts/poll.js";
import { curl, python, Same, typescript } from "../../parts/same.js";
import { span, t } from "../../words.js";

/** How often the list is read again, in milliseconds; changes are told as they happen. */
const AGAIN = 10_000;

export function Ports({ info }: { info: Sandbox }) {
    const [open, setOpen] = useState<PortInfo[] | undefined>();
    const [links, setLinks] = useState<PortLink[]>([]);
    const read = async (signal?: AbortSignal) => {
        const more = signal ? { signal } : {};
        const [listed, known] = await Promise.all([ports(info.id, more), portLinks(info.id, more)]);
        setOpen(listed);
        setLinks(known);
    };
    usePoll(read, AGAIN, [info.id]);
    useEvents(info.id, (event) => event.kind === "ports" && setOpen(event.data["ports"] as PortInfo[]));
    const make = async (port: number) => {
        const made = await createPortLink(info.id, port);
        void read();
        return made.url;
    };
    // The new tab knows nothing of this page.
    const show = async (port: number) => void window.open(await make(port), "_blank", "noopener,noreferrer");
    const copy = async (port: number) => {
        await copied(await make(port), t("portLinkCopied"), t("copyLink"));
    };
    const revoke = async (link: PortLink) => {
        await revokePortLink(info.id, link.id);
        note(t("portLinkRevoked"));
        await read();
    };
    const first = open?.[0]?.port ?? 3000;
    return (
        <div class="limits">
            <div class="cards">
                <section class="card">
                    <h2>{t("portsOpen")}</h2>
                    {open?.length === 0 && <p class="quiet">{t("noPorts")}</p>}
                    <ul class="plain-list">
                        {(open ?? []).map((one) => (
                            <li key={one.port} class="toolbar">
                                <b class="mono">{one.port}</b>
                                <span class="quiet mono">{one.addresses.join(", ")}</span>
                                <span class="end actions">
                                    <button onClick={() => void copy(one.port).catch(refused)} aria-label={`${t("copyLink")} ${one.port}`}>
                                        {t("copyLink")}
                                    </button>
                                    <button class="main" onClick={() => void show(one.port).catch(refused)} aria-label={`${t("openPort")} ${one.port}`}>
                                        {t("openPort")} ↗
                                    </button>
                                </span>
                            </li>
                        ))}
                    </ul>
                    <p class="quiet">{t("portsHint")}</p>
                </section>
                <section class="card">
                    <h2>{t("portLinks")}</h2>
                    {links.length === 0 && <p class="quiet">{t("noPortLinks")}</p>}
                    <ul class="plain-list">
                        {links.map((link) => (
                            <li key={link.id} class="toolbar">
                                <b class="mono">{link.port}</b>
                                <span class="quiet">
                                    {t("expires")} {t("in", span(Date.parse(link.expires_at) - Date.now()))}
                                </span>
                                <button class="end" onClick={() => void revoke(link).catch(refused)} aria-label={`${t("revoke")} ${link.port}`}>
                                    {t("revoke")}
                                </button>
                            </li>
                        ))}
                    </ul>
                </section>
            </div>
            <Same
                lines={{
                    curl: curl("POST", `/v1/sandboxes/${info.id}/port_links`, { port: first }),
                    python: python(`print(sandbox.port_url(${first}))`, info.id),
                    typescript: typescript(`console.log(await sandbox.portUrl(${first}));`, info.id),
                    cove: `cove sandbox ports ${info.id} --link ${first}`,
                }}
            />
        </div>
    );
}
