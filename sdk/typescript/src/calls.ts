/**
 * A run that is attended: its tools are answered, its output is heard while it goes on.
 *
 * Tools run at the same time if guest code calls several.
 */

import { CoveError, TransportError } from "./errors.js";
import { pause, type Transport } from "./transport.js";
import { type Request, type Schemas, segment, unique } from "./wire.js";

/** A function of the caller's that guest code may call, with words for it if there are any. */
// biome-ignore lint: a tool takes what guest code gives it; its own signature says what it expects.
export type Tool = ((...args: any[]) => unknown) | { description: string; run: (...args: any[]) => unknown };

/** Tools by the names under which guest code calls them. */
export type Tools = Record<string, Tool>;

interface ToolCall {
    call_id: string;
    session?: string;
    name: string;
    args: unknown[];
}

/** As the server wants to know them. */
export function specs(tools: Tools): Schemas["RemoteTool"][] {
    return Object.entries(tools).map(([name, tool]) => {
        if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new TypeError(`"${name}" cannot be a tool's name: JavaScript could not call it`);
        return { name, description: typeof tool === "function" ? "" : tool.description };
    });
}

/** Sends the run and answers its tool calls until it ends. */
export async function runWithTools<T>(transport: Transport, base: string, request: Request, session: string, tools: Tools): Promise<T> {
    const over = new AbortController();
    const signal = request.signal === undefined ? over.signal : AbortSignal.any([over.signal, request.signal]);
    try {
        const stream = await transport.listen(`${base}/events`, {}, signal);
        // Who listens ends only with an error: the run would wait for answers that never come.
        const listening = answerCalls(transport, base, session, tools, stream, signal);
        return await Promise.race([transport.call<T>({ ...request, signal }), listening]);
    } finally {
        over.abort();
    }
}

/** What Python or a command has written since the last time: whole lines, unless one has waited long for its end. */
export interface Output {
    stream: "stdout" | "stderr";
    text: string;
    /** Bytes that were left out beside it, because more was written than can be told at once. The result has them. */
    dropped: number;
}

/** Hears what a run writes, while it runs. */
export type OnOutput = (output: Output) => unknown;

/** Of a run that can be heard. */
export interface HeardOptions {
    /** Hears what it writes while it runs; the result has all of it in any case. */
    onOutput?: OnOutput | undefined;
}

/** Sends the run; somebody may hear what it writes. */
export function run<T extends { execution_id?: string | null }>(
    transport: Transport,
    base: string,
    request: Request,
    onOutput: OnOutput | undefined,
): Promise<T> {
    return onOutput === undefined ? transport.call<T>(request) : runHeard<T>(transport, base, request, onOutput);
}

/** How long the last words of a run are waited for: they come by another connection than its answer. */
const LAST_WORDS_MS = 2_000;

/** Sends the run and tells `onOutput` what it writes, until it ends. */
async function runHeard<T extends { execution_id?: string | null }>(
    transport: Transport,
    base: string,
    request: Request,
    onOutput: OnOutput,
): Promise<T> {
    const over = new AbortController();
    const signal = request.signal === undefined ? over.signal : AbortSignal.any([over.signal, request.signal]);
    const tag = unique();
    try {
        const events = await transport.listen(`${base}/events`, {}, signal);
        const answered = transport.call<T>({ ...request, body: { ...request.body, output_tag: tag }, signal });
        // An ear that throws ends the run; a stream that breaks off does not: the result has everything.
        answered.catch(() => undefined);
        const ended = new Ended();
        const told = tell(events, tag, ended, onOutput);
        await Promise.race([answered, told]);
        const answer = await answered;
        await Promise.race([told, ended.saw(answer.execution_id ?? ""), pause(LAST_WORDS_MS, signal)]);
        return answer;
    } finally {
        over.abort();
    }
}

/** Runs whose end was seen, and whoever waits for one. */
class Ended {
    readonly #ids = new Set<string>();
    #wake = (): void => undefined;

    add(id: string): void {
        this.#ids.add(id);
        this.#wake();
    }

    saw(id: string): Promise<void> {
        return new Promise((resolve) => {
            this.#wake = () => void (this.#ids.has(id) && resolve());
            this.#wake();
        });
    }
}

async function tell(events: AsyncGenerator<Schemas["Event"]>, tag: string, ended: Ended, onOutput: OnOutput): Promise<void> {
    const next = async (): Promise<Schemas["Event"] | undefined> => {
        try {
            const { value, done } = await events.next();
            return done === true ? undefined : value;
        } catch (fault) {
            if (fault instanceof TransportError) return undefined;
            throw fault;
        }
    };
    for (let event = await next(); event !== undefined; event = await next()) {
        const data = event.data as { tag?: string; execution_id?: string } & Partial<Output>;
        if (event.kind === "output" && data.tag === tag) {
            await onOutput({ stream: data.stream ?? "stdout", text: data.text ?? "", dropped: data.dropped ?? 0 });
        }
        if (event.kind === "run_finished") ended.add(data.execution_id ?? "");
    }
}

async function answerCalls(
    transport: Transport,
    base: string,
    session: string,
    tools: Tools,
    first: AsyncGenerator<Schemas["Event"]>,
    signal: AbortSignal,
): Promise<never> {
    let stream = first;
    let after: number | undefined;
    for (;;) {
        try {
            for await (const event of stream) {
                after = event.seq;
                const call = event.data as unknown as ToolCall;
                if (event.kind === "tool_call" && call.session === session && Object.hasOwn(tools, call.name)) {
                    void answer(transport, base, call, tools);
                }
            }
        } catch (fault) {
            if (signal.aborted) return await new Promise<never>(() => undefined);
            if (!(fault instanceof TransportError)) throw fault;
        }
        // The stream broke off; the next one goes on where it was.
        for (;;) {
            if (signal.aborted) return await new Promise<never>(() => undefined);
            await pause(100);
            try {
                stream = await transport.listen(`${base}/events`, { after }, signal);
                break;
            } catch (fault) {
                if (!signal.aborted && !(fault instanceof TransportError)) throw fault;
            }
        }
    }
}

async function answer(transport: Transport, base: string, call: ToolCall, tools: Tools): Promise<void> {
    let said: Schemas["ToolAnswer"];
    try {
        const tool = tools[call.name] as Tool;
        const result = await (typeof tool === "function" ? tool(...call.args) : tool.run(...call.args));
        // What has no JSON form is told here, not in the middle of a request.
        JSON.stringify(result);
        said = { result: result ?? null };
    } catch (fault) {
        said = { error: fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault) };
    }
    try {
        await transport.send({ method: "POST", path: `${base}/javascript/tools/${segment(call.call_id)}`, body: said, harmless: true });
    } catch (fault) {
        // The run ended before its tool did, and nobody waits for this answer; or the server is gone, and the run with it.
        if (!(fault instanceof CoveError)) throw fault;
    }
}
