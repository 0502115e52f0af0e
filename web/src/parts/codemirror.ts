// CodeMirror, in a chunk of its own.
//
// It lives in a shadow root: there it adopts its style sheets instead of writing `<style>` elements, which the page's policy
// forbids.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export type Syntax = "javascript" | "python" | "text";

export interface Mark {
    line: number;
    column: number;
    message: string;
}

export interface EditorOptions {
    text: string;
    syntax: Syntax;
    label: string;
    readOnly: boolean;
    change: (text: string) => void;
    run: () => void;
}

const syntaxes: Record<Syntax, () => Extension> = {
    javascript: () => javascript({ typescript: true }),
    python: () => python(),
    text: () => [],
};

/** Colours come from the page's own variables, so light and dark need nothing here. */
const colours = HighlightStyle.define([
    { tag: [tags.keyword, tags.modifier], color: "var(--code-keyword)" },
    { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
    { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
    { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--code-function)" },
    { tag: [tags.typeName, tags.className], color: "var(--code-type)" },
]);

const look = EditorView.theme({
    "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--inset)", color: "var(--text)" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
    ".cm-content": { caretColor: "var(--text)" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-gutters": { backgroundColor: "var(--inset)", color: "var(--quiet)", border: "none" },
    ".cm-activeLine": { backgroundColor: "var(--line-here)" },
    ".cm-activeLineGutter": { backgroundColor: "transparent" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection) !important" },
    ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--edge)" },
    ".cm-lintRange-error": { backgroundImage: "none", borderBottom: "2px solid var(--bad)", backgroundColor: "var(--bad-soft)" },
    // Its own marker is a picture in a style sheet, which the policy forbids.
    ".cm-lint-marker-error": { content: '""', width: "8px", height: "8px", margin: "4px 2px", borderRadius: "50%", backgroundColor: "var(--bad)" },
    ".cm-diagnostic-error": { borderLeft: "4px solid var(--bad)" },
});

export class CodeEditor {
    #view: EditorView;
    #syntax = new Compartment();
    /** Whether a text is being put in that does not come from the person. */
    #given = false;

    constructor(host: HTMLElement, options: EditorOptions) {
        const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
        const state = EditorState.create({
            doc: options.text,
            extensions: [
                keymap.of([{ key: "Mod-Enter", run: () => (options.run(), true) }]),
                lineNumbers(),
                lintGutter(),
                history(),
                drawSelection(),
                highlightActiveLine(),
                indentOnInput(),
                indentUnit.of("    "),
                bracketMatching(),
                closeBrackets(),
                autocompletion(),
                syntaxHighlighting(colours),
                look,
                // On a phone nobody scrolls to the side line by line.
                matchMedia("(max-width: 720px)").matches ? EditorView.lineWrapping : [],
                this.#syntax.of(syntaxes[options.syntax]()),
                // Tab indents; Escape, then Tab, leaves.
                keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
                EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0", autocapitalize: "off", spellcheck: "false" }),
                EditorState.readOnly.of(options.readOnly),
                EditorView.updateListener.of((update) => {
                    if (update.docChanged && !this.#given) options.change(update.state.doc.toString());
                }),
            ],
        });
        this.#view = new EditorView({ state, parent: root, root });
    }

    set text(text: string) {
        if (text === this.#view.state.doc.toString()) return;
        this.#given = true;
        this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
        this.#given = false;
    }

    set syntax(syntax: Syntax) {
        this.#view.dispatch({ effects: this.#syntax.reconfigure(syntaxes[syntax]()) });
    }

    /** Marks places; none: takes all marks away. */
    mark(marks: Mark[]): void {
        const { doc } = this.#view.state;
        const found = marks.map(({ line, column, message }) => {
            const row = doc.line(Math.min(Math.max(1, line), doc.lines));
            const from = Math.min(row.from + Math.max(0, column - 1), row.to);
            const word = /^\w+/.exec(doc.sliceString(from, row.to))?.[0].length ?? 1;
            return { from, to: Math.min(from + word, row.to), severity: "error" as const, message };
        });
        this.#view.dispatch(setDiagnostics(this.#view.state, found));
        if (found[0] !== undefined) this.#view.dispatch({ effects: EditorView.scrollIntoView(found[0].from, { y: "nearest" }) });
    }

    focus(): void {
        this.#view.focus();
    }

    destroy(): void {
        this.#view.destroy();
    }
}
