//! Checks of who may call: with a key that can be guessed or that two owners share, a rate that limits nothing, an origin
//! that allows too much, or callers without a key from anywhere, Bay does not start.

use std::net::IpAddr;

use sha2::{Digest as _, Sha256};

use crate::{Config, ConfigError};

/// A key is at least so long: what people write by hand is guessed; one that Bay makes has 71.
const MIN_KEY_CHARS: usize = 16;

/// Whether this may be a key; if not, why.
pub fn check_key(key: &str) -> Result<(), String> {
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(
            "invalid key: use printable ASCII characters without spaces; a header cannot carry anything else".into()
        );
    }
    if key.len() < MIN_KEY_CHARS {
        return Err(format!(
            "the key is too short: it needs at least {MIN_KEY_CHARS} characters; `openssl rand -hex 32` makes one"
        ));
    }
    Ok(())
}

impl Config {
    /// Checks what the HTTP door is told.
    pub(crate) fn check_access(&self) -> Result<(), ConfigError> {
        self.check_keys()?;
        self.check_rates()?;
        for origin in &self.server.cors_origins {
            check_origin(origin).map_err(|why| {
                ConfigError::value("server.cors_origins", &format!("invalid origin {origin:?}: {why}"))
            })?;
        }
        if self.security.allow_anonymous && !is_this_machine(&self.server.host) {
            let reason = "`allow_anonymous` works on a loopback address only: set `host` to 127.0.0.1, ::1 or \
                          localhost";
            return Err(ConfigError::value("security.allow_anonymous", reason));
        }
        if self.server.max_connections_per_address == Some(0) {
            return Err(ConfigError::value("server.max_connections_per_address", "must be at least 1"));
        }
        for (name, value) in [
            ("limits.max_requests_per_owner", self.limits.max_requests_per_owner),
            ("limits.max_streams_per_owner", self.limits.max_streams_per_owner),
        ] {
            if value == Some(0) {
                return Err(ConfigError::value(name, "must be at least 1"));
            }
        }
        Ok(())
    }

    fn check_keys(&self) -> Result<(), ConfigError> {
        let mut seen: Vec<([u8; 32], &str)> = Vec::new();
        if let Some(key) = &self.security.api_key {
            check_key(key.reveal()).map_err(|why| ConfigError::value("security.api_key", &why))?;
            seen.push((Sha256::digest(key.reveal()).into(), "default"));
        }
        for key in &self.security.keys {
            let wrong = |why: &str| {
                let reason = format!("the key of owner {:?}: {why}", key.owner);
                Err(ConfigError::value("security.keys", &reason))
            };
            if key.owner.trim().is_empty() || key.key.is_some() == key.key_sha256.is_some() {
                let reason = "every key needs an `owner` and either `key` or `key_sha256`";
                return Err(ConfigError::value("security.keys", reason));
            }
            let hash = match (&key.key, &key.key_sha256) {
                (Some(key), _) => {
                    if let Err(why) = check_key(key.reveal()) {
                        return wrong(&why);
                    }
                    Some(Sha256::digest(key.reveal()).into())
                }
                (None, hash) => from_hex(hash.as_deref().unwrap_or_default()),
            };
            let Some(hash) = hash else { return wrong("`key_sha256` must have 64 hex digits") };
            if hash == <[u8; 32]>::from(Sha256::digest("")) {
                return wrong("`key_sha256` is the hash of an empty key");
            }
            if let Some((_, other)) = seen.iter().find(|(known, _)| *known == hash) {
                return wrong(&format!(
                    "this key already belongs to owner {other:?}; every owner needs a key of its own"
                ));
            }
            seen.push((hash, &key.owner));
        }
        Ok(())
    }

    fn check_rates(&self) -> Result<(), ConfigError> {
        let why = "0 is not a rate: write the number of calls per minute, or leave it out for no limit";
        if self.security.rate_per_minute == Some(0) {
            return Err(ConfigError::value("security.rate_per_minute", why));
        }
        match self.security.keys.iter().find(|key| key.rate_per_minute == Some(0)) {
            Some(key) => {
                let reason = format!("the key of owner {:?}: `rate_per_minute`: {why}", key.owner);
                Err(ConfigError::value("security.keys", &reason))
            }
            None => Ok(()),
        }
    }
}

/// 64 hex digits.
fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// One origin as a browser writes it: a scheme, a name, a port unless it is the scheme's own.
fn check_origin(origin: &str) -> Result<(), &'static str> {
    if origin == "*" || origin == "null" {
        return Err("it would allow every website; list the origins one by one");
    }
    let Some((scheme @ ("http" | "https"), rest)) = origin.split_once("://") else {
        return Err("it has no scheme: write https://app.example");
    };
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (rest, None),
    };
    let is_v6 = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .is_some_and(|name| name.parse::<std::net::Ipv6Addr>().is_ok());
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    if !is_v6 && (name.is_empty() || !name.bytes().all(plain)) {
        return Err("write it as browsers send it: scheme, lower-case host and port, without a path or `*`");
    }
    match (scheme, port) {
        (_, None) => Ok(()),
        ("http", Some("80")) | ("https", Some("443")) => Err("leave out the default port, as browsers do"),
        (_, Some(port))
            if port.starts_with(|c: char| c.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0) =>
        {
            Ok(())
        }
        _ => Err("its port is not a number"),
    }
}

/// Whether who listens at this address hears this machine alone.
fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loaded;

    fn read(text: &str) -> Result<Loaded, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yaml");
        std::fs::write(&path, text).unwrap();
        Config::load(Some(&path), std::iter::empty()).map_err(|mut error| {
            error.place = error.place.replace(&dir.path().display().to_string(), "");
            error
        })
    }

    const LONG: &str = "sk-bay-0123456789abcdef";

    #[test]
    fn what_would_weaken_the_door_stops_the_start_with_the_line() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        // That of LONG.
        let hash: String = Sha256::digest(LONG).iter().map(|byte| format!("{byte:02x}")).collect();
        let keys = |second: &str| format!("security:\n  keys:\n    - {{owner: a, key: {LONG}}}\n    - {second}\n");
        for (text, line, reason) in [
            ("security:\n  rate_per_minute: 0\n".to_owned(), 2, "0 is not a rate"),
            (keys(&format!("{{owner: bee, key: {LONG}1, rate_per_minute: 0}}")), 4, "0 is not a rate"),
            (keys(&format!("{{owner: bee, key: {LONG}}}")), 4, "belongs to owner \"a\""),
            (keys(&format!("{{owner: bee, key_sha256: {hash}}}")), 4, "belongs to owner \"a\""),
            (keys(&format!("{{owner: bee, key_sha256: {}}}", hash.to_uppercase())), 4, "belongs to owner"),
            (format!("security:\n  api_key: {LONG}\n  keys:\n    - {{owner: bee, key: {LONG}}}\n"), 4, "\"default\""),
            (keys(&format!("{{owner: bee, key_sha256: {empty}}}")), 4, "the hash of an empty key"),
            (keys("{owner: bee, key_sha256: abc}"), 4, "64 hex digits"),
            (keys("{owner: ' ', key: 0123456789abcdef0}"), 2, "needs an `owner`"),
            (keys("{owner: bee, key: ''}"), 4, "at least 16"),
            (keys("{owner: bee, key: '                    '}"), 4, "without spaces"),
            (keys("{owner: bee, key: 'sk bay 0123456789abcdef'}"), 4, "without spaces"),
            (keys("{owner: bee, key: sk-bay-0123456789abcdé}"), 4, "printable ASCII"),
            ("security:\n  api_key: ''\n".to_owned(), 2, "at least 16"),
            ("security:\n  api_key: secret\n".to_owned(), 2, "at least 16"),
            ("server:\n  host: 0.0.0.0\nsecurity:\n  allow_anonymous: true\n".to_owned(), 4, "loopback address only"),
            ("server:\n  host: '::'\nsecurity:\n  allow_anonymous: true\n".to_owned(), 4, "loopback address only"),
            ("server:\n  host: 10.0.0.5\nsecurity:\n  allow_anonymous: true\n".to_owned(), 4, "loopback address only"),
            (
                "server:\n  host: bay.example\nsecurity:\n  allow_anonymous: true\n".to_owned(),
                4,
                "loopback address only",
            ),
            ("server:\n  max_connections_per_address: 0\n".to_owned(), 2, "at least 1"),
            ("limits:\n  max_streams_per_owner: 0\n".to_owned(), 2, "at least 1"),
        ] {
            let wrong = read(&text).err().unwrap_or_else(|| panic!("{text} starts"));
            assert_eq!(wrong.place, format!("/config.yaml:{line}"), "{text}: {wrong}");
            assert!(wrong.reason.contains(reason), "{text}: {wrong}");
            assert!(!wrong.to_string().contains(LONG), "a key is printed: {wrong}");
        }
        let origins = [
            "null",
            "*",
            "https://*",
            "https://*.app.example",
            "app.example",
            "app.example:443",
            "//app.example",
            "https://",
            "https://app.example/",
            "https://app.example:443",
            "http://app.example:80",
            "https://App.Example",
            "https://app.example:*",
            "https://app.example:0",
            "https://app.example:+1",
            "https://app.example:99999",
            "https://me@app.example",
            "https://app.example?x",
            "ftp://app.example",
            "file://",
            "https://a.example b",
            "",
        ];
        for origin in origins {
            let text = format!("server:\n  port: 1\n  cors_origins:\n    - {origin:?}\n    - https://fine.example\n");
            let wrong = read(&text).err().unwrap_or_else(|| panic!("{origin} is let in"));
            let line = if origin.is_empty() { 3 } else { 4 };
            assert_eq!(wrong.place, format!("/config.yaml:{line}"), "{origin}: {wrong}");
        }
    }

    #[test]
    fn what_is_meant_starts() {
        for text in [
            "server:\n  cors_origins: ['https://app.example', 'http://localhost:3000', 'http://[::1]:8080', 'http://127.0.0.1']\n",
            "server:\n  host: localhost\nsecurity:\n  allow_anonymous: true\n",
            "server:\n  host: '::1'\nsecurity:\n  allow_anonymous: true\n",
            "server:\n  host: 0.0.0.0\n  max_connections_per_address: 100\n",
            "security:\n  rate_per_minute: 1\n  keys: [{owner: a, key: sk-bay-0123456789abcdef}]\n",
        ] {
            assert!(read(text).is_ok(), "{text}: {:?}", read(text).err());
        }
    }
}
