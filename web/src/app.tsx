// The frame: the bar, the screen that is shown, and what lies above it.

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { overlay, useKey } from "./keys.js";
import { Login } from "./login.js";
import { Overlay } from "./overlay.js";
import { Notes } from "./parts/notes.js";
import { usePoll } from "./parts/poll.js";
import { Wait } from "./parts/wait.js";
import { go, route } from "./route.js";
import { type Screen, screens } from "./screen.js";
import { said } from "./server.js";
import { leave, onlyLooks, session } from "./session.js";
import { isDark, nextTheme } from "./theme.js";
import { language, t } from "./words.js";

/** How often a screen's count is asked for, in milliseconds; not while the page is hidden. */
const COUNT_AGAIN = 3_000;

export function App() {
    useKey("?", "keyHelp", () => (overlay.value = !overlay.value));
    useKey("t", "keyTheme", nextTheme);
    const known = session.value;
    return (
        <>
            <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
                {t("skip")}
            </a>
            <Bar />
            <main id="main" tabIndex={-1}>
                {known === undefined ? <Wait /> : known === null ? <Login /> : <Shown />}
            </main>
            <Notes />
            {overlay.value && <Overlay />}
        </>
    );
}

/** Those that this caller has. */
const mine = () => screens.filter((screen) => screen.title !== undefined && !onlyLooks.value && (!screen.admin || session.value?.admin));

function Bar() {
    const known = session.value;
    const at = current();
    return (
        <header class="bar">
            <a class="brand" href="#/" aria-label="Cove">
                <img src="/page/icon.svg" alt="" width="24" height="24" />
                <span>Cove</span>
            </a>
            <nav aria-label={t("screens")}>
                {known && mine().map((screen) => <Tab key={screen.path} screen={screen} on={at === screen || at?.parent === screen.path} />)}
            </nav>
            <div class="bar-end">
                <button class="plain" onClick={() => (language.value = language.value === "en" ? "zh" : "en")} lang={language.value === "en" ? "zh-CN" : "en"}>
                    {language.value === "en" ? "中文" : "English"}
                </button>
                <button class="plain" onClick={nextTheme} aria-label={t("keyTheme")} title={`${t("keyTheme")} (t)`}>
                    {isDark() ? "☀" : "☾"}
                </button>
                <button class="plain" onClick={() => (overlay.value = true)} aria-label={t("keyHelp")} title={`${t("keyHelp")} (?)`}>
                    ?
                </button>
                {known && (
                    <button class="plain" onClick={() => void leave()} title={known.owner}>
                        {t("logOut")}
                    </button>
                )}
            </div>
        </header>
    );
}

function Tab({ screen, on }: { screen: Screen; on: boolean }) {
    useKey(screen.keys ?? "", screen.title!, () => go(screen.path));
    const [count, setCount] = useState(0);
    usePoll(async (signal) => void (screen.count && setCount(await screen.count(signal))), COUNT_AGAIN, [on]);
    const place = useRef<HTMLAnchorElement>(null);
    // On a phone the bar is longer than the screen.
    useEffect(() => void (on && place.current?.scrollIntoView({ block: "nearest", inline: "nearest" })), [on]);
    return (
        <a ref={place} href={`#/${screen.path}`} aria-current={on ? "page" : undefined} title={screen.keys}>
            {t(screen.title!)}
            {count > 0 && (
                <span class="count" aria-label={t("thatWait", count)} role="status">
                    {count}
                </span>
            )}
        </a>
    );
}

/** The screen that the address names; the first one where it names none. */
function current(): Screen | undefined {
    const [first] = route.value.segments;
    return screens.find((screen) => screen.path === first) ?? (first === undefined ? mine()[0] : undefined);
}

function Shown() {
    const screen = current();
    const [loaded, setLoaded] = useState<{ screen: Screen; view: ComponentType } | undefined>();
    const [fault, setFault] = useState("");
    useEffect(() => {
        setFault("");
        screen?.load().then(
            (module) => setLoaded({ screen, view: module.default }),
            (reason: unknown) => setFault(said(reason)),
        );
    }, [screen]);
    if (screen === undefined) return <p class="empty">{t("noSuchScreen")}</p>;
    if (fault !== "") return <p class="empty">{fault}</p>;
    if (loaded?.screen !== screen) return <Wait />;
    const View = loaded.view;
    return <View />;
}
