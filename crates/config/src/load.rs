//! Reading a configuration: YAML or TOML, the environment on top, then every check.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::profile::{ContainerConfig, ProfileConfig, ResourceConfig, built_in};
use crate::{Config, DriverKind, KeyConfig, MountConfig, Profile, env, hosts};

/// A configuration that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct ConfigError {
    /// The file with its line, or the name of the value.
    pub place: String,
    /// What is wrong.
    pub reason: String,
    /// The name that was given twice, if that is what is wrong: then the second line with it is the wrong one.
    pub(crate) repeated: Option<String>,
}

impl ConfigError {
    /// A value that cannot be used, and why.
    pub fn value(place: &str, reason: &str) -> Self {
        Self { place: place.to_owned(), reason: reason.to_owned(), repeated: None }
    }

    /// A name that two of the things at one place have.
    pub(crate) fn repeated(place: &str, name: &str, reason: &str) -> Self {
        Self { repeated: Some(name.to_owned()), ..Self::value(place, reason) }
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
            Some(path) => match line_of(&text, &problem) {
                Some(line) => ConfigError { place: format!("{}:{line}", path.display()), ..problem },
                None => ConfigError { place: format!("{}: {}", path.display(), problem.place), ..problem },
            },
            None => problem,
        })?;
        Ok(Loaded { config, file, warnings })
    }

    /// The profiles as they are written: the built-in ones, and the configured ones in place of those of the same name.
    fn all_profiles(&self) -> Vec<ProfileConfig> {
        let mut all: Vec<ProfileConfig> = if self.builtin_profiles { built_in() } else { Vec::new() };
        for profile in &self.profiles {
            all.retain(|other| other.id != profile.id);
            all.push(profile.clone());
        }
        all
    }

    /// The profiles as they are used.
    pub fn resolved_profiles(&self) -> Result<Vec<Profile>, ConfigError> {
        for (number, profile) in self.profiles.iter().enumerate() {
            if self.profiles[..number].iter().any(|other| other.id == profile.id) {
                let reason = format!("two profiles are named {:?}", profile.id);
                return Err(ConfigError::repeated("profiles", &profile.id, &reason));
            }
        }
        let all = self.all_profiles();
        if all.is_empty() {
            return Err(ConfigError::value("profiles", "there is no profile"));
        }
        all.iter().map(ProfileConfig::resolve).collect()
    }

    /// Opens the network of some profiles. Nothing else about them changes.
    pub fn open_network(&mut self, network: &cove_core::NetworkPolicy, is_meant: impl Fn(&ProfileConfig) -> bool) {
        for mut profile in self.all_profiles().into_iter().filter(|profile| is_meant(profile)) {
            profile.network = Some(network.clone());
            profile.containers.iter_mut().for_each(|container| container.network = None);
            self.profiles.retain(|other| other.id != profile.id);
            self.profiles.push(profile);
        }
    }

    /// Checks what one value alone does not show.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |place: &str, reason: &str| Err(ConfigError::value(place, reason));
        if let Some(socket) = self.driver.docker.socket.as_deref().filter(|_| self.driver.kind == DriverKind::Docker)
            && !socket.starts_with("unix://")
        {
            let reason = format!(
                "{socket:?} is no socket on this machine: write unix:///PATH (cargos are shared with the engine as \
                 folders, so it has to be here)"
            );
            return wrong("driver.docker.socket", &reason);
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
        if !(1..=100).contains(&self.skills.canary_percent) {
            return wrong("skills.canary_percent", "must be 1 to 100");
        }
        if let Some(url) = self.server.ports_url.as_deref().filter(|url| !is_ports_url(url)) {
            let reason = format!(
                "{url:?} must look like https://{{port}}-{{id}}.ports.example.com/: an address whose first name is \
                 {{port}}-{{id}}, and no path"
            );
            return wrong("server.ports_url", &reason);
        }
        self.check_access()?;
        self.check_mounts()?;
        self.check_sizes()?;
        for blocked in &self.security.blocked_hosts {
            hosts::check_closed(blocked).map_err(|reason| ConfigError::value("security.blocked_hosts", &reason))?;
        }
        for profile in self.resolved_profiles()? {
            let networks = profile.containers.iter().map(|container| &container.network);
            let hosts = |network: &'_ cove_core::NetworkPolicy| {
                let wide = network.may_allow.iter().filter(|host| *host != "*");
                network.allow_hosts.iter().chain(&network.allow_private).chain(wide).cloned().collect::<Vec<_>>()
            };
            for host in networks.flat_map(hosts) {
                if let Some(blocked) = self.blocks_host(&host) {
                    let reason =
                        format!("profile {:?} allows {host}, which blocked_hosts forbids ({blocked})", profile.id);
                    return wrong("security.blocked_hosts", &reason);
                }
            }
        }
        Ok(())
    }

    /// Which entry of `security.blocked_hosts` closes a host that somebody wants to open.
    pub fn blocks_host(&self, host: &str) -> Option<&str> {
        self.security.blocked_hosts.iter().find(|blocked| hosts::overlaps(host, blocked)).map(String::as_str)
    }
}

/// Whether these are addresses of ports: each an origin of its own, with the port and the sandbox in its first name.
fn is_ports_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let Some(domain) = rest.and_then(|rest| rest.strip_prefix("{port}-{id}.")?.strip_suffix('/')) else { return false };
    let (domain, port) = domain.split_once(':').map_or((domain, None), |(domain, port)| (domain, Some(port)));
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0)) && domain.split('.').all(is_name)
}

impl Config {
    /// A limit that limits nothing, or lets nothing through, is a mistake in writing.
    fn check_sizes(&self) -> Result<(), ConfigError> {
        let (limits, local, k8s) = (&self.limits, &self.driver.local, &self.driver.k8s);
        for (place, value, least, most) in [
            ("limits.max_history_mb", u64::from(limits.max_history_mb), 1, u64::MAX),
            ("limits.max_traces_mb", limits.max_traces_mb.into(), 1, u64::MAX),
            ("limits.max_payloads_mb", limits.max_payloads_mb.into(), 1, u64::MAX),
            ("limits.max_artifacts_mb", limits.max_artifacts_mb.into(), 1, u64::MAX),
            ("limits.max_upload_mb", limits.max_upload_mb.into(), 1, u64::MAX),
            // Twice the reserve of the records: with less a full disk is noticed when it is too late.
            ("limits.min_free_disk_mb", limits.min_free_disk_mb.map_or(16, u64::from), 16, u64::MAX),
            ("driver.local.processes", local.processes, 4, 1 << 22),
            ("driver.local.open_files", local.open_files, 64, 1 << 20),
            ("driver.docker.processes", self.driver.docker.processes, 32, 1 << 22),
            ("driver.docker.outlive_seconds", self.driver.docker.outlive_seconds, 2, 1 << 30),
            ("driver.k8s.processes", k8s.processes, 32, 1 << 22),
            ("driver.k8s.outlive_seconds", k8s.outlive_seconds, 2, 1 << 30),
            ("driver.k8s.start_seconds", k8s.start_seconds, 5, 3600),
            ("driver.k8s.cpu_request_percent", k8s.cpu_request_percent.into(), 0, 100),
            ("driver.k8s.memory_request_percent", k8s.memory_request_percent.into(), 0, 100),
            ("driver.k8s.port", k8s.port.into(), 1024, 65535),
        ] {
            if !(least..=most).contains(&value) {
                let most = if most == u64::MAX { String::new() } else { format!(" and at most {most}") };
                return Err(ConfigError::value(place, &format!("is {value}; it must be at least {least}{most}")));
            }
        }
        // Otherwise callers are told that nothing is ready yet, and never why a Pod does not start.
        if self.driver.kind == DriverKind::K8s && k8s.start_seconds >= limits.session_wait_seconds {
            let (start, wait) = (k8s.start_seconds, limits.session_wait_seconds);
            let reason = format!("is {start}; it must be less than `limits.session_wait_seconds`, which is {wait}");
            return Err(ConfigError::value("driver.k8s.start_seconds", &reason));
        }
        Ok(())
    }
}

/// Sections in which a word that nobody knows stops the start: a limit that is misspelt would be none.
const STRICT: [&str; 2] = ["security", "limits"];

/// Why a word that nobody knows stops the start, if it does.
pub(crate) fn strict(words: &[impl AsRef<str>], hint: &str) -> Option<String> {
    let section = words.first()?.as_ref();
    let strict = words.len() > 1 && STRICT.contains(&section);
    strict.then(|| format!("unknown setting {:?} in {section}{hint}", words.last().map_or("", AsRef::as_ref)))
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
            ConfigError::value(&format!("{shown}{line}"), error.message())
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
            let told = error.without_snippet().to_string();
            let told = told.split(" at line ").next().unwrap_or_default();
            // A reader that only says what it wanted is told best by what it got.
            let stands =
                error.location().and_then(|at| text.lines().nth(usize::try_from(at.line()).ok()?.checked_sub(1)?));
            let stands = stands.map(|line| format!(": `{}`", line.trim())).unwrap_or_default();
            ConfigError::value(&format!("{shown}{line}"), &format!("{told}{stands}"))
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
        let line = line_with(text, word).map(|line| format!(":{line}")).unwrap_or_default();
        if let Some(reason) = strict(&words, &hint) {
            return Err(ConfigError::value(&format!("{shown}{line}"), &reason));
        }
        warnings.push(format!("{shown}{line}: unknown setting {:?}{hint}", words.join(".")));
    }
    Ok(config)
}

/// Every word there is, as a tree with one element in each list.
pub(crate) fn known_words() -> Value {
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
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let scored = names.map(|name| (strsim::jaro_winkler(word, name), name));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.clone())
}

/// The line that a problem is about: where the name stands that was given twice, else the word that the reason quotes,
/// else the last word of the place.
fn line_of(text: &str, problem: &ConfigError) -> Option<usize> {
    if let Some(name) = &problem.repeated {
        return lines_with(text, name).nth(1);
    }
    let quoted = problem.reason.split('"').nth(1).unwrap_or_default();
    let last = problem.place.rsplit('.').next().unwrap_or_default();
    line_with(text, quoted).or_else(|| line_with(text, last))
}

/// The first line that holds a word.
fn line_with(text: &str, word: &str) -> Option<usize> {
    lines_with(text, word).next()
}

/// The lines that hold a word, counted from one.
fn lines_with<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let held = move |(_, line): &(usize, &str)| !word.is_empty() && line.contains(word);
    text.lines().enumerate().filter(held).map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, RuntimeType};

    fn read(name: &str, text: &str, vars: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let vars = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Config::load(Some(&path), vars).map_err(|mut error| {
            error.place = error.place.replace(&dir.path().display().to_string(), "");
            error
        })
    }

    const YAML: &str = "
server: {host: 0.0.0.0, port: 9000}
database:
  url: sqlite+aiosqlite:///./bay.db
driver:
  type: local
  docker: {socket: unix:///var/run/docker.sock}
cargo:
  default_size_limit_mb: 64
security:
  api_key: sk-bay-of-the-file
profiles:
  - id: python-data
    image: ship:latest
    runtime_type: ship
    runtime_port: 8123
    resources: {cpus: 0.5, memory: 512m}
    capabilities: [filesystem, shell, python]
    idle_timeout: 60
    warm_pool_size: 2
    env: {A: 'x:y=z', N: 3, T: true}
  - id: both
    containers:
      - name: ship
        primary_for: [filesystem]
      - name: browser
        runtime_type: gull
        network: {allow_hosts: [example.com]}
gc:
  interval_seconds: 5
  orphan_cargo: {enabled: false}
";

    #[test]
    fn a_file_is_read_and_the_environment_wins() {
        let vars = [
            ("BAY_SERVER__PORT", "9001"),
            ("BAY_GC__ENABLED", "false"),
            ("BAY_API_KEY", "1234567890123456"),
            ("BAY_SECURITY__RATE_PER_MINUTE", "7"),
            ("BAY_SERVRE__PORT", "1"),
            ("BAY_CARGO__ROOT_PATH", "/srv/cargos"),
        ];
        let loaded = read("config.yaml", YAML, &vars).unwrap();
        let config = &loaded.config;
        assert_eq!((config.server.host.as_str(), config.server.port), ("0.0.0.0", 9001));
        assert_eq!(config.security.api_key.as_ref().map(|key| key.reveal()), Some("1234567890123456"));
        assert!(!config.gc.enabled && !config.gc.orphan_cargo.enabled && config.gc.idle_session.enabled);
        assert_eq!((config.gc.interval_seconds, config.security.rate_per_minute), (5, Some(7)));
        assert_eq!(loaded.warnings, ["BAY_SERVRE__PORT: unknown setting \"servre\"; did you mean server?"]);
        let profiles = config.resolved_profiles().unwrap();
        let ids: Vec<&str> = profiles.iter().map(|profile| profile.id.as_str()).collect();
        assert_eq!(ids, ["python-default", "browser-python", "javascript", "python-data", "both"]);
        let data = &profiles[3];
        let env = |name: &str| data.containers[0].env.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!((env("A"), env("N"), env("T")), (Some("x:y=z"), Some("3"), Some("true")));
        assert_eq!((data.idle_timeout, data.warm_pool_size, data.containers[0].memory.bytes()), (60, 2, 512 << 20));
        assert!(!data.can(Capability::Terminal));
        assert_eq!(profiles[4].containers[1].runtime_type, RuntimeType::Gull);
        assert_eq!(profiles[4].containers[1].network.allow_hosts, ["example.com"]);
        assert!(!format!("{config:?}").contains("1234567890"), "keys are not printed");
    }

    #[test]
    fn the_page_about_it_shows_what_is_so() {
        let page = include_str!("../../../docs/configuration.md");
        let example = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let loaded = read("config.yaml", example, &[]).unwrap();
        assert_eq!(loaded.warnings, Vec::<String>::new());
        assert_eq!(loaded.config.resolved_profiles().unwrap().len(), 5);
    }

    #[test]
    fn toml_says_the_same() {
        let text = "[server]\nport = 9000\n[[profiles]]\nid = \"p\"\n[profiles.resources]\nmemory = \"1g\"\n";
        let config = read("config.toml", text, &[]).unwrap().config;
        assert_eq!((config.server.port, config.profiles[0].id.as_str()), (9000, "p"));
        let wrong = read("config.toml", "[server]\nhost = \"x\"\nport = \"y\"\n", &[]).unwrap_err();
        assert_eq!(wrong.place, "/config.toml:3", "{wrong}");
    }

    #[test]
    fn unknown_words_are_warnings_with_the_nearest_known_one() {
        let text = "server:\n  prot: 1\nprofiles:\n  - id: a\n    warm_pool: 3\nzzz: 1\n";
        let warnings = read("config.yaml", text, &[]).unwrap().warnings;
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings[0].contains(":2: unknown setting \"server.prot\"; did you mean port?"), "{warnings:?}");
        assert!(warnings[1].contains("did you mean warm_pool_size?"), "{warnings:?}");
        assert!(!warnings[2].contains("did you mean"), "{warnings:?}");
    }

    #[test]
    fn wrong_values_stop_the_start_with_file_line_and_reason() {
        for (text, line, reason) in [
            ("server:\n  port: many\n", 2, "many"),
            ("server:\n  port: 70000\n", 2, ""),
            ("profiles:\n  - id: a\n    resources:\n      memory: lots\n", 4, "lots"),
            ("profiles:\n  - id: a\n    capabilities: [python, cooking]\n", 3, "cooking"),
            ("profiles:\n  - id: a\n  - id: b\n  - id: a\n", 4, "two profiles"),
            ("profiles:\n  - id: a/b\n", 2, "invalid profile name"),
            ("driver:\n  type: kubernetes\n", 2, "k8s"),
            ("driver:\n  k8s:\n    outlive_seconds: 1\n", 3, "at least 2"),
            ("driver:\n  type: k8s\n  k8s:\n    start_seconds: 60\n", 4, "session_wait_seconds`, which is 60"),
            ("driver:\n  k8s:\n    access_mode: ReadOnlyMany\n", 3, "ReadWriteOnce"),
            ("driver:\n  type: docker\n  docker:\n    socket: tcp://10.0.0.1:2375\n", 4, "unix://"),
            ("driver:\n  image_pull_policy: sometimes\n", 2, ""),
            ("driver:\n  docker:\n    processes: 1\n", 3, "at least 32"),
            ("cargo:\n  mount_path: /data\n", 2, "/workspace"),
            ("cargo:\n  default_size_limit_mb: 0\n", 2, "1 to"),
            ("gc: [\n", 0, ""),
            ("driver:\n  local:\n    mounts:\n      - {host: /srv/x, inside: /workspace/in}\n", 4, "/workspace"),
            ("driver:\n  local:\n    processes: 0\n", 3, "at least 4"),
            ("limits:\n  max_history_mb: 0\n", 2, "at least 1"),
            ("limits:\n  min_free_disk_mb: 0\n", 2, "at least 16"),
            ("limits:\n  max_sandboxs: 5\n", 2, "did you mean max_sandboxes?"),
            ("security:\n  blocked_host: [x]\n", 2, "did you mean blocked_hosts?"),
            ("security:\n  blocked_hosts: ['https://evil.org/']\n", 2, "invalid host"),
            ("security:\n  keys:\n    - owner: x\n", 2, "key"),
            (
                "security:\n  blocked_hosts: [evil.org]\nprofiles:\n  - id: a\n    network: {allow_hosts: ['*.org']}\n",
                0,
                "evil.org",
            ),
            (
                "security:\n  blocked_hosts: [Evil.org.]\nprofiles:\n  - id: a\n    network: {allow_hosts: [evil.ORG]}\n",
                0,
                "Evil.org.",
            ),
            (
                "security:\n  blocked_hosts: [10.0.0.0/8]\nprofiles:\n  - id: a\n    network: {allow_private: ['10.1.2.3:80']}\n",
                0,
                "10.1.2.3",
            ),
        ] {
            let wrong = read("config.yaml", text, &[]).unwrap_err();
            let place = if line > 0 { format!("/config.yaml:{line}") } else { "/config.yaml".to_owned() };
            assert!(wrong.place.starts_with(&place) && wrong.reason.contains(reason), "{text:?}: {wrong}");
        }
        let wrong = read("config.yaml", "", &[("BAY_SERVER__PORT", "many")]).unwrap_err();
        assert_eq!(wrong.place, "BAY_SERVER__PORT");
        assert!(Config::load(Some(Path::new("/nowhere/config.yaml")), std::iter::empty()).is_err());
    }
}
