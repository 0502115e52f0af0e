// The tool `ask_user`: the code asks, a person answers, and the code goes on where it waited.

import { useState } from "preact/hooks";
import { plain } from "../../parts/plain.js";
import { t } from "../../words.js";

/** The tool's name, as code calls it. */
export const ASK = "ask_user";
/** What a run may take that waits for a person, in seconds. */
export const PATIENCE = 300;

/** Whether code may ask. */
export const mayAsk = (code: string): boolean => code.includes(`${ASK}(`);

export interface Question {
    call: string;
    text: string;
}

/** What the code asks, from its event. */
export function questionOf(data: Record<string, unknown>): Question | undefined {
    if (data["name"] !== ASK) return undefined;
    const args = Array.isArray(data["args"]) ? data["args"] : [data["args"]];
    const [first] = args as unknown[];
    return { call: String(data["call_id"]), text: typeof first === "string" ? first : JSON.stringify(first ?? "") };
}

export function QuestionForm({ question, answer }: { question: Question; answer: (text: string) => void }) {
    const [text, setText] = useState("");
    return (
        <form
            class="card question"
            onSubmit={(event) => {
                event.preventDefault();
                answer(text);
            }}
        >
            <p class="quiet">{t("codeAsks")}</p>
            <label for="answer">{plain(question.text)}</label>
            <div class="toolbar">
                <input id="answer" class="wide" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} autoFocus />
                <button class="main">{t("answer")}</button>
            </div>
        </form>
    );
}
