// A terminal in the sandbox.

import { useEffect, useRef, useState } from "preact/hooks";
import { type Sandbox, terminalUrl } from "../../api.js";
import { useKey } from "../../keys.js";
import { curl, python, Same, typescript } from "../../parts/same.js";
import type { Shell } from "../../parts/xterm.js";
import { isDark } from "../../theme.js";
import { t } from "../../words.js";

/** What the terminal looks like, in light and dark. */
const COLOURS = {
    light: { background: "#fbfcfd", foreground: "#1f2933", cursor: "#0b7285", selectionBackground: "#c5f6fa" },
    dark: { background: "#0d1518", foreground: "#d8e2e6", cursor: "#3bc9db", selectionBackground: "#0b4a56" },
};

export function TerminalTab({ info }: { info: Sandbox }) {
    const place = useRef<HTMLDivElement>(null);
    const [state, setState] = useState<"opening" | "open" | "closed">("opening");
    const [turn, setTurn] = useState(0);
    const shown = useRef<Shell | undefined>();
    const told = useRef<HTMLSpanElement>(null);
    const dark = isDark();
    useEffect(() => shown.current?.colour(COLOURS[dark ? "dark" : "light"]), [dark]);
    useKey("F8", "leaveTerminal");
    useEffect(() => {
        let end = () => undefined as void;
        let there = true;
        setState("opening");
        void import("../../parts/xterm.js").then(({ openTerminal }) => {
            if (!there) return;
            let socket: WebSocket | undefined;
            const send = (data: string) => socket?.readyState === WebSocket.OPEN && socket.send(data);
            const shell = openTerminal(
                place.current!,
                COLOURS[isDark() ? "dark" : "light"],
                (text) => send(JSON.stringify({ type: "input", data: text })),
                (cols, rows) => send(JSON.stringify({ type: "resize", cols, rows })),
                () => told.current?.focus(),
            );
            shown.current = shell;
            const { cols, rows } = shell.size();
            socket = new WebSocket(terminalUrl(info.id, cols, rows));
            socket.binaryType = "arraybuffer";
            socket.onopen = () => (setState("open"), shell.focus());
            socket.onmessage = (message) => {
                if (message.data instanceof ArrayBuffer) shell.write(new Uint8Array(message.data));
                else shell.say(t("shellEnded"));
            };
            socket.onclose = () => there && setState("closed");
            end = () => {
                socket.close();
                shown.current = undefined;
                shell.end();
            };
        });
        return () => {
            there = false;
            end();
        };
    }, [info.id, turn]);
    return (
        <div class="terminal-tab">
            <div class="toolbar">
                <span class="quiet" role="status" ref={told} tabIndex={-1} data-state={state}>
                    {state === "opening" ? t("loading") : state === "open" ? t("connected") : t("disconnected")}
                </span>
                {state === "closed" && <button onClick={() => setTurn(turn + 1)}>{t("connect")}</button>}
                <span class="quiet end">{`${t("inUse")} ${t("f8Leaves")}`}</span>
            </div>
            <div class="terminal-place" ref={place} />
            <Same
                lines={{
                    curl: curl("POST", `/v1/sandboxes/${info.id}/shell/exec`, { command: "ls -la" }),
                    cove: `cove sandbox exec ${info.id} -- bash -lc 'ls -la'`,
                    python: python('print(sandbox.shell.exec("ls -la").output)', info.id),
                    typescript: typescript('console.log((await sandbox.shell.exec("ls -la")).output);', info.id),
                }}
            />
        </div>
    );
}
