// Who is logged in. The key is sent once and not kept: the cookie that comes back cannot be read by any script.

import { computed, effect, signal } from "@preact/signals";
import { ask, loggedOut, Refused, said } from "./server.js";

export interface Session {
    owner: string;
    admin: boolean;
    /** The one sandbox that a shared link shows. */
    sandbox_id: string | null;
    version: string;
}

/** `undefined`: not known yet; `null`: nobody. */
export const session = signal<Session | null | undefined>(undefined);
/** Why a link did not log in. */
export const loginFault = signal("");
/** Whether nothing may be changed. */
export const onlyLooks = computed(() => typeof session.value?.sandbox_id === "string");

/** Finds out who is there: by a link, by the cookie, or by being on this machine where no key is needed. */
export async function begin(): Promise<void> {
    const link = /^#\/open\/([\w.-]+)$/.exec(location.hash);
    if (link !== null) {
        // Out of the address and the history before anything else is done.
        history.replaceState(null, "", "#/");
        await enter({ token: link[1]! }).catch((fault: unknown) => (loginFault.value = said(fault)));
    }
    if (session.value === undefined) {
        const known = (body?: object) => ask<Session>(body ? "POST" : "GET", "/page/session", body ? { body } : {});
        session.value = await known().catch(() => known({})).catch((fault: unknown) => {
            if (!(fault instanceof Refused)) loginFault.value = said(fault);
            return null;
        });
    }
    const one = session.value?.sandbox_id;
    if (typeof one === "string" && !location.hash.startsWith(`#/sandbox/${one}`)) location.hash = `#/sandbox/${one}`;
}

/** Logs in. */
export async function enter(by: { key: string } | { token: string }): Promise<void> {
    session.value = await ask<Session>("POST", "/page/session", { body: by });
    loginFault.value = "";
}

/** Logs out. */
export async function leave(): Promise<void> {
    await ask("DELETE", "/page/session").catch(() => undefined);
    session.value = null;
}

effect(() => {
    if (loggedOut.value > 0) session.value = null;
});
