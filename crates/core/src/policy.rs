//! What a session may use: a clock, randomness, modules, the network.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The clock that guest code sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// `Date.now()` and `new Date()` throw: a run cannot measure time. The default of executor sessions.
    #[default]
    None,
    /// Time stands still at this moment, in milliseconds since 1970: for replays.
    Fixed(i64),
    /// The real time. The default of one-shot runs.
    Real,
}

impl Clock {
    /// Whether time passes for guest code. Where it does not, timers fire in virtual time: in the order of their due
    /// times, without waiting, when nothing else can run.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Real)
    }
}

/// The randomness that guest code sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Random {
    /// `Math.random()` throws. The default of executor sessions.
    #[default]
    None,
    /// A fixed sequence: for replays.
    Seeded(u64),
    /// Real randomness. The default of one-shot runs.
    Real,
}

/// Which modules `import()` may load, and where their text comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportPolicy {
    /// `*`, `pkg.*` or `pkg` (which covers its submodules `pkg/…` and `pkg.…` too).
    pub authorized: Vec<String>,
    /// Source text by module name. An authorised module without a text here does not exist.
    pub modules: BTreeMap<String, String>,
}

impl ImportPolicy {
    /// Whether `module` is on the list.
    pub fn allows(&self, module: &str) -> bool {
        self.authorized.iter().any(|entry| {
            let package = entry.strip_suffix(".*").unwrap_or(entry);
            let below = |rest: &str| rest.is_empty() || rest.starts_with('/') || rest.starts_with('.');
            entry == "*" || (!package.is_empty() && module.strip_prefix(package).is_some_and(below))
        })
    }

    /// The one sentence for a module that is not on the list; it says what is.
    pub fn refusal(&self, module: &str) -> String {
        let list = if self.authorized.is_empty() { "none".to_owned() } else { self.authorized.join(", ") };
        format!("Import not allowed: {module}. Authorised modules: {list}")
    }

    /// The one sentence for a module that is on the list and has no text; it says which have one.
    pub fn missing(&self, module: &str) -> String {
        /// Enough to recognise a wrong name; a library of many files would fill a page.
        const SHOWN: usize = 10;
        let mut given: Vec<_> = self.modules.keys().take(SHOWN).map(String::as_str).collect();
        if self.modules.len() > SHOWN {
            given.push("…");
        }
        let list = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
        format!(
            "Cannot find module {module}: it is authorised, but no text was given for it. Modules with a text: {list}"
        )
    }
}

/// Which hosts guest code may reach. Empty means none, and that is the default everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkPolicy {
    /// Host names; `*.example.com` covers every name below `example.com`. `host:port` opens one port only.
    pub allow_hosts: Vec<String>,
    /// Loopback, private and link-local addresses stay closed unless they are named here, as address or `address:port`.
    pub allow_private: Vec<String>,
    /// Hosts that may be opened later, while whatever has this policy runs; written like `allow_hosts`, and `*` is every host
    /// that is not private.
    pub may_allow: Vec<String>,
}

impl NetworkPolicy {
    /// Whether no host may be reached, now or later.
    pub fn is_closed(&self) -> bool {
        self.allow_hosts.is_empty() && self.may_allow.is_empty()
    }

    /// Whether nothing at all may be reached, now or later.
    pub fn opens_nothing(&self) -> bool {
        self.is_closed() && self.allow_private.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each form of entry covers.
    #[test]
    fn the_import_list_covers_what_it_says() {
        let check = |entry: &str, module: &str| {
            ImportPolicy { authorized: vec![entry.to_owned()], ..Default::default() }.allows(module)
        };
        for (entry, module) in [
            ("*", "anything"),
            ("lodash", "lodash"),
            ("lodash", "lodash/fp"),
            ("lodash.*", "lodash"),
            ("lodash.*", "lodash.fp"),
            ("@a/b", "@a/b/c"),
        ] {
            assert!(check(entry, module), "{entry} should cover {module}");
        }
        for (entry, module) in [
            ("lodash", "lodash-es"),
            ("lodash", "lod"),
            ("", "x"),
            (".*", "x"),
            ("@a/b", "@a/bc"),
            ("lodash/fp", "lodash"),
        ] {
            assert!(!check(entry, module), "{entry} should not cover {module}");
        }
        assert!(!ImportPolicy::default().allows("fs"));
        assert_eq!(ImportPolicy::default().refusal("fs"), "Import not allowed: fs. Authorised modules: none");
    }
}
