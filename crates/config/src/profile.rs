//! Profiles: as they are written, and as they are used.

use std::collections::BTreeMap;

use cove_api::{ContainerProfile, ProfileInfo, Resources};
use cove_core::NetworkPolicy;
use serde::{Deserialize, Serialize};

use crate::ConfigError;
use crate::values::{Capability, EnvValue, MemorySize, RuntimeType};

/// What a container may use, as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceConfig {
    /// Processors; 0.5 is half of one.
    pub cpus: f64,
    /// Memory, as `512m` or `1g`.
    pub memory: MemorySize,
}

impl Default for ResourceConfig {
    fn default() -> Self {
        Self { cpus: 1.0, memory: MemorySize::mebibytes(1024) }
    }
}

/// How the size of a profile's cargos is limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskLimit {
    /// Watched from outside; who writes past it is ended.
    #[default]
    Watched,
    /// By a file system of that size; only root can make one.
    Hard,
}

/// A profile, as written: with `containers`, or as one container without a name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProfileConfig {
    /// Its name.
    pub id: String,
    /// What it is for.
    pub description: Option<String>,
    /// The image of its containers; means nothing to the local driver.
    pub image: Option<String>,
    /// The OCI runtime of its containers, such as `runsc`; means nothing to the local driver.
    pub runtime: Option<String>,
    /// `ship` or `gull`.
    pub runtime_type: Option<RuntimeType>,
    /// Means nothing to the local driver.
    pub runtime_port: Option<u16>,
    /// What it may use.
    pub resources: Option<ResourceConfig>,
    /// What it can do; none: what its runtime can.
    pub capabilities: Option<Vec<Capability>>,
    /// Seconds without a call after which its session ends; 0: never.
    pub idle_timeout: Option<u64>,
    /// How many sandboxes are kept ready.
    pub warm_pool_size: usize,
    /// The environment of shell and Python.
    pub env: BTreeMap<String, EnvValue>,
    /// Which hosts can be reached; none unless named.
    pub network: Option<NetworkPolicy>,
    /// Whether no sandbox is made where the kernel does not enforce its limits.
    pub require_enforced_limits: bool,
    /// Whether a connection to one of its ports counts as use of the session; true unless it is said.
    pub ports_keep_awake: Option<bool>,
    /// Whether a process that was left running counts as use of the session.
    pub processes_keep_awake: bool,
    /// How the size of new cargos is limited.
    pub disk: DiskLimit,
    /// Its containers, where there are several.
    pub containers: Vec<ContainerConfig>,
}

/// One container of a profile, as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerConfig {
    /// Its name in the profile.
    pub name: String,
    /// Its image, in place of the profile's.
    pub image: Option<String>,
    /// Its OCI runtime, in place of the profile's.
    pub runtime: Option<String>,
    /// `ship` or `gull`; none: as its name says.
    pub runtime_type: Option<RuntimeType>,
    /// Means nothing to the local driver.
    #[serde(alias = "port")]
    pub runtime_port: Option<u16>,
    /// What it may use.
    pub resources: Option<ResourceConfig>,
    /// What it can do.
    pub capabilities: Option<Vec<Capability>>,
    /// For what it is asked first.
    pub primary_for: Vec<Capability>,
    /// Its environment, over the profile's.
    pub env: BTreeMap<String, EnvValue>,
    /// Its network, in place of the profile's.
    pub network: Option<NetworkPolicy>,
}

/// A profile, as it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name.
    pub id: String,
    /// What it is for.
    pub description: Option<String>,
    /// What all its containers together can do.
    pub capabilities: Vec<Capability>,
    /// Seconds without a call after which its session ends; 0: never.
    pub idle_timeout: u64,
    /// How many sandboxes are kept ready.
    pub warm_pool_size: usize,
    /// Whether no sandbox is made where the kernel does not enforce its limits.
    pub require_enforced_limits: bool,
    /// Whether a connection to one of its ports counts as use of the session.
    pub ports_keep_awake: bool,
    /// Whether a process that was left running counts as use of the session.
    pub processes_keep_awake: bool,
    /// How the size of new cargos is limited.
    pub disk: DiskLimit,
    /// At least one.
    pub containers: Vec<ContainerSpec>,
}

/// One container of a profile, as it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerSpec {
    /// Its name in the profile.
    pub name: String,
    /// Which runtime.
    pub runtime_type: RuntimeType,
    /// For drivers that have images.
    pub image: Option<String>,
    /// The OCI runtime, for drivers that have one.
    pub runtime: Option<String>,
    /// For drivers that have ports.
    pub runtime_port: Option<u16>,
    /// Processors.
    pub cpus: f64,
    /// Memory.
    pub memory: MemorySize,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// For what it is asked first.
    pub primary_for: Vec<Capability>,
    /// The environment.
    pub env: Vec<(String, String)>,
    /// What it can reach.
    pub network: NetworkPolicy,
    /// Whether it is not started where the kernel does not enforce its limits.
    pub require_enforced_limits: bool,
}

/// Seconds without a call, unless a profile says otherwise.
pub(crate) const DEFAULT_IDLE_SECONDS: u64 = 1800;

/// Where profiles stand in a configuration.
const PLACE: &str = "profiles";

/// More of it is a mistake in writing.
const MAX_WARM: usize = 1000;

impl ProfileConfig {
    /// Checks it; the reason names what is wrong.
    pub fn resolve(&self) -> Result<Profile, ConfigError> {
        let wrong = |reason: String| ConfigError::value(PLACE, &reason);
        let simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.id.is_empty() || self.id.len() > 64 || !self.id.chars().all(simple) {
            return Err(wrong(format!(
                "invalid profile name {:?}: use at most 64 letters, digits, `-`, `_` and `.`",
                self.id
            )));
        }
        let named = |what: String| format!("profile {:?}: {what}", self.id);
        let say = |what: String| wrong(named(what));
        if self.warm_pool_size > MAX_WARM {
            return Err(say(format!("warm_pool_size is {}; the limit is {MAX_WARM}", self.warm_pool_size)));
        }
        let one = [ContainerConfig {
            name: self.runtime_type.unwrap_or_default().as_str().to_owned(),
            runtime_type: Some(self.runtime_type.unwrap_or_default()),
            capabilities: self.capabilities.clone(),
            ..ContainerConfig::default()
        }];
        let written = if self.containers.is_empty() { &one[..] } else { &self.containers[..] };
        let mut containers: Vec<ContainerSpec> = Vec::new();
        for container in written {
            let spec = self.container(container).map_err(say)?;
            if containers.iter().any(|other| other.name == spec.name) {
                let reason = named(format!("two containers are named {:?}", spec.name));
                return Err(ConfigError::repeated(PLACE, &spec.name, &reason));
            }
            if let Some(first) = spec.primary_for.iter().find(|capability| !spec.capabilities.contains(capability)) {
                return Err(say(format!(
                    "container {:?} is primary_for {first}, which it does not support",
                    spec.name
                )));
            }
            let taken = containers.iter().find(|o| o.primary_for.iter().any(|c| spec.primary_for.contains(c)));
            if let Some(other) = taken {
                return Err(say(format!(
                    "containers {:?} and {:?} are primary_for the same capability",
                    other.name, spec.name
                )));
            }
            containers.push(spec);
        }
        let mut capabilities: Vec<Capability> = Vec::new();
        for capability in containers.iter().flat_map(|container| &container.capabilities) {
            if !capabilities.contains(capability) {
                capabilities.push(*capability);
            }
        }
        // A profile that lists its own says which of its containers' are to be used.
        if let Some(own) = &self.capabilities {
            if let Some(alien) = own.iter().find(|capability| !capabilities.contains(capability)) {
                return Err(say(format!("no container supports {alien}")));
            }
            capabilities.clone_from(own);
        }
        Ok(Profile {
            id: self.id.clone(),
            description: self.description.clone(),
            capabilities,
            idle_timeout: self.idle_timeout.unwrap_or(DEFAULT_IDLE_SECONDS),
            warm_pool_size: self.warm_pool_size,
            require_enforced_limits: self.require_enforced_limits,
            ports_keep_awake: self.ports_keep_awake.unwrap_or(true),
            processes_keep_awake: self.processes_keep_awake,
            disk: self.disk,
            containers,
        })
    }

    fn container(&self, written: &ContainerConfig) -> Result<ContainerSpec, String> {
        let by_name = match written.name.as_str() {
            "gull" | "browser" => RuntimeType::Gull,
            _ => RuntimeType::Ship,
        };
        let runtime_type = written.runtime_type.unwrap_or(by_name);
        let name = if written.name.is_empty() { runtime_type.as_str().to_owned() } else { written.name.clone() };
        let capabilities = written.capabilities.clone().unwrap_or_else(|| runtime_type.capabilities());
        let able = runtime_type.capabilities();
        if let Some(alien) = capabilities.iter().find(|capability| !able.contains(capability)) {
            return Err(format!("container {name:?} is a {}, which does not support {alien}", runtime_type.as_str()));
        }
        let resources = written.resources.clone().or_else(|| self.resources.clone()).unwrap_or_default();
        if !(resources.cpus >= 0.01 && resources.cpus <= 4096.0) {
            return Err(format!("resources.cpus must be between 0.01 and 4096, not {}", resources.cpus));
        }
        if resources.memory < MemorySize::mebibytes(32) {
            return Err(format!("resources.memory must be at least 32m, not {}", resources.memory));
        }
        let mut env = self.env.clone();
        env.extend(written.env.clone());
        for (name, value) in &env {
            if name.is_empty() || name.contains(['=', '\0']) || value.0.contains('\0') {
                return Err(format!("invalid environment variable {name:?}"));
            }
        }
        Ok(ContainerSpec {
            name,
            runtime_type,
            image: written.image.clone().or_else(|| self.image.clone()),
            runtime: written.runtime.clone().or_else(|| self.runtime.clone()),
            runtime_port: written.runtime_port.or(self.runtime_port),
            cpus: resources.cpus,
            memory: resources.memory,
            capabilities,
            primary_for: written.primary_for.clone(),
            env: env.into_iter().map(|(name, value)| (name, value.0)).collect(),
            network: written.network.clone().or_else(|| self.network.clone()).unwrap_or_default(),
            require_enforced_limits: self.require_enforced_limits,
        })
    }
}

impl Profile {
    /// Whether it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// As words, for the wire.
    pub fn capability_words(&self) -> Vec<String> {
        self.capabilities.iter().map(ToString::to_string).collect()
    }

    /// For the wire.
    pub fn info(&self, detail: bool) -> ProfileInfo {
        let resources = |spec: &ContainerSpec| Resources { cpus: spec.cpus, memory: spec.memory.to_string() };
        let first = self.containers.first();
        let container = |spec: &ContainerSpec| ContainerProfile {
            name: spec.name.clone(),
            runtime_type: spec.runtime_type.as_str().to_owned(),
            capabilities: spec.capabilities.iter().map(ToString::to_string).collect(),
            resources: resources(spec),
        };
        ProfileInfo {
            id: self.id.clone(),
            image: first.and_then(|spec| spec.image.clone()).unwrap_or_else(|| "local".to_owned()),
            resources: first.map_or(Resources { cpus: 1.0, memory: "1g".to_owned() }, resources),
            capabilities: self.capability_words(),
            idle_timeout: self.idle_timeout,
            description: if detail { self.description.clone() } else { None },
            containers: detail.then(|| self.containers.iter().map(container).collect()),
        }
    }
}

/// The profiles that are there without a word of configuration.
pub(crate) fn built_in() -> Vec<ProfileConfig> {
    use Capability::{Browser, Filesystem, Javascript, Screenshot};
    let named = |id: &str, description: &str| ProfileConfig {
        id: id.to_owned(),
        description: Some(description.to_owned()),
        ..ProfileConfig::default()
    };
    let container = |name: &str, runtime_type: RuntimeType| ContainerConfig {
        name: name.to_owned(),
        runtime_type: Some(runtime_type),
        ..ContainerConfig::default()
    };
    let ship = ContainerConfig { primary_for: vec![Filesystem], ..container("ship", RuntimeType::Ship) };
    let gull = ContainerConfig {
        capabilities: Some(vec![Browser, Screenshot, Filesystem]),
        resources: Some(ResourceConfig { cpus: 1.0, memory: MemorySize::mebibytes(2048) }),
        ..container("gull", RuntimeType::Gull)
    };
    vec![
        named("python-default", "Python, a shell, files, a terminal and JavaScript"),
        ProfileConfig {
            containers: vec![ship, gull],
            ..named("browser-python", "Python, a shell, files and JavaScript, and a browser on the same files")
        },
        ProfileConfig {
            capabilities: Some(vec![Javascript, Filesystem]),
            ..named("javascript", "JavaScript and TypeScript with files")
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_profiles_resolve() {
        let profiles: Vec<_> = built_in().iter().map(|profile| profile.resolve().unwrap()).collect();
        let words = |n: usize| profiles[n].capability_words().join(" ");
        assert_eq!(words(0), "python shell filesystem terminal javascript");
        assert_eq!(words(1), "python shell filesystem terminal javascript browser screenshot");
        assert_eq!(words(2), "javascript filesystem");
        assert_eq!(profiles[1].info(true).containers.unwrap().len(), 2);
    }
}
