/**
 * A run whose code calls back: tools are answered while the run goes on.
 *
 * Tools run at the same time if guest code calls several.
 */

import { CoveError, TransportError } from "./errors.js";
import { pause, type Transport } from "./transport.js";
import { type Request, type Schemas, segment } from "./wire.js";

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
        const stream = await transport.listen(`${base}/events`, undefined, signal);
        // Who listens ends only with an error: the run would wait for answers that never come.
        const listening = answerCalls(transport, base, session, tools, stream, signal);
        return await Promise.race([transport.call<T>({ ...request, signal }), listening]);
    } finally {
        over.abort();
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
                stream = await transport.listen(`${base}/events`, after, signal);
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
