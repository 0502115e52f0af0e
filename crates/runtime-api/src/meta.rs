//! `/health` and `/meta`: how a runtime is, and what it is.

use hyper::Method;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Call;

/// Asks whether a runtime works.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct HealthRequest;

impl Call for HealthRequest {
    type Answer = RuntimeHealth;
    const PATH: &'static str = "/health";
    const METHOD: Method = Method::GET;
}

/// Whether a runtime works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    /// It does what it is there for; a browser may wait for its first command.
    Healthy,
    /// The browser has ended; the next command starts it again.
    Degraded,
    /// It does not.
    Unhealthy,
}

/// The answer to `GET /health` that every runtime gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeHealth {
    /// In one word.
    pub status: HealthStatus,
    /// Cove's version.
    pub version: String,
    /// Why not, if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The same of Gull, with what it knows of the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserHealth {
    /// In one word.
    pub status: HealthStatus,
    /// Whether there is a browser process.
    pub browser_active: bool,
    /// Whether it has just answered a question.
    pub browser_ready: bool,
    /// The sandbox's id.
    pub session: String,
    /// Cove's version.
    pub version: String,
    /// Why not, if not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Asks what a runtime is.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct MetaRequest;

impl Call for MetaRequest {
    type Answer = Meta;
    const PATH: &'static str = "/meta";
    const METHOD: Method = Method::GET;
}

/// What a runtime is, as far as anybody has to know it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Meta {
    /// Ship.
    Ship(ShipMeta<IgnoredAny>),
    /// Gull.
    Gull(GullMeta<IgnoredAny>),
}

impl Meta {
    /// Cove's version in it.
    pub fn version(&self) -> &str {
        match self {
            Self::Ship(meta) => &meta.runtime.version,
            Self::Gull(meta) => &meta.version,
        }
    }

    /// The names of what it can do.
    pub fn capabilities(&self) -> impl Iterator<Item = &str> {
        let listed = match self {
            Self::Ship(meta) => &meta.capabilities,
            Self::Gull(meta) => &meta.capabilities,
        };
        listed.keys().map(String::as_str)
    }
}

/// What Ship is. `L`: the limits that hold, in the form of whoever enforces them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShipMeta<L> {
    /// Name and version.
    pub runtime: RuntimeInfo,
    /// The workspace.
    pub workspace: MountInfo,
    /// What is enforced, and by what; null where nothing is, or where a container's own maker would have to be asked.
    pub limits: L,
    /// What an operator should know.
    pub warnings: Vec<String>,
    /// What it can do, each by its name, with its endpoints.
    pub capabilities: Map<String, Value>,
}

/// Name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeInfo {
    /// `ship`
    pub name: String,
    /// Cove's version.
    pub version: String,
    /// Of these endpoints.
    pub api_version: String,
    /// Where it was built.
    #[serde(default)]
    pub build: BuildInfo,
}

/// Where a runtime was built; null where nobody said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildInfo {
    /// The image.
    pub image: Option<String>,
    /// Its digest.
    pub image_digest: Option<String>,
    /// The commit.
    pub git_sha: Option<String>,
}

/// Where the workspace is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountInfo {
    /// As guests see it.
    pub mount_path: String,
}

/// What Gull is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GullMeta<L> {
    /// `gull`
    pub runtime: String,
    /// `browser`
    pub runtime_type: String,
    /// Cove's version.
    pub version: String,
    /// Of these endpoints.
    pub api_version: String,
    /// The sandbox's id.
    pub session: String,
    /// Where the workspace is, as commands name it.
    pub workspace: String,
    /// agent-browser's version.
    pub agent_browser: String,
    /// What it can do, each by its name.
    pub capabilities: Map<String, Value>,
    /// What is enforced, and by what.
    pub limits: L,
    /// Which walls stand.
    pub walls: BrowserWalls,
}

/// Which walls stand around a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserWalls {
    /// The browser's own sandbox.
    pub browser_sandbox: bool,
    /// Landlock around the browser; known once it runs.
    pub landlock_browser: bool,
    /// Landlock around agent-browser.
    pub landlock_agent: bool,
}
