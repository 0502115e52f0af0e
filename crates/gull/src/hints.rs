//! What went wrong and what to do next, where agent-browser only says it in words.
//!
//! Nobody after Gull reads these words: the answer has the cause and the hint as fields.

use cove_runtime_api::BrowserCause;

/// What is known of a failed command by its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sign {
    words: &'static [&'static str],
    pub(crate) cause: Option<BrowserCause>,
    pub(crate) hint: &'static str,
}

const SIGNS: &[Sign] = &[
    Sign {
        words: &[
            "Unknown ref",
            "Could not locate element with role=",
            "is stale",
            "stale ref",
            "ref not found",
            "tab_gone",
        ],
        cause: Some(BrowserCause::NotOnPage),
        hint: "the page has changed since this ref was given; take a new snapshot (`snapshot -i`) and use its refs",
    },
    Sign {
        words: &["Element not found"],
        cause: Some(BrowserCause::NotOnPage),
        hint: "take a new snapshot (`snapshot -i`) to see what is on the page",
    },
    Sign {
        words: &["ERR_NAME_NOT_RESOLVED", "ERR_TUNNEL_CONNECTION_FAILED", "ERR_PROXY_CONNECTION_FAILED"],
        cause: Some(BrowserCause::HostNotReached),
        hint: "the sandbox reaches only the hosts that its profile opens",
    },
    Sign { words: &["Expected a tab id"], cause: None, hint: "`tab` lists the tabs with their ids (t1, t2, …)" },
];

/// Advice after the guard has refused an address.
pub(crate) const ADDRESSES: &str = "http, https, data: and about:blank are allowed";

impl Sign {
    /// The first that these words show, if there is one.
    pub(crate) fn find(said: &str) -> Option<&'static Self> {
        SIGNS.iter().find(|sign| sign.words.iter().any(|word| said.contains(word)))
    }
}
