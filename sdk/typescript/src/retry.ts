/**
 * When a call is sent again, and how long to wait before.
 *
 * A call is repeated only when that cannot do the work twice: GET, PUT and DELETE, a POST that carries an idempotency key,
 * and any call that the server refused with `session_not_ready` before it began.
 */

import { type ApiError, SessionNotReadyError } from "./errors.js";
import { Flow, type Request, repeatable } from "./wire.js";

/** First wait; doubled each time, half of it by chance so that many clients do not come back together. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 3_000;
/** What a server may ask for at most; beyond that the error is the better answer. */
const LONGEST_ASKED_MS = 30_000;

/** The attempts of one call. Each failure is shown to it; it answers with milliseconds to wait, or `undefined`: give up. */
export class Attempts {
    #request: Request;
    #left: number;
    #wait = FIRST_WAIT_MS;

    constructor(request: Request, retries: number) {
        this.#request = request;
        this.#left = Math.max(0, retries);
    }

    /** After the connection failed: nobody knows whether the work was done. */
    afterBreak(): number | undefined {
        return repeatable(this.#request) ? this.#next() : undefined;
    }

    /** After an answer that is an error. */
    afterRefusal(error: ApiError, retryAfter: string | null): number | undefined {
        // What can be read only once cannot be sent twice, whatever the server says.
        if (this.#request.body instanceof Flow) return undefined;
        if (error instanceof SessionNotReadyError) return this.#next(error.retryAfterMs);
        if (!repeatable(this.#request) || !(error.status === 429 || error.status >= 500)) return undefined;
        const seconds = retryAfter === null ? Number.NaN : Number(retryAfter);
        return this.#next(Number.isFinite(seconds) ? seconds * 1_000 : undefined);
    }

    #next(askedMs?: number): number | undefined {
        if (this.#left === 0 || (askedMs !== undefined && askedMs > LONGEST_ASKED_MS)) return undefined;
        this.#left -= 1;
        const wait = this.#wait * (0.5 + Math.random() / 2);
        this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
        return askedMs === undefined ? wait : Math.max(askedMs, 0) + wait * 0.1;
    }
}
