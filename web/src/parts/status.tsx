// A sandbox's state: a dot and a word.

import type { Sandbox } from "../api.js";
import { t } from "../words.js";

const WORDS = { idle: "idle", starting: "starting", ready: "ready", failed: "failedState", expired: "expired" } as const;

export function StatusDot({ status }: { status: Sandbox["status"] }) {
    return (
        <span class={`status ${status}`}>
            <span class="dot" aria-hidden="true" />
            {t(WORDS[status])}
        </span>
    );
}
