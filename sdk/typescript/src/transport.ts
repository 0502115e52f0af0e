/** Sending: attempts, deadlines, events. Nothing but `fetch`, so that it runs wherever that is. */

import { CoveError, fromAnswer, fromBody, ProtocolError, TransportError } from "./errors.js";
import { Attempts } from "./retry.js";
import { address, Flow, PLAIN_MS, type Request, type Schemas } from "./wire.js";

/** How a server is reached. */
export interface TransportOptions {
    url: string;
    key?: string | undefined;
    retries: number;
    fetch: typeof fetch;
}

/** One server. */
export class Transport {
    readonly #options: TransportOptions;

    constructor(options: TransportOptions) {
        this.#options = options;
    }

    /** The server's address. */
    get url(): string {
        return this.#options.url;
    }

    /** Sends it, again where that is safe, and gives the answer; throws what is none. */
    async send(request: Request): Promise<Response> {
        const attempts = new Attempts(request, this.#options.retries);
        for (;;) {
            request.signal?.throwIfAborted();
            let response: Response;
            let wait: number | undefined;
            try {
                response = await this.#once(request);
            } catch (fault) {
                request.signal?.throwIfAborted();
                wait = attempts.afterBreak();
                if (wait === undefined) throw broken(request, fault);
                await pause(wait, request.signal);
                continue;
            }
            if (response.ok) return response;
            const refused = await fromAnswer(response);
            wait = attempts.afterRefusal(refused, response.headers.get("retry-after"));
            if (wait === undefined) throw refused;
            await pause(wait, request.signal);
        }
    }

    /** The answer as JSON. */
    async call<T>(request: Request): Promise<T> {
        const response = await this.send(request);
        try {
            return (await response.json()) as T;
        } catch (fault) {
            throw new ProtocolError(`${request.method} ${request.path}: the answer is not JSON`, { cause: fault });
        }
    }

    /** The answer as bytes. */
    async bytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
        const response = await this.send(request);
        try {
            return new Uint8Array(await response.arrayBuffer());
        } catch (fault) {
            throw broken(request, fault);
        }
    }

    /** The answer's bytes as they come. */
    async stream(request: Request): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
        const { body } = await this.send(request);
        if (body === null) throw new ProtocolError(`${request.method} ${request.path}: no bytes`);
        return body;
    }

    /** Events as they come; the server is listening when this is answered. Ends with `signal`. */
    async listen<T = Schemas["Event"]>(path: string, query: Request["query"], signal: AbortSignal): Promise<AsyncGenerator<T>> {
        const request: Request = { method: "GET", path, ...(query === undefined ? {} : { query }) };
        let response: Response;
        try {
            response = await this.#options.fetch(address(this.#options.url, request), {
                headers: { ...this.#headers(request), accept: "text/event-stream" },
                signal,
            });
        } catch (fault) {
            throw broken(request, fault);
        }
        if (!response.ok) throw await fromAnswer(response);
        if (response.body === null) throw new ProtocolError(`GET ${path}: no stream`);
        return events<T>(response.body, request);
    }

    #once(request: Request): Promise<Response> {
        const deadline = AbortSignal.timeout(request.timeoutMs ?? PLAIN_MS);
        const { body } = request;
        const init: RequestInit & { duplex?: "half" } = {
            method: request.method,
            headers: this.#headers(request),
            body: null,
            signal: request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]),
            redirect: "error",
        };
        if (body instanceof FormData) {
            init.body = body;
        } else if (body instanceof Flow) {
            // A body that is read while it is sent: fetch wants to be told that the answer comes after it.
            Object.assign(init, { body: body.stream, duplex: "half" });
        } else if (body !== undefined) {
            init.body = JSON.stringify(body);
        }
        return this.#options.fetch(address(this.#options.url, request), init);
    }

    #headers(request: Request): Record<string, string> {
        const { body } = request;
        const type = body instanceof Flow ? body.type : "application/json";
        return {
            ...(this.#options.key === undefined ? {} : { authorization: `Bearer ${this.#options.key}` }),
            // A form's own type is fetch's to say: it makes the boundary.
            ...(body === undefined || body instanceof FormData ? {} : { "content-type": type }),
            ...(request.idempotencyKey === undefined ? {} : { "idempotency-key": request.idempotencyKey }),
        };
    }
}

async function* events<T>(body: ReadableStream<Uint8Array>, request: Request): AsyncGenerator<T> {
    const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
    let rest = "";
    let data: string[] = [];
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            const lines = (rest + value).split(/\r?\n/);
            rest = lines.pop() ?? "";
            for (const line of lines) {
                if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
                // Comments keep the connection open and say nothing.
                if (line !== "" || data.length === 0) continue;
                const text = data.join("\n");
                data = [];
                yield JSON.parse(text) as T;
            }
        }
    } catch (fault) {
        throw broken(request, fault);
    } finally {
        await reader.cancel().catch(() => undefined);
    }
}

/** What a stream says until it ends, or until nobody asks for more. */
export async function* followed<T>(
    transport: Transport,
    path: string,
    query: Request["query"],
    signal: AbortSignal | undefined,
): AsyncGenerator<T> {
    const over = new AbortController();
    const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
    try {
        for await (const frame of await transport.listen<T | Schemas["ErrorBody"]>(path, query, either)) {
            if (frame !== null && typeof frame === "object" && "error" in frame && "code" in frame.error) throw fromBody(frame);
            yield frame as T;
        }
    } finally {
        over.abort();
    }
}

function broken(request: Request, fault: unknown): CoveError {
    if (fault instanceof CoveError) return fault;
    const error = fault as { message?: string; cause?: { message?: string } };
    const said = error?.cause?.message ?? error?.message ?? String(fault);
    return new TransportError(`${request.method} ${request.path}: ${said}`, { cause: fault });
}

/** Waits, unless the caller no longer does. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", stop);
            resolve();
        }, ms);
        function stop(): void {
            clearTimeout(timer);
            reject(signal?.reason);
        }
        signal?.addEventListener("abort", stop, { once: true });
    });
}
