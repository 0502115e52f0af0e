// xterm.js, in a chunk of its own.
//
// It writes `<style>` elements and `style` attributes, which the page's policy forbids. Here both go through the object model,
// where they are allowed: sheets are adopted, attributes become declarations.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";

/** An element that stands where a `<style>` would, and keeps its text in an adopted sheet. */
function sheetElement(): HTMLElement {
    const element = document.createElement("data");
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    let text = "";
    Object.defineProperty(element, "textContent", {
        get: () => text,
        set: (now: string) => {
            text = now;
            sheet.replaceSync(now);
        },
    });
    Object.defineProperty(element, "remove", {
        value: () => {
            document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
            element.parentNode?.removeChild(element);
        },
    });
    return element;
}

// Colours of a program's own choice come as the attribute of a span, which xterm.js makes with the page's own document.
HTMLSpanElement.prototype.setAttribute = function (name: string, value: string) {
    if (name === "style") this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
};

const quietDocument = new Proxy(document, {
    get(target, name) {
        if (name === "createElement") return (kind: string) => (kind === "style" ? sheetElement() : target.createElement(kind));
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
});

export interface Shell {
    write: (bytes: Uint8Array) => void;
    say: (text: string) => void;
    focus: () => void;
    colour: (colours: Record<string, string>) => void;
    size: () => { cols: number; rows: number };
    end: () => void;
}

/** The key that takes the keyboard back: Tab and Escape are the shell's. */
export const LEAVE = "F8";

/** A terminal in this place. What the guest writes cannot open links, windows or the clipboard. */
export function openTerminal(place: HTMLElement, colours: Record<string, string>, keys: (text: string) => void, resized: (cols: number, rows: number) => void, leave: () => void): Shell {
    const terminal = new Terminal({
        documentOverride: quietDocument,
        fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace",
        fontSize: 13,
        cursorBlink: true,
        scrollback: 5_000,
        screenReaderMode: true,
        // Programs choose colours for a dark terminal or for a light one; both are read.
        minimumContrastRatio: 4.5,
        theme: colours,
        linkHandler: { activate: () => undefined },
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(place);
    fit.fit();
    terminal.attachCustomKeyEventHandler((event) => {
        if (event.key !== LEAVE) return true;
        if (event.type === "keydown") leave();
        return false;
    });
    terminal.onData(keys);
    terminal.onResize(({ cols, rows }) => resized(cols, rows));
    const look = new ResizeObserver(() => fit.fit());
    look.observe(place);
    return {
        write: (bytes) => terminal.write(bytes),
        say: (text) => terminal.write(`\r\n\x1b[2m${text}\x1b[0m\r\n`),
        focus: () => terminal.focus(),
        colour: (now) => (terminal.options.theme = now),
        size: () => ({ cols: terminal.cols, rows: terminal.rows }),
        end: () => {
            look.disconnect();
            terminal.dispose();
        },
    };
}
