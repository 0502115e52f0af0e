//! Trouble of the host's making: a world that cannot be built, or is handed something it cannot take.
//!
//! A guest's trouble is never one of these; it is a [`cove_core::Fault`] in the report of its run.

/// Why a world could not be made or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorldError {
    /// The engine has no memory left for a runtime.
    #[error("the engine could not be started: {0}")]
    Engine(String),
    /// Something that is not on the permits table cannot be removed: such a world is not safe to use.
    #[error("the world could not be hardened: {0}")]
    Hardening(String),
    /// A variable or a tool has a name that code cannot write or that Cove keeps for itself.
    #[error("`{name}` cannot be used as a name: {why}")]
    Name {
        /// The name as given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The values do not fit into the world's memory.
    #[error("the values do not fit into the memory limit of {limit_bytes} bytes")]
    Memory {
        /// The limit that was reached.
        limit_bytes: u64,
    },
}
