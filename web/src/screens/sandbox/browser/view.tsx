// What the browser shows, live: pictures on a canvas, never markup. A person who has taken control clicks and types into it.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useKey } from "../../../keys.js";
import { note } from "../../../parts/notes.js";
import { plain, plainLine } from "../../../parts/plain.js";
import { onlyLooks } from "../../../session.js";
import { t } from "../../../words.js";
import { LEAVE, layHands } from "./hands.js";
import { Line, type ViewState, type ViewWord } from "./line.js";
import type { Ref } from "./refs.js";

interface Props {
    id: string;
    /** Whether a browser may be running. */
    runs: boolean;
    refs: Ref[];
    /** How many commands are under way. */
    underWay: number;
    /** Told whether this person has control. */
    held: (held: boolean) => void;
}

const NOTHING: ViewState = { browser: false, tabs: [], control: "agent", dialog: null };
/** How large a page is before one is seen. */
const FIRST: [number, number] = [1280, 720];

export function View({ id, runs, refs, underWay, held }: Props) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const keys = useRef<HTMLTextAreaElement>(null);
    const line = useRef<Line | undefined>();
    const size = useRef(FIRST);
    const [shape, setShape] = useState(FIRST);
    const [state, setState] = useState(NOTHING);
    const [open, setOpen] = useState(false);
    const [seen, setSeen] = useState(false);
    const [asking, setAsking] = useState(false);
    const [typing, setTyping] = useState(false);
    const [whole, setWhole] = useState(true);
    useEffect(() => {
        const made = new Line(id, {
            state: (now) => {
                setState(now);
                if (now.control !== "agent") setAsking(false);
                if (!now.browser) setSeen(false);
            },
            open: (now) => {
                setOpen(now);
                if (!now) setState((was) => ({ ...was, control: "agent", dialog: null }));
            },
            picture: (picture, width, height) => {
                const place = canvas.current;
                if (place === null) return;
                if (place.width !== picture.width || place.height !== picture.height) [place.width, place.height] = [picture.width, picture.height];
                place.getContext("2d")!.drawImage(picture, 0, 0);
                place.dataset["pictures"] = String(Number(place.dataset["pictures"] ?? 0) + 1);
                if (size.current[0] !== width || size.current[1] !== height) setShape((size.current = [width, height]));
                setSeen(true);
            },
            refused: (message) => {
                setAsking(false);
                note(message, true);
            },
            lost: () => {
                setAsking(false);
                note(t("controlLost"), true);
            },
        });
        line.current = made;
        return () => made.end();
    }, [id]);
    useEffect(() => line.current?.want(runs), [id, runs]);
    const mine = open && state.control === "you";
    useEffect(() => held(mine), [mine]);
    const say = (word: ViewWord) => line.current?.say(word);
    // Together with the sign that one has control, not a moment later: a quick first click counts.
    useLayoutEffect(() => {
        if (!mine) return;
        const off = layHands({ shown: canvas.current!, keys: keys.current!, size: () => size.current, say });
        keys.current!.focus({ preventScroll: true });
        return off;
    }, [mine]);
    const take = () => {
        setAsking(true);
        line.current?.take();
    };
    const may = !onlyLooks.value && (state.control === "agent" || mine) && !asking;
    useKey(LEAVE, "leaveView");
    useKey("c", "takeControl", () => may && (mine ? line.current?.give() : take()));
    const shown = state.tabs.find((one) => one.shown);
    return (
        <section class={mine ? "live mine" : "live"} aria-label={t("liveView")} data-control={state.control} data-open={open ? "" : undefined}>
            <div class="toolbar live-bar">
                <Who state={state} open={open} asking={asking} underWay={underWay} />
                {!onlyLooks.value && (
                    <button class="main end" disabled={!may} title="c" onClick={() => (mine ? line.current?.give() : take())}>
                        {mine ? t("handBack") : t("takeControl")}
                    </button>
                )}
            </div>
            <div class="live-tabs" role="group" aria-label={t("pages")}>
                {state.tabs.map((one) => (
                    <button key={one.id} class="plain" aria-pressed={one.shown} disabled={!mine} title={plainLine(one.title)} onClick={() => say({ type: "tab", id: one.id })}>
                        <bdi>{plainLine(one.title || one.url || "–")}</bdi>
                    </button>
                ))}
            </div>
            <Address url={plainLine(shown?.url ?? "")} mine={mine} say={say}>
                <button type="button" class="plain" aria-pressed={!whole} title={t("realSize")} onClick={() => setWhole(!whole)}>
                    {whole ? "100 %" : t("fit")}
                </button>
            </Address>
            {state.dialog !== null && <Question text={state.dialog} mine={mine} say={say} />}
            <div class={whole ? "live-scroll" : "live-scroll real"}>
            <div class="live-place" style={{ aspectRatio: `${shape[0]} / ${shape[1]}`, ...(whole ? { width: "100%", maxWidth: `calc((100vh - 330px) * ${(shape[0] / shape[1]).toFixed(4)})` } : { width: `${shape[0]}px`, maxWidth: "none" }) }} data-seen={seen ? "" : undefined} data-typing={typing ? "" : undefined}>
                <canvas ref={canvas} width={FIRST[0]} height={FIRST[1]} role="img" aria-label={t("browserPicture")} />
                {!mine &&
                    seen &&
                    refs.map((one) => (
                        <span key={one.name} class="ref" style={box(one, shape)}>
                            <span>{one.name}</span>
                        </span>
                    ))}
                {!seen && <p class="empty">{runs && (open || asking) ? (state.browser ? t("loading") : t("noBrowser")) : asking ? t("loading") : t("noView")}</p>}
                {mine && (
                    <textarea
                        ref={keys}
                        class="unseen"
                        aria-label={t("typeHere", LEAVE)}
                        autocapitalize="off"
                        autocomplete="off"
                        spellcheck={false}
                        onFocus={() => setTyping(true)}
                        onBlur={() => setTyping(false)}
                    />
                )}
            </div>
            </div>
            {mine && (
                <button class="touch-only" onClick={() => keys.current?.focus({ preventScroll: true })}>
                    ⌨ {t("keyboard")}
                </button>
            )}
            <p class="quiet live-hint">{mine ? t("handsHint", LEAVE) : t("liveHint")}</p>
        </section>
    );
}

/** A ref's place, as parts of the page that is in sight. */
function box(ref: Ref, [width, height]: [number, number]) {
    const part = (side: number, whole: number) => `${((100 * side) / whole).toFixed(3)}%`;
    return { left: part(ref.x, width), top: part(ref.y, height), width: part(ref.width, width), height: part(ref.height, height) };
}

function Who({ state, open, asking, underWay }: { state: ViewState; open: boolean; asking: boolean; underWay: number }) {
    const words = { agent: "agentHas", taking: "taking", you: "youHave", another: "anotherHas" } as const;
    const word = asking ? "taking" : words[state.control];
    return (
        <span class="live-who" role="status">
            <span class={state.control === "you" ? "chip warn" : "chip"}>{t(word)}</span>
            {open && state.browser && <span class="live-mark">{t("live")}</span>}
            {underWay > 0 && <span class="quiet">{t(state.control === "agent" ? "commandRuns" : "commandsWait", underWay)}</span>}
        </span>
    );
}

function Address({ url, mine, say, children }: { url: string; mine: boolean; say: (word: ViewWord) => void; children: ComponentChildren }) {
    const [text, setText] = useState<string | undefined>();
    return (
        <form
            class="toolbar live-address"
            onSubmit={(event) => {
                event.preventDefault();
                if (text !== undefined && text.trim() !== "") say({ type: "navigate", url: text.trim() });
                setText(undefined);
            }}
        >
            <button type="button" aria-label={t("back")} title={t("back")} disabled={!mine} onClick={() => say({ type: "back" })}>
                ←
            </button>
            <button type="button" aria-label={t("forward")} title={t("forward")} disabled={!mine} onClick={() => say({ type: "forward" })}>
                →
            </button>
            <button type="button" aria-label={t("reload")} title={t("reload")} disabled={!mine} onClick={() => say({ type: "reload" })}>
                ⟳
            </button>
            <input
                class="mono wide"
                dir="ltr"
                aria-label={t("address")}
                spellcheck={false}
                readOnly={!mine}
                value={mine && text !== undefined ? text : url}
                onInput={(event) => setText(event.currentTarget.value)}
                onBlur={() => setText(undefined)}
            />
            {children}
        </form>
    );
}

/** What the page asks: alert, confirm, prompt. */
function Question({ text, mine, say }: { text: string; mine: boolean; say: (word: ViewWord) => void }) {
    const [answer, setAnswer] = useState("");
    return (
        <form
            class="live-question"
            onSubmit={(event) => {
                event.preventDefault();
                say({ type: "dialog", accept: true, text: answer });
            }}
        >
            <span>
                {t("pageAsks")} <q>{plain(text)}</q>
            </span>
            {mine && (
                <span class="toolbar">
                    <input aria-label={t("answer")} value={answer} onInput={(event) => setAnswer(event.currentTarget.value)} />
                    <button class="main">{t("ok")}</button>
                    <button type="button" onClick={() => say({ type: "dialog", accept: false, text: "" })}>
                        {t("cancel")}
                    </button>
                </span>
            )}
        </form>
    );
}
