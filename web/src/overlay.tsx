// `?`: all keys that hold on this screen.

import { Dialog } from "./parts/dialog.js";
import { listed, overlay } from "./keys.js";
import { t } from "./words.js";

export function Overlay() {
    return (
        <Dialog title={t("keys")} close={() => (overlay.value = false)}>
            <dl class="shortcuts">
                {listed().map(([keys, what]) => (
                    <div key={keys}>
                        <dt>
                            {keys.split(" ").map((key) => (
                                <kbd key={key}>{key}</kbd>
                            ))}
                        </dt>
                        <dd>{what}</dd>
                    </div>
                ))}
            </dl>
        </Dialog>
    );
}
