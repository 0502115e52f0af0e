//! Which addresses the browser may be sent to.
//!
//! Asked twice: at the door, for a clear answer, and again on the wire (`guard.rs`), for certainty. The network itself
//! is held by the browser's proxy; here it is only said sooner and better.

use cove_chrome::{AddressRule, is_loopback_name};

use crate::plan::shown;
use crate::refusal::CommandRefusal;

/// Schemes that are no host names followed by a port.
const SCHEMES: &[&str] = &[
    "about",
    "blob",
    "chrome",
    "chrome-error",
    "chrome-extension",
    "chrome-search",
    "chrome-untrusted",
    "content",
    "data",
    "devtools",
    "feed",
    "file",
    "filesystem",
    "ftp",
    "gopher",
    "intent",
    "isolated-app",
    "jar",
    "javascript",
    "mailto",
    "resource",
    "sftp",
    "smb",
    "ssh",
    "tel",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// Checks an address that a person or a model wrote. `inside`: whether `localhost` is the sandbox.
pub(crate) fn check(given: &str, network: &AddressRule, inside: bool) -> Result<(), CommandRefusal> {
    let text = as_a_browser_reads(given);
    let scheme = scheme(&text);
    let rest = match scheme.as_deref() {
        Some("http" | "https") => text.split_once("//").map_or("", |(_, rest)| rest),
        Some("data") => return Ok(()),
        Some("about") if is_blank(&text) => return Ok(()),
        Some(other) => {
            return Err(CommandRefusal::new(format!("{other}: URLs are not allowed: {}", shown(given)))
                .hint("http, https, data: and about:blank are allowed"));
        }
        None => text.as_str(),
    };
    let default = if scheme.as_deref() == Some("http") { 80 } else { 443 };
    let (host, port) = authority(rest, default);
    if host.is_empty() || network.allows_host(host, port) || (inside && is_loopback_name(host)) {
        return Ok(());
    }
    Err(CommandRefusal::of_host(format!("the network of this sandbox does not allow {}:{port}", shown(host)))
        .hint("its profile lists the hosts that may be reached"))
}

/// The hosts, with their ports, that a command names to be visited: `open example.com`, `tab new http://localhost:3000`,
/// also inside a `batch`. For whoever takes the naming of a host for the wish to reach it.
pub fn named_hosts(cmd: &str) -> Vec<(String, u16)> {
    let Ok(mut words) = crate::words::split(cmd) else { return Vec::new() };
    words.retain(|word| word != "agent-browser");
    crate::plan::flags_last(&mut words);
    let mut words = words.iter().map(String::as_str).peekable();
    let given = match words.next() {
        Some("batch") => return words.filter(|word| !word.starts_with("batch")).flat_map(named_hosts).collect(),
        Some("open" | "goto" | "navigate" | "read") => words.find(|word| !word.starts_with('-')),
        Some("tab" | "window") if words.next_if_eq(&"new").is_some() => words.find(|word| !word.starts_with('-')),
        _ => None,
    };
    let text = as_a_browser_reads(given.unwrap_or_default());
    let (rest, default) = match scheme(&text).as_deref() {
        Some("http") => (text.split_once("//").map_or("", |(_, rest)| rest), 80),
        Some("https") => (text.split_once("//").map_or("", |(_, rest)| rest), 443),
        Some(_) => ("", 0),
        None => (text.as_str(), 443),
    };
    let (host, port) = authority(rest, default);
    if host.is_empty() { Vec::new() } else { vec![(host.to_ascii_lowercase(), port)] }
}

/// An address as a browser takes it: a host that a person typed is asked by HTTPS, but for this machine itself.
pub(crate) fn complete(given: &str) -> String {
    let text = as_a_browser_reads(given);
    if scheme(&text).is_some() || text.is_empty() {
        return text;
    }
    let is_own = is_loopback_name(authority(&text, 80).0);
    format!("{}://{text}", if is_own { "http" } else { "https" })
}

/// Whether the browser may be told to go to this very address, which is complete and comes from agent-browser.
pub(crate) fn is_visitable(url: &str) -> bool {
    let text = as_a_browser_reads(url);
    match scheme(&text).as_deref() {
        Some("http" | "https" | "data") => true,
        Some("about") => is_blank(&text),
        Some("blob") => true,
        Some(_) => false,
        None => text.is_empty(),
    }
}

fn is_blank(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower == "about:blank" || lower.starts_with("about:blank#") || lower.starts_with("about:blank?")
}

/// Browsers drop tabs and newlines anywhere, and spaces and control characters at the ends.
fn as_a_browser_reads(url: &str) -> String {
    let kept: String = url.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    kept.trim_matches(|c: char| c <= ' ').to_owned()
}

/// The scheme, in lower case; `None` where the text before the colon is a host with a port, or there is no colon.
fn scheme(text: &str) -> Option<String> {
    let (before, after) = text.split_once(':')?;
    let mut chars = before.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    if !begins || !chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    let lower = before.to_ascii_lowercase();
    let is_port = after.split(['/', '?', '#']).next().is_some_and(|port| port.parse::<u16>().is_ok());
    (SCHEMES.contains(&lower.as_str()) || after.starts_with("//") || !is_port).then_some(lower)
}

/// Host and port of what follows `//`.
fn authority(rest: &str, default: u16) -> (&str, u16) {
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some((address, port)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, port.strip_prefix(':').and_then(|port| port.parse().ok()).unwrap_or(default));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().unwrap_or(default)),
        None => (authority, default),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cove_core::NetworkPolicy;

    #[test]
    fn the_hosts_that_a_command_names() {
        for (cmd, expected) in [
            ("open http://localhost:3000/x", vec![("localhost", 3000)]),
            ("agent-browser goto Example.com", vec![("example.com", 443)]),
            ("navigate 'http://u:p@[::1]:8/'", vec![("::1", 8)]),
            ("tab new https://a.org --label x", vec![("a.org", 443)]),
            ("batch --bail 'open a.org' 'click @e1' 'open http://b.org'", vec![("a.org", 443), ("b.org", 80)]),
            ("agent-browser --json open a.org", vec![("a.org", 443)]),
            ("click @e1", vec![]),
            ("open file:///etc/passwd", vec![]),
            ("open about:blank", vec![]),
            ("open 'unfinished", vec![]),
            ("tab t2", vec![]),
            ("", vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(host, port)| (host.to_owned(), port)).collect();
            assert_eq!(named_hosts(cmd), expected, "{cmd}");
        }
    }

    #[test]
    fn only_the_web_is_visited() {
        let rule = AddressRule::new(&NetworkPolicy {
            allow_hosts: vec!["example.com".to_owned(), "localhost".to_owned()],
            allow_private: vec!["127.0.0.1:8080".to_owned()],
            ..NetworkPolicy::default()
        });
        for url in [
            "https://example.com/x",
            "example.com",
            "http://127.0.0.1:8080/a?b#c",
            "localhost:3000",
            "about:blank",
            "data:text/html,<b>",
            "HTTP://EXAMPLE.com",
            "https://u:p@example.com:8443/",
        ] {
            assert_eq!(check(url, &rule, false), Ok(()), "{url}");
        }
        for url in [
            "file:///etc/passwd",
            "FILE:/etc/passwd",
            " file:///x",
            "fi\nle:///x",
            "chrome://version",
            "view-source:http://x",
            "javascript:alert(1)",
            "about:flags",
            "ftp://example.com",
            "http://127.0.0.1:9/",
            "http://169.254.169.254/",
            "https://other.org",
            "other.org",
            "http://[::1]/",
            "https://example.com@evil.org/",
            "devtools://x",
            "https://evil.org\\@example.com",
        ] {
            assert!(check(url, &rule, false).is_err(), "{url}");
        }
        // Where `localhost` is the sandbox it is open, and nothing else is.
        for url in ["http://[::1]/", "http://127.0.0.1:9/", "localhost:5173/x"] {
            assert_eq!(check(url, &rule, true), Ok(()), "{url}");
        }
        for url in ["http://169.254.169.254/", "https://other.org", "http://localhost.evil.org/", "http://0.0.0.0/"] {
            assert!(check(url, &rule, true).is_err(), "{url}");
        }
        let typed = [("localhost:3000", "http://localhost:3000"), ("example.com", "https://example.com")];
        assert!(typed.iter().all(|(given, complete_url)| complete(given) == *complete_url));
        for url in ["https://any.org/", "about:blank", "data:,x", ""] {
            assert!(is_visitable(url), "{url}");
        }
        for url in ["file:///x", "\u{1}file:///x", "chrome://settings", "x", "javascript:1", "about:srcdoc"] {
            assert!(!is_visitable(url), "{url}");
        }
    }
}
