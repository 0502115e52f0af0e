//! Bay's configuration: a file, then the environment, with defaults for everything else.
//!
//! A wrong value stops the start, with the file, the line and the reason; an unknown setting is a warning that names the
//! nearest known one. Everything that can be configured here is enforced.

mod access;
mod driver;
mod env;
mod hosts;
mod load;
mod mounts;
mod places;
mod profile;
mod python;
mod values;

pub use access::check_key;
pub use driver::{
    AccessMode, DockerDriverConfig, DriverConfig, DriverKind, K8sDriverConfig, LocalDriverConfig, MountConfig,
    PullPolicy,
};
pub use load::{ConfigError, Loaded};
pub use places::make_private;
pub use profile::{ContainerConfig, ContainerSpec, DiskLimit, Profile, ProfileConfig, ResourceConfig};
pub use python::{SYSTEM_PYTHONS, python_environment, python_in, python_of, system_python};
pub use values::{Capability, EnvValue, MemorySize, RuntimeType, Secret};

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// Where everything is kept; none: `$COVE_DATA_DIR`, `$XDG_DATA_HOME/cove`, `~/.local/share/cove`.
    pub data_dir: Option<PathBuf>,
    /// Where sockets are; a short path. None: `$XDG_RUNTIME_DIR/cove` or a folder of the user's own in `/tmp`.
    pub runtime_dir: Option<PathBuf>,
    /// HTTP.
    pub server: ServerConfig,
    /// The store.
    pub database: DatabaseConfig,
    /// What containers are made of.
    pub driver: DriverConfig,
    /// Workspaces.
    pub cargo: CargoConfig,
    /// Keys.
    pub security: SecurityConfig,
    /// Profiles, over the built-in ones.
    pub profiles: Vec<ProfileConfig>,
    /// Whether the built-in profiles are there.
    pub builtin_profiles: bool,
    /// Sandboxes that are kept ready.
    pub warm_pool: WarmPoolConfig,
    /// The collector.
    pub gc: GcConfig,
    /// Repeated requests.
    pub idempotency: IdempotencyConfig,
    /// What a caller may ask for at most.
    pub limits: LimitsConfig,
    /// Skills that are tried before they are released.
    pub skills: SkillsConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: None,
            runtime_dir: None,
            server: ServerConfig::default(),
            database: DatabaseConfig::default(),
            driver: DriverConfig::default(),
            cargo: CargoConfig::default(),
            security: SecurityConfig::default(),
            profiles: Vec::new(),
            builtin_profiles: true,
            warm_pool: WarmPoolConfig::default(),
            gc: GcConfig::default(),
            idempotency: IdempotencyConfig::default(),
            limits: LimitsConfig::default(),
            skills: SkillsConfig::default(),
        }
    }
}

/// HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerConfig {
    /// The address to listen on.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Where other Bays reach this one, as `http://10.0.0.5:8114`; needed where several share a database.
    pub advertise_url: Option<String>,
    /// What the addresses of sandboxes' ports look like, as `https://{port}-{id}.ports.example.com/`; none: names below
    /// `localhost`, which are this machine. The domain should be none that the server itself, or anything else, is part of.
    pub ports_url: Option<String>,
    /// Origins that a page may call from; none unless named.
    pub cors_origins: Vec<String>,
    /// Connections of one address at the same time; none: half of all, and all for this machine's own.
    pub max_connections_per_address: Option<usize>,
    /// Seconds that running work gets when Bay ends.
    pub shutdown_grace_seconds: u64,
}

/// The usual port.
pub const DEFAULT_PORT: u16 = 8114;

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: DEFAULT_PORT,
            advertise_url: None,
            ports_url: None,
            cors_origins: Vec::new(),
            max_connections_per_address: None,
            shutdown_grace_seconds: 10,
        }
    }
}

/// The store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseConfig {
    /// `sqlite:…` or `postgresql:…`; none: a file in the data folder. May hold a password.
    pub url: Option<Secret>,
    /// Whether statements are logged.
    pub echo: bool,
    /// Begin with empty records where the database is gone and workspaces are not: those are set aside. Said on the command
    /// line only: in a file it would outlive its reason.
    #[serde(skip)]
    pub start_empty: bool,
}

/// Workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CargoConfig {
    /// Where they are; none: `cargos` in the data folder.
    pub root_path: Option<PathBuf>,
    /// What may be in one, unless asked for otherwise.
    pub default_size_limit_mb: u32,
    /// Where it appears inside: always `/workspace`.
    pub mount_path: String,
}

impl Default for CargoConfig {
    fn default() -> Self {
        Self { root_path: None, default_size_limit_mb: 1024, mount_path: "/workspace".to_owned() }
    }
}

/// Keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecurityConfig {
    /// The key of the owner `default`; none: made on the first start.
    pub api_key: Option<Secret>,
    /// Whether callers on this machine need no key.
    pub allow_anonymous: bool,
    /// Further keys.
    pub keys: Vec<KeyConfig>,
    /// Calls per minute of one key; none: as many as come.
    pub rate_per_minute: Option<u32>,
    /// Hosts that no profile may open.
    pub blocked_hosts: Vec<String>,
}

/// A key and whose it is. Either the key or its SHA-256 (64 hex digits).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyConfig {
    /// Whose it is.
    pub owner: String,
    /// The key.
    pub key: Option<Secret>,
    /// Its SHA-256.
    pub key_sha256: Option<String>,
    /// Calls per minute.
    pub rate_per_minute: Option<u32>,
    /// Sandboxes at the same time.
    pub max_sandboxes: Option<u32>,
}

/// Sandboxes that are kept ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WarmPoolConfig {
    /// Whether any are.
    pub enabled: bool,
    /// How many may be starting at the same time.
    #[serde(alias = "warmup_queue_workers")]
    pub workers: usize,
    /// How often the pool is looked after; a claim has it looked after at once.
    pub interval_seconds: u64,
    /// Whether it is filled at the start, not at the first look.
    pub run_on_startup: bool,
}

impl Default for WarmPoolConfig {
    fn default() -> Self {
        Self { enabled: true, workers: 2, interval_seconds: 30, run_on_startup: true }
    }
}

/// The collector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GcConfig {
    /// Whether it runs by itself.
    pub enabled: bool,
    /// Whether it runs at the start.
    pub run_on_startup: bool,
    /// How often.
    pub interval_seconds: u64,
    /// This Bay's name among others; none: a new one at each start.
    pub instance_id: Option<String>,
    /// Sessions without a call.
    pub idle_session: TaskConfig,
    /// Sandboxes past their end.
    pub expired_sandbox: TaskConfig,
    /// Folders of cargos that nobody knows.
    pub orphan_cargo: TaskConfig,
    /// Containers of Bays that are gone.
    pub orphan_container: TaskConfig,
    /// Warm sandboxes that are too many or not alive.
    pub warm_pool: TaskConfig,
    /// Old answers to repeated requests.
    pub idempotency: TaskConfig,
    /// Bays that are gone.
    pub dead_instance: TaskConfig,
    /// Canaries whose window has ended.
    pub skill_release: TaskConfig,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            run_on_startup: true,
            interval_seconds: 30,
            instance_id: None,
            idle_session: TaskConfig::default(),
            expired_sandbox: TaskConfig::default(),
            orphan_cargo: TaskConfig::default(),
            orphan_container: TaskConfig::default(),
            warm_pool: TaskConfig::default(),
            idempotency: TaskConfig::default(),
            dead_instance: TaskConfig::default(),
            skill_release: TaskConfig::default(),
        }
    }
}

/// One task of the collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskConfig {
    /// Whether it runs.
    pub enabled: bool,
}

impl Default for TaskConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// Repeated requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IdempotencyConfig {
    /// Whether keys are heeded.
    pub enabled: bool,
    /// How long an answer is kept.
    pub ttl_hours: u32,
}

impl Default for IdempotencyConfig {
    fn default() -> Self {
        Self { enabled: true, ttl_hours: 1 }
    }
}

/// What a caller may ask for at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitsConfig {
    /// Sandboxes of one owner at the same time; none: as many as the machine holds.
    pub max_sandboxes: Option<u32>,
    /// Cargos of one owner that belong to no sandbox.
    pub max_cargos: u32,
    /// What all of these together may be allowed to hold.
    pub max_cargo_total_mb: u64,
    /// History of one owner; the oldest entries go first.
    pub max_history_mb: u32,
    /// Traces of one owner; the oldest go first.
    pub max_traces_mb: u32,
    /// Payloads of one owner.
    pub max_payloads_mb: u32,
    /// Pictures that all sandboxes of one owner keep together.
    pub max_artifacts_mb: u32,
    /// Free room on the disks of records and cargos below which nothing is taken that fills them, and what does is ended;
    /// none: 512 MB, or a twentieth of a small disk.
    pub min_free_disk_mb: Option<u32>,
    /// Sessions that this Bay has at the same time; none: as many as the machine holds.
    pub max_sessions: Option<usize>,
    /// Requests of one owner at the same time; none: half of all, and all where there is one owner alone.
    pub max_requests_per_owner: Option<usize>,
    /// Streams of one owner that stay open (events, terminals); none: a quarter of the connections.
    pub max_streams_per_owner: Option<usize>,
    /// One uploaded file.
    pub max_upload_mb: u32,
    /// Seconds that a caller waits for a session that somebody else starts.
    pub session_wait_seconds: u64,
    /// Seconds after its own time-out that a runtime gets to answer.
    pub answer_grace_seconds: u64,
    /// Seconds that a call of code may wait for a person; then it is denied. At most an hour.
    pub approval_seconds: u64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            max_sandboxes: Some(1_000),
            max_cargos: 1_000,
            max_cargo_total_mb: 1 << 20,
            max_history_mb: 128,
            max_traces_mb: 256,
            max_payloads_mb: 256,
            max_artifacts_mb: 4_096,
            min_free_disk_mb: None,
            max_sessions: None,
            max_requests_per_owner: None,
            max_streams_per_owner: None,
            max_upload_mb: 1024,
            session_wait_seconds: 60,
            answer_grace_seconds: 15,
            approval_seconds: 600,
        }
    }
}

/// What becomes of a skill's canary by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillsConfig {
    /// Of a hundred replays so many are a canary's, while there is a stable release beside it; 1 to 100.
    pub canary_percent: u8,
    /// Whether a canary that did well for its whole window becomes the stable release.
    pub auto_promote: bool,
    /// Whether a canary that does badly is taken back.
    pub auto_rollback: bool,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { canary_percent: 20, auto_promote: true, auto_rollback: true }
    }
}
