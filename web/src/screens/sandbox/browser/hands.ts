// A person's hands on the page that is shown: mouse, wheel, touch, keys, input methods and what they paste, as words of the line.

import type { ViewWord } from "./line.js";

/** A second click counts as a double click within this time and this distance. */
const DOUBLE_MS = 500;
const DOUBLE_PIXELS = 5;
/** A finger that moves further than this scrolls. */
const TAP_PIXELS = 8;
/** What is pasted goes in pieces of so many characters. */
const PIECE = 12_000;
/** The key that takes the keyboard back. */
export const LEAVE = "F8";

interface Place {
    /** What shows the page. */
    shown: HTMLElement;
    /** A field that is never seen: what has the keyboard, so that input methods and a phone's keyboard work. */
    keys: HTMLTextAreaElement;
    /** The size of the page. */
    size: () => [width: number, height: number];
    say: (word: ViewWord) => void;
}

const isMac = navigator.platform.startsWith("Mac");

/** Alt 1, Ctrl 2, Meta 4, Shift 8. The browser in the sandbox is one of Linux: what ⌘ does on a Mac, Ctrl does there. */
function modifiers(event: KeyboardEvent | MouseEvent): number {
    const control = event.ctrlKey || (isMac && event.metaKey);
    return Number(event.altKey) + 2 * Number(control) + 4 * Number(event.metaKey && !isMac) + 8 * Number(event.shiftKey);
}

const BUTTONS = ["left", "middle", "right"] as const;
/** The button that is held while the mouse moves. */
const held = (buttons: number) => (buttons & 1 ? "left" : buttons & 2 ? "right" : buttons & 4 ? "middle" : "none");

/** Lays the hands on the page; the answer takes them off. */
export function layHands(place: Place): () => void {
    const off = new AbortController();
    mouse(place, off.signal);
    keyboard(place, off.signal);
    return () => off.abort();
}

function mouse({ shown, keys, size, say }: Place, signal: AbortSignal): void {
    const at = (event: MouseEvent): { x: number; y: number } => {
        const seen = shown.getBoundingClientRect();
        const [width, height] = size();
        const inside = (place: number, most: number) => Math.round(Math.min(Math.max(place, 0), Math.max(most - 1, 0)));
        return {
            x: inside(((event.clientX - seen.left) * width) / (seen.width || 1), width),
            y: inside(((event.clientY - seen.top) * height) / (seen.height || 1), height),
        };
    };
    // At most one move and one turn of the wheel for each frame.
    let move: ViewWord | undefined;
    let wheel: { x: number; y: number; dx: number; dy: number; modifiers: number } | undefined;
    let frame = 0;
    const flush = () => {
        frame = 0;
        if (move !== undefined) say(move);
        if (wheel !== undefined) say({ type: "mouse", event: "wheel", ...wheel });
        move = wheel = undefined;
    };
    const soon = () => (frame ||= requestAnimationFrame(flush));
    const turn = (event: MouseEvent, dx: number, dy: number) => {
        wheel = { ...at(event), dx: (wheel?.dx ?? 0) + dx, dy: (wheel?.dy ?? 0) + dy, modifiers: modifiers(event) };
        soon();
    };
    let last = { time: 0, x: 0, y: 0, clicks: 0 };
    const clicks = (event: PointerEvent): number => {
        const again = event.timeStamp - last.time < DOUBLE_MS && Math.hypot(event.clientX - last.x, event.clientY - last.y) < DOUBLE_PIXELS;
        last = { time: event.timeStamp, x: event.clientX, y: event.clientY, clicks: again ? (last.clicks % 3) + 1 : 1 };
        return last.clicks;
    };
    let finger: { x: number; y: number; moved: boolean } | undefined;

    shown.addEventListener(
        "pointerdown",
        (event) => {
            event.preventDefault();
            shown.setPointerCapture(event.pointerId);
            if (event.pointerType === "touch") {
                finger = { x: event.clientX, y: event.clientY, moved: false };
                return;
            }
            keys.focus({ preventScroll: true });
            flush();
            say({ type: "mouse", event: "down", ...at(event), button: BUTTONS[event.button] ?? "left", clicks: clicks(event), modifiers: modifiers(event) });
        },
        { signal },
    );
    shown.addEventListener(
        "pointermove",
        (event) => {
            if (event.pointerType !== "touch") {
                move = { type: "mouse", event: "move", ...at(event), button: held(event.buttons), modifiers: modifiers(event) };
                return void soon();
            }
            if (finger === undefined) return;
            const [dx, dy] = [finger.x - event.clientX, finger.y - event.clientY];
            if (!finger.moved && Math.hypot(dx, dy) < TAP_PIXELS) return;
            finger = { x: event.clientX, y: event.clientY, moved: true };
            const zoom = size()[0] / (shown.clientWidth || 1);
            turn(event, dx * zoom, dy * zoom);
        },
        { signal },
    );
    shown.addEventListener(
        "pointerup",
        (event) => {
            flush();
            if (event.pointerType !== "touch") {
                return say({ type: "mouse", event: "up", ...at(event), button: BUTTONS[event.button] ?? "left", clicks: last.clicks, modifiers: modifiers(event) });
            }
            const tapped = finger !== undefined && !finger.moved;
            finger = undefined;
            if (!tapped) return;
            const count = clicks(event);
            say({ type: "mouse", event: "move", ...at(event) });
            say({ type: "mouse", event: "down", ...at(event), button: "left", clicks: count });
            say({ type: "mouse", event: "up", ...at(event), button: "left", clicks: count });
        },
        { signal },
    );
    shown.addEventListener("pointercancel", () => (finger = undefined), { signal });
    shown.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
    shown.addEventListener(
        "wheel",
        (event) => {
            event.preventDefault();
            const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? size()[1] : 1;
            turn(event, event.deltaX * unit, event.deltaY * unit);
        },
        { signal, passive: false },
    );
}

function keyboard({ keys, say }: Place, signal: AbortSignal): void {
    const down = new Map<string, ViewWord & { type: "key" }>();
    const key = (event: "down" | "up", key: string, code: string, number: number, modifiers: number) => {
        const word = { type: "key", event, key, code, key_code: number, modifiers } as const;
        if (event === "down") down.set(code, word);
        else down.delete(code);
        say(word);
    };
    const write = (text: string) => {
        for (let from = 0; from < text.length; from += PIECE) say({ type: "text", text: text.slice(from, from + PIECE) });
    };
    /** Keys that a phone or an input method keeps to itself: what they wrote comes as input. */
    const isKept = (event: KeyboardEvent) => event.isComposing || event.keyCode === 229 || ["Unidentified", "Process", "Dead"].includes(event.key);
    keys.addEventListener(
        "keydown",
        (event) => {
            if (isKept(event)) return;
            if (event.key === LEAVE) {
                event.preventDefault();
                return keys.blur();
            }
            // What is pasted comes as text: the browser in the sandbox has a clipboard of its own.
            if (event.key.toLowerCase() === "v" && (event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            event.stopPropagation();
            if (isMac && event.key === "Meta") return;
            key("down", event.key, event.code, event.keyCode, modifiers(event));
            // A Mac tells of no key that goes up while ⌘ is down.
            if (isMac && event.metaKey) key("up", event.key, event.code, event.keyCode, modifiers(event));
        },
        { signal },
    );
    keys.addEventListener(
        "keyup",
        (event) => {
            if (!isKept(event) && event.key !== LEAVE && down.has(event.code)) key("up", event.key, event.code, event.keyCode, modifiers(event));
        },
        { signal },
    );
    keys.addEventListener(
        "input",
        (event) => {
            if ((event as InputEvent).isComposing) return;
            if ((event as InputEvent).inputType === "deleteContentBackward") {
                key("down", "Backspace", "Backspace", 8, 0);
                key("up", "Backspace", "Backspace", 8, 0);
            } else write(keys.value.slice(1));
            // Something to delete must be there, or a phone's keyboard says nothing of it.
            keys.value = " ";
        },
        { signal },
    );
    keys.addEventListener(
        "compositionend",
        (event) => {
            write(event.data);
            keys.value = " ";
        },
        { signal },
    );
    keys.addEventListener(
        "paste",
        (event) => {
            event.preventDefault();
            write(event.clipboardData?.getData("text/plain") ?? "");
        },
        { signal },
    );
    // No key stays down when the keyboard goes elsewhere.
    keys.addEventListener("blur", () => [...down.values()].forEach((one) => key("up", one.key, one.code, one.key_code, 0)), { signal });
    keys.value = " ";
}
