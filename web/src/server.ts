// Asking the server: every request of the page goes through here.
//
// The cookie that logs the page in means nothing without the header below, which no other page can send.

import { signal } from "@preact/signals";

/** What the server must see to believe that a request is the page's own. */
const FROM_PAGE = { "X-Cove-Page": "1" };

/** A request that was refused. */
export class Refused extends Error {
    constructor(
        readonly status: number,
        readonly code: string,
        message: string,
        readonly details: Record<string, unknown> = {},
    ) {
        super(message);
        this.name = "Refused";
    }
}

/** Counts refusals for want of a login: whoever shows the login screen looks at it. */
export const loggedOut = signal(0);

export interface Ask {
    body?: unknown;
    form?: FormData;
    headers?: Record<string, string>;
    signal?: AbortSignal;
}

/** The raw answer; refusals are thrown. */
export async function answer(method: string, path: string, ask: Ask = {}): Promise<Response> {
    const headers: Record<string, string> = { ...FROM_PAGE, ...ask.headers };
    const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store", redirect: "error" };
    if (ask.form !== undefined) init.body = ask.form;
    else if (ask.body !== undefined) {
        headers["Content-Type"] = "application/json";
        init.body = JSON.stringify(ask.body);
    }
    if (ask.signal !== undefined) init.signal = ask.signal;
    const response = await fetch(path, init);
    if (response.ok) return response;
    const refused = await refusal(response);
    if (refused.status === 401 && path !== "/page/session") loggedOut.value += 1;
    throw refused;
}

/** The answer as JSON. */
export async function ask<T>(method: string, path: string, more: Ask = {}): Promise<T> {
    const response = await answer(method, path, more);
    return (response.status === 204 ? undefined : await response.json()) as T;
}

async function refusal(response: Response): Promise<Refused> {
    const body: unknown = await response.json().catch(() => null);
    const { error, detail } = (body ?? {}) as {
        error?: { code: string; message: string; details?: Record<string, unknown> };
        detail?: { loc: string[]; msg: string }[];
    };
    if (error !== undefined) return new Refused(response.status, error.code, error.message, error.details);
    if (Array.isArray(detail)) {
        const words = detail.map((one) => `${one.loc.slice(1).join(".")}: ${one.msg}`).join("; ");
        return new Refused(response.status, "validation_error", words);
    }
    return new Refused(response.status, `http_${response.status}`, response.statusText || `HTTP ${response.status}`);
}

/** What went wrong, in words. */
export function said(fault: unknown): string {
    return fault instanceof Error ? fault.message : String(fault);
}
