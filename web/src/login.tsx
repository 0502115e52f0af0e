// Logging in by key.

import { useState } from "preact/hooks";
import { Copy } from "./parts/copy.js";
import { said } from "./server.js";
import { enter, loginFault } from "./session.js";
import { t } from "./words.js";

export function Login() {
    const [key, setKey] = useState("");
    const [busy, setBusy] = useState(false);
    const submit = async (event: Event) => {
        event.preventDefault();
        setBusy(true);
        await enter({ key }).catch((fault: unknown) => (loginFault.value = said(fault)));
        setKey("");
        setBusy(false);
    };
    return (
        <section class="login card">
            <h1>{t("logIn")}</h1>
            <p>{t("logInWhy")}</p>
            <form onSubmit={(event) => void submit(event)}>
                <label for="key">{t("key")}</label>
                <input id="key" type="password" autocomplete="off" spellcheck={false} value={key} onInput={(event) => setKey(event.currentTarget.value)} required autoFocus />
                {loginFault.value !== "" && (
                    <p class="fault" role="alert">
                        {loginFault.value}
                    </p>
                )}
                <button class="main" disabled={busy || key === ""}>
                    {t("logIn")}
                </button>
            </form>
            <p class="quiet">{t("logInOpen")}</p>
            <div class="toolbar">
                <pre class="code wide">cove open</pre>
                <Copy text="cove open" />
            </div>
        </section>
    );
}
