// A new sandbox.

import { useEffect, useState } from "preact/hooks";
import { createSandbox, type Profile, profiles, type Sandbox } from "../../api.js";
import { Dialog } from "../../parts/dialog.js";
import { refused } from "../../parts/notes.js";
import { curl, literal, python, Same, typescript } from "../../parts/same.js";
import { t } from "../../words.js";

const LIVES = [
    [900, "15 min"],
    [3_600, "1 h"],
    [86_400, "24 h"],
    [0, "∞"],
] as const;

export function Create({ close, made }: { close: () => void; made: (sandbox: Sandbox) => void }) {
    const [known, setKnown] = useState<Profile[]>([]);
    const [profile, setProfile] = useState("python-default");
    const [ttl, setTtl] = useState(3_600);
    const [busy, setBusy] = useState(false);
    useEffect(() => void profiles().then(setKnown).catch(refused), []);
    const chosen = known.find((one) => one.id === profile);
    const create = async (event: Event) => {
        event.preventDefault();
        setBusy(true);
        await createSandbox({ profile, ttl }).then((one) => (close(), made(one)), refused);
        setBusy(false);
    };
    return (
        <Dialog title={t("newSandbox")} close={close}>
            <form onSubmit={(event) => void create(event)}>
                <label for="profile">{t("profile")}</label>
                <select id="profile" value={profile} onChange={(event) => setProfile(event.currentTarget.value)}>
                    {known.length === 0 && <option>{profile}</option>}
                    {known.map((one) => (
                        <option key={one.id}>{one.id}</option>
                    ))}
                </select>
                <p class="quiet profile-note">
                    {chosen?.description} {chosen?.capabilities.join(", ")}
                </p>
                <label for="life">{t("life")}</label>
                <select id="life" value={ttl} onChange={(event) => setTtl(Number(event.currentTarget.value))}>
                    {LIVES.map(([seconds, name]) => (
                        <option key={seconds} value={seconds}>
                            {name}
                        </option>
                    ))}
                </select>
                <div class="toolbar">
                    <button class="main" disabled={busy}>
                        {t("create")}
                    </button>
                    <button type="button" onClick={close}>
                        {t("cancel")}
                    </button>
                </div>
            </form>
            <Same
                lines={{
                    curl: curl("POST", "/v1/sandboxes", { profile, ttl }),
                    python: python(`print(cove.sandboxes.create(${literal(profile)}, ttl=${ttl}).id)`),
                    typescript: typescript(`console.log((await cove.sandboxes.create({ profile: ${literal(profile)}, ttl: ${ttl} })).id);`),
                    cove: `cove sandbox create --profile ${profile}${ttl === 0 ? "" : ` --ttl ${ttl}`}`,
                }}
            />
        </Dialog>
    );
}
