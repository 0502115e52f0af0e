//! How an embedded engine is set up.

use std::path::PathBuf;

/// What a missing wall means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WallPolicy {
    /// As many walls as the kernel allows. Which ones stand is said by [`EmbeddedEngine::walls`](crate::EmbeddedEngine::walls).
    #[default]
    Standard,
    /// All of them, or the engine does not start.
    Strict,
}

/// The engine's options. The defaults suit a server; a program that runs one script may want fewer spares.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// Children kept forked ahead of demand. One costs about half a megabyte and saves a session the wait for its fork.
    pub spare_children: usize,
    /// Sessions that may be open at once; a further `open` waits. Each holds two descriptors, so the process's limit
    /// on descriptors may lower this.
    pub max_sessions: usize,
    /// What a missing wall means.
    pub profile: WallPolicy,
    /// The program to start as worker. `None`: this program itself, if it has called
    /// [`worker::enter_if_asked`](crate::worker::enter_if_asked); else `cove-worker` in the folder of this program, else in the folder above.
    pub worker_program: Option<PathBuf>,
    /// Folders with fonts, before the system's own; text on a canvas is drawn with them.
    pub font_dirs: Vec<PathBuf>,
    /// Whether the machine's own fonts are drawn with. Without them pictures look the same on every machine.
    pub system_fonts: bool,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            spare_children: 8,
            max_sessions: 4096,
            profile: WallPolicy::Standard,
            worker_program: None,
            font_dirs: Vec::new(),
            system_fonts: true,
        }
    }
}
