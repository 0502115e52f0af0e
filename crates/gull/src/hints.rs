//! What to do next, in one line, where agent-browser only says what went wrong.

use crate::guard::ADDRESS_REFUSED;

/// A hint for a failed command, if there is one.
pub(crate) fn hint(said: &str) -> Option<&'static str> {
    const HINTS: &[(&[&str], &str)] = &[
        (
            &[
                "Unknown ref",
                "Could not locate element with role=",
                "is stale",
                "stale ref",
                "ref not found",
                "tab_gone",
            ],
            "the page has changed since this ref was given; take a new snapshot (`snapshot -i`) and use its refs",
        ),
        (&["Element not found"], "take a new snapshot (`snapshot -i`) to see what is on the page"),
        (
            &["ERR_NAME_NOT_RESOLVED", "ERR_TUNNEL_CONNECTION_FAILED", "ERR_PROXY_CONNECTION_FAILED"],
            "the sandbox reaches only the hosts that its profile opens",
        ),
        (&["Expected a tab id"], "`tab` lists the tabs with their ids (t1, t2, …)"),
        (&[ADDRESS_REFUSED], "http, https, data: and about:blank are allowed"),
    ];
    HINTS.iter().find(|(signs, _)| signs.iter().any(|sign| said.contains(sign))).map(|(_, hint)| *hint)
}
