//! What this Bay runs on: its engines, the walls that hold, memory, sessions and warm pools.

use cove_embedded::WallReport;
use serde::Serialize;

use crate::Bay;

/// What this Bay runs on. For people: names may change.
#[derive(Debug, Serialize)]
pub struct HostReport {
    /// The embedded engine.
    pub embedded: EmbeddedReport,
    /// The browser.
    pub browser: BrowserReport,
    /// What does not hold sandboxes as it should, by the driver; none: all of it does.
    pub sandbox_warnings: Vec<String>,
    /// Whether the kernel holds sandboxes to their memory.
    pub memory_is_enforced: bool,
    /// Sessions that run, of all owners.
    pub sessions: usize,
    /// This process and this machine, in bytes.
    pub memory: MemoryReport,
    /// The profiles, and what each keeps ready.
    pub profiles: Vec<ProfileReport>,
}

/// The embedded engine.
#[derive(Debug, Serialize)]
pub struct EmbeddedReport {
    /// Its walls, as a worker has found them from inside.
    pub walls: Option<WallReport>,
    /// Why there are none.
    pub problem: Option<String>,
}

/// The browser.
#[derive(Debug, Serialize)]
pub struct BrowserReport {
    /// Whether there is one.
    pub found: bool,
    /// Why not.
    pub problem: Option<String>,
}

/// Memory in bytes; what the kernel does not tell is 0.
#[derive(Debug, Default, Serialize)]
pub struct MemoryReport {
    /// Of this process.
    pub process_bytes: u64,
    /// Of this machine.
    pub total_bytes: u64,
    /// Of it, what can still be used.
    pub available_bytes: u64,
}

/// One profile.
#[derive(Debug, Serialize)]
pub struct ProfileReport {
    /// Its name.
    pub id: String,
    /// Sandboxes that are to be kept ready.
    pub warm_pool_size: usize,
    /// Sandboxes that are ready now.
    pub warm_ready: u64,
}

impl Bay {
    /// What this Bay runs on. Starts the embedded engine's worker if there is none.
    pub async fn host_report(&self) -> HostReport {
        let (walls, problem) = match self.inner.javascript.walls().await {
            Ok(walls) => (Some(walls), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let browser = self.inner.javascript.find_browser();
        let mut profiles = Vec::new();
        for profile in self.inner.profiles.iter() {
            let warm_pool_size = profile.warm_pool_size;
            // A database that does not answer is told elsewhere.
            let warm_ready = if warm_pool_size > 0 { self.warm_ready(&profile.id).await.unwrap_or(0) } else { 0 };
            profiles.push(ProfileReport { id: profile.id.clone(), warm_pool_size, warm_ready });
        }
        HostReport {
            embedded: EmbeddedReport { walls, problem },
            browser: BrowserReport { found: browser.is_ok(), problem: browser.err() },
            sandbox_warnings: self.inner.driver.warnings(),
            memory_is_enforced: cove_cgroup::counts_memory(),
            sessions: self.inner.sessions.count(),
            memory: memory(),
            profiles,
        }
    }
}

fn memory() -> MemoryReport {
    let line = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).ok()?;
        let kilobytes = text.lines().find_map(|line| line.strip_prefix(name))?.trim().strip_suffix("kB")?;
        kilobytes.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
    };
    MemoryReport {
        process_bytes: line("/proc/self/status", "VmRSS:").unwrap_or_default(),
        total_bytes: line("/proc/meminfo", "MemTotal:").unwrap_or_default(),
        available_bytes: line("/proc/meminfo", "MemAvailable:").unwrap_or_default(),
    }
}
