// An editor: CodeMirror when its chunk is there, a plain field until then, of the same size.

import { useEffect, useRef, useState } from "preact/hooks";
import { useKey } from "../keys.js";
import type { CodeEditor, Mark, Syntax } from "./codemirror.js";

interface Props {
    text: string;
    label: string;
    syntax: Syntax;
    change: (text: string) => void;
    run?: () => void;
    marks?: Mark[];
    readOnly?: boolean;
}

export function Editor({ text, label, syntax, change, run, marks = [], readOnly = false }: Props) {
    const host = useRef<HTMLDivElement>(null);
    const editor = useRef<CodeEditor | undefined>();
    const latest = useRef({ text, change, run });
    latest.current = { text, change, run };
    // Texts that the editor has told of and that have not come back yet: whoever types fast is ahead of what is drawn.
    const told = useRef<string[]>([]);
    const [ready, setReady] = useState(false);
    useKey("Escape Tab", "leaveEditor");
    useEffect(() => {
        let there = true;
        void import("./codemirror.js").then(({ CodeEditor }) => {
            if (!there) return;
            editor.current = new CodeEditor(host.current!, {
                text: latest.current.text,
                syntax,
                label,
                readOnly,
                change: (now) => {
                    told.current.push(now);
                    latest.current.change(now);
                },
                run: () => latest.current.run?.(),
            });
            setReady(true);
        });
        return () => {
            there = false;
            editor.current?.destroy();
            editor.current = undefined;
        };
    }, [readOnly]);
    useEffect(() => {
        if (editor.current === undefined) return;
        const at = told.current.indexOf(text);
        told.current.splice(0, at === -1 ? told.current.length : at + 1);
        if (at === -1) editor.current.text = text;
    }, [text, ready]);
    useEffect(() => {
        if (editor.current !== undefined) editor.current.syntax = syntax;
    }, [syntax, ready]);
    useEffect(() => editor.current?.mark(marks), [marks, ready]);
    return (
        <div class="editor">
            <div class="editor-host" ref={host} data-ready={ready ? "" : undefined} />
            {!ready && <textarea aria-label={label} value={text} readOnly={readOnly} onInput={(event) => change(event.currentTarget.value)} />}
        </div>
    );
}
