// Something is on its way.

import { t } from "../words.js";

export function Wait() {
    return (
        <div class="wait" role="status">
            <span class="spinner" aria-hidden="true" />
            <span>{t("loading")}</span>
        </div>
    );
}
