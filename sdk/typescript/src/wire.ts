/** One request as data, and the words of the interface under short names. */

import type { components } from "./schema.js";

/** Everything that is asked and answered, by its name in the interface. */
export type Schemas = components["schemas"];

/** Milliseconds beyond a run's own limit before the client gives up waiting: a session's start and the way there and back. */
export const GRACE_MS = 60_000;

/** Milliseconds for calls that run no guest code. They may still start a session. */
export const PLAIN_MS = 90_000;

/** Milliseconds for files on their way. */
export const TRANSFER_MS = 600_000;

/** What every call may be told besides. */
export interface CallOptions {
    /** Ends the wait. */
    signal?: AbortSignal | undefined;
}

/** A body that is sent as it is read, and so only once. */
export class Flow {
    constructor(readonly type: string, readonly stream: ReadableStream<Uint8Array>) {}
}

/** What to ask. */
export interface Request {
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    path: string;
    query?: Record<string, string | number | boolean | null | undefined> | undefined;
    /** JSON, a form with a file, or a form that is sent as it is read. */
    body?: object | FormData | Flow | undefined;
    idempotencyKey?: string | undefined;
    timeoutMs?: number | undefined;
    /** A POST that does no harm when it is sent twice, though it has no key. */
    harmless?: boolean | undefined;
    signal?: AbortSignal | undefined;
}

/** Whether sending it twice does no harm: a POST only with a key that tells the server so, or by its nature. */
export function repeatable(request: Request): boolean {
    if (request.body instanceof Flow) return false;
    const safe = request.method === "GET" || request.method === "PUT" || request.method === "DELETE";
    return safe || request.idempotencyKey !== undefined || request.harmless === true;
}

/** The address of a request below a server's. */
export function address(server: string, request: Request): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
        if (value !== undefined && value !== null) query.set(name, String(value));
    }
    const text = query.toString();
    return server.replace(/\/+$/, "") + request.path + (text === "" ? "" : `?${text}`);
}

/** One piece of a path; whatever is in it, it stays one piece. */
export function segment(text: string): string {
    return encodeURIComponent(text);
}

/** An options object without what is for the call and not for the server. */
export function body<T extends CallOptions & { onOutput?: unknown }>(options: T): Omit<T, "signal" | "onOutput"> {
    const { signal: _, onOutput: __, ...rest } = options;
    return rest;
}

/** A name that nobody else has. */
export function unique(): string {
    // Not `randomUUID`: a page that did not come over TLS has none.
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
