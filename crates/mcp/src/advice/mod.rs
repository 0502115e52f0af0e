//! What to do after a failure, in one sentence that is true for whoever reads it.
//!
//! The reader is a model. It can change its code, its arguments and its plan; it cannot change a policy, a configuration
//! or what is installed. For these it can ask its user, and the sentence says for what.

pub(crate) mod bay;
pub(crate) mod code;
pub(crate) mod files;

use std::time::Duration;

use crate::time::Bounds;

/// After a time-out. More time is an offer only where more can be had.
pub(crate) fn out_of_time(given: Duration, bounds: Bounds) -> String {
    let most = bounds.most_ms;
    if given.as_millis() < u128::from(most) {
        format!("Do less in one call, or pass a longer `timeout_ms` (at most {most}).")
    } else {
        "Do less in one call: this was the longest time-out there is.".to_owned()
    }
}

/// Where `fetch` may not reach a host. A private address stays closed unless it is named as one, too.
pub(crate) const NO_NETWORK: &str = "Go on without that host, or ask the user to open it (`--allow-host`, for a private address also `--allow-private`).";

/// Where a program has not reached a host.
pub(crate) const NO_HOST: &str = "Go on without that host, or ask the user to open it (`--allow-host`).";

/// Where a runtime or its browser could not be started.
pub(crate) const NOT_STARTED: &str =
    "Call once more; if it fails again, tell the user what is missing here, and go on without this tool.";

/// Whether a program's words are those of one that reached no host. Programs of others (curl, Python) name no cause: their
/// words are all there is.
pub(crate) fn reached_nobody(words: &str) -> bool {
    const SIGNS: [&str; 6] = [
        "CONNECT tunnel failed, response 403",
        "Could not resolve host",
        "name resolution",
        "Name or service not known",
        "getaddrinfo",
        "Network is unreachable",
    ];
    SIGNS.iter().any(|sign| words.contains(sign))
}

/// A hint as a sentence.
pub(crate) fn sentence(hint: &str) -> String {
    let hint = hint.trim();
    if hint.contains(" | ") {
        return format!("Use `{hint}`.");
    }
    let mut chars = hint.chars();
    // Names of schemes and of flags keep their letters.
    let first = match chars.next() {
        Some(first) if !hint.starts_with("http") => first.to_uppercase().to_string(),
        first => first.map(String::from).unwrap_or_default(),
    };
    let end = if hint.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// The name in `source` that one which is not there is nearest to. A member of something is no name of its own.
pub(crate) fn nearest_word<'a>(name: &str, source: &'a str) -> Option<&'a str> {
    let mut after_dot = false;
    let words = source.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).filter_map(|piece| {
        let word = piece.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        let member = std::mem::replace(&mut after_dot, piece.ends_with('.'));
        (!member && word.chars().count() > 2 && !word.starts_with(char::is_numeric)).then_some(word)
    });
    nearest(name, words)
}

/// The known name that a misspelt one is nearest to.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    // One letter in three may be wrong; a short name is near to too many others.
    let most = (lower.chars().count() / 3).clamp(1, 4);
    let far = |known: &'a str| (strsim::osa_distance(&lower, &known.to_lowercase()), known);
    known.into_iter().map(far).filter(|(far, known)| *far <= most && *known != name).min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::ONE;

    #[test]
    fn more_time_is_offered_where_there_is_more() {
        assert!(out_of_time(Duration::from_millis(299_999), ONE).contains("`timeout_ms` (at most 300000)"));
        assert!(!out_of_time(Duration::from_secs(300), ONE).contains("`timeout_ms`"));
    }

    #[test]
    fn the_nearest_is_near() {
        let known = ["execute_shell", "execute_python", "read", "ls"];
        for (name, expected) in [
            ("exec_shell", Some("execute_shell")),
            ("executePython", Some("execute_python")),
            ("raed", Some("read")),
            ("read", None),
            ("delete_everything", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }
}
