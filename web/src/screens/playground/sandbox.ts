// The playground's own sandbox: made by the first run, kept for later ones, and gone by itself.

import { createSandbox, extendSandbox, sandbox } from "../../api.js";
import { Refused } from "../../server.js";

/** How long it lives beyond the last run, in seconds. */
const LIFE = 1_800;
const KEPT = "cove-playground";

/** The id of a sandbox that can run JavaScript. */
export async function playgroundSandbox(): Promise<string> {
    const kept = sessionStorage.getItem(KEPT);
    if (kept !== null) {
        try {
            const known = await sandbox(kept);
            if (known.status !== "expired") {
                const left = Date.parse(known.expires_at ?? "") - Date.now();
                if (left < (LIFE * 1_000) / 2) await extendSandbox(kept, LIFE);
                return kept;
            }
        } catch (fault) {
            if (!(fault instanceof Refused) || fault.status === 401) throw fault;
        }
    }
    const made = await createSandbox({ profile: "javascript", ttl: LIFE }).catch((fault: unknown) => {
        // A server with profiles of its own.
        if (fault instanceof Refused && fault.code === "validation_error") return createSandbox({ profile: "python-default", ttl: LIFE });
        throw fault;
    });
    sessionStorage.setItem(KEPT, made.id);
    return made.id;
}
