//! Reading a configuration: YAML or TOML, the environment on top, then every check.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::profile::{ContainerConfig, ProfileConfig, ResourceConfig, built_in};
use super::{Config, DriverKind, KeyConfig, MountConfig, Profile, env};

/// A configuration that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct ConfigError {
    /// The file with its line, or the name of the value.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

impl ConfigError {
    pub(crate) fn value(place: &str, reason: &str) -> Self {
        Self { place: place.to_owned(), reason: reason.to_owned() }
    }
}

/// A configuration, and what to tell about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// The file it came from.
    pub file: Option<PathBuf>,
    /// Words that nobody knows.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads the named file, else the one in `BAY_CONFIG_FILE`, else `./config.yaml`, else none; then the environment.
    pub fn load(named: Option<&Path>, vars: impl Iterator<Item = (String, String)>) -> Result<Loaded, ConfigError> {
        let vars: Vec<_> = vars.collect();
        let from_env = vars.iter().find(|(name, value)| name == "BAY_CONFIG_FILE" && !value.is_empty());
        let usual = ["config.yaml", "config.yml", "config.toml"].map(Path::new);
        let file = match (named, from_env) {
            (Some(path), _) => Some(path.to_owned()),
            (None, Some((_, path))) => Some(PathBuf::from(path)),
            (None, None) => usual.into_iter().find(|path| path.is_file()).map(Path::to_owned),
        };
        let mut warnings = Vec::new();
        let (config, text) = match &file {
            Some(path) => {
                let place = path.display().to_string();
                let text = std::fs::read_to_string(path).map_err(|e| ConfigError::value(&place, &e.to_string()))?;
                (parse(path, &text, &mut warnings)?, text)
            }
            None => (Self::default(), String::new()),
        };
        let config = env::overlay(config, vars.into_iter(), &mut warnings)?;
        config.check().map_err(|problem| match &file {
            // Without a place of its own: the line where its word stands.
            Some(path) => match line_of(&text, &problem.place, &problem.reason) {
                Some(line) => ConfigError { place: format!("{}:{line}", path.display()), ..problem },
                None => ConfigError { place: format!("{}: {}", path.display(), problem.place), ..problem },
            },
            None => problem,
        })?;
        Ok(Loaded { config, file, warnings })
    }

    /// The profiles as they are used: the built-in ones, and the configured ones in place of those of the same name.
    pub fn resolved_profiles(&self) -> Result<Vec<Profile>, ConfigError> {
        let mut all: Vec<ProfileConfig> = if self.builtin_profiles { built_in() } else { Vec::new() };
        for (number, profile) in self.profiles.iter().enumerate() {
            if self.profiles[..number].iter().any(|other| other.id == profile.id) {
                let reason = format!("two profiles are named {:?}", profile.id);
                return Err(ConfigError::value("profiles", &reason));
            }
            all.retain(|other| other.id != profile.id);
            all.push(profile.clone());
        }
        if all.is_empty() {
            return Err(ConfigError::value("profiles", "there is no profile"));
        }
        let resolved = all.iter().map(|profile| profile.resolve());
        resolved.collect::<Result<_, _>>().map_err(|reason| ConfigError::value("profiles", &reason))
    }

    /// Checks what one value alone does not show.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |place: &str, reason: &str| Err(ConfigError::value(place, reason));
        if self.driver.kind != DriverKind::Local {
            return wrong("driver.type", "only the local driver is here yet: write `type: local`");
        }
        if self.cargo.mount_path != "/workspace" {
            return wrong("cargo.mount_path", "the workspace is always at /workspace");
        }
        if !(1..=cove_api::MAX_CARGO_MB).contains(&self.cargo.default_size_limit_mb) {
            let reason = format!("must be 1 to {}", cove_api::MAX_CARGO_MB);
            return wrong("cargo.default_size_limit_mb", &reason);
        }
        if self.gc.interval_seconds == 0 || self.warm_pool.interval_seconds == 0 || self.warm_pool.workers == 0 {
            return wrong("interval_seconds", "intervals and workers must be at least 1");
        }
        if self.idempotency.ttl_hours == 0 {
            return wrong("idempotency.ttl_hours", "must be at least 1");
        }
        for key in &self.security.keys {
            if key.owner.is_empty() || key.key.is_some() == key.key_sha256.is_some() {
                return wrong("security.keys", "each needs an `owner`, and either `key` or `key_sha256`");
            }
            let hex = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
            if key.key_sha256.as_deref().is_some_and(|hash| !hex(hash)) {
                return wrong("security.keys", "`key_sha256` has 64 hex digits");
            }
        }
        for profile in self.resolved_profiles()? {
            let hosts = profile.containers.iter().flat_map(|container| &container.network.allow_hosts);
            for host in hosts {
                if let Some(blocked) = self.security.blocked_hosts.iter().find(|blocked| overlaps(host, blocked)) {
                    let reason = format!("profile {:?} opens {host}, which blocked_hosts closes ({blocked})", profile.id);
                    return wrong("security.blocked_hosts", &reason);
                }
            }
        }
        Ok(())
    }
}

/// Whether an entry that opens hosts and one that closes some have a name in common.
fn overlaps(open: &str, closed: &str) -> bool {
    let plain = |text: &str| text.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let (open, closed) = (plain(open), plain(closed));
    let covers = |pattern: &str, name: &str| {
        pattern == "*" || pattern == name || pattern.strip_prefix('*').is_some_and(|end| name.ends_with(end))
    };
    covers(&open, &closed) || covers(&closed, &open)
}

fn parse(path: &Path, text: &str, warnings: &mut Vec<String>) -> Result<Config, ConfigError> {
    let shown = path.display();
    let mut unknown = Vec::new();
    let mut note = |path: serde_ignored::Path<'_>| unknown.push(path.to_string());
    let is_toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    let config = if is_toml {
        let failed = |error: toml::de::Error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            ConfigError { place: format!("{shown}{line}"), reason: error.message().to_owned() }
        };
        let reader = toml::Deserializer::parse(text).map_err(failed)?;
        serde_ignored::deserialize(reader, &mut note).map_err(failed)?
    } else if text.trim().is_empty() {
        Config::default()
    } else {
        let options = serde_saphyr::options! { with_snippet: false };
        let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |reader| {
            serde_ignored::deserialize::<_, _, Option<Config>>(reader, &mut note)
        });
        let read = read.map_err(|error| {
            let line = error.location().map(|at| format!(":{}", at.line())).unwrap_or_default();
            ConfigError { place: format!("{shown}{line}"), reason: error.without_snippet().to_string() }
        })?;
        read.unwrap_or_default()
    };
    let known = known_words();
    for path in unknown {
        // The reader of an optional value shows up as `?` in the path.
        let words: Vec<&str> = path.split('.').filter(|word| *word != "?").collect();
        let word = words.last().copied().unwrap_or_default();
        let hint = siblings(&known, &words).and_then(|names| nearest(word, names.iter()));
        let hint = hint.map(|word| format!("; did you mean {word}?")).unwrap_or_default();
        let line = line_of(text, word, "").map(|line| format!(":{line}")).unwrap_or_default();
        warnings.push(format!("{shown}{line}: nobody knows {:?}{hint}", words.join(".")));
    }
    Ok(config)
}

/// Every word there is, as a tree with one element in each list.
pub(super) fn known_words() -> Value {
    let container = ContainerConfig {
        resources: Some(ResourceConfig::default()),
        network: Some(cove_core::NetworkPolicy::default()),
        ..ContainerConfig::default()
    };
    let profile = ProfileConfig {
        resources: Some(ResourceConfig::default()),
        network: Some(cove_core::NetworkPolicy::default()),
        containers: vec![container],
        ..ProfileConfig::default()
    };
    let mut all = Config { profiles: vec![profile], ..Config::default() };
    all.security.keys.push(KeyConfig::default());
    all.driver.local.mounts.push(MountConfig::default());
    serde_json::to_value(all).unwrap_or_default()
}

/// The known words beside the last of these.
fn siblings(known: &Value, words: &[&str]) -> Option<Vec<String>> {
    let mut here = known;
    for word in words.iter().take(words.len().saturating_sub(1)) {
        here = match here {
            Value::Array(items) => items.first()?,
            other => other.get(word)?,
        };
    }
    Some(here.as_object()?.keys().cloned().collect())
}

/// The nearest of some words, if one is near.
pub(super) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let scored = names.map(|name| (strsim::jaro_winkler(word, name), name));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.clone())
}

/// The line where a word stands: the quoted one of the reason, else the last of the place.
fn line_of(text: &str, place: &str, reason: &str) -> Option<usize> {
    let quoted = reason.split('"').nth(1).unwrap_or_default();
    let last = place.rsplit('.').next().unwrap_or_default();
    let find = |word: &str| {
        let found = !word.is_empty();
        found.then(|| text.lines().position(|line| line.contains(word))).flatten().map(|at| at + 1)
    };
    // Of two of the same name the second is the wrong one.
    if reason.starts_with("two ") {
        let lines = text.lines().enumerate().filter(|(_, line)| line.contains(quoted));
        return lines.map(|(at, _)| at + 1).nth(1);
    }
    find(quoted).or_else(|| find(last))
}

