//! The file tools of a workspace: `read`, `write`, `edit`, `grep`, `find` and `ls`.
//!
//! One implementation for every caller: JavaScript sessions, MCP, HTTP and the command line call the same six functions
//! of a [`Workspace`] and pass on the same JSON. A seventh, for guest code only, is what `require('fs')` is made of.
//! Everything is plain, blocking code; only `tools.rs` knows of async.
//!
//! The tools never leave the workspace, whatever the path and even if another process swaps symlinks; an edit never changes
//! a byte outside of its match; and no file or tree can keep them busy or fill their memory.

mod args;
mod diff;
mod edit;
mod endings;
mod error;
mod find;
mod fold;
mod fs;
mod glob;
mod grep;
mod ignores;
mod lines;
mod locate;
mod ls;
mod pace;
mod params;
mod path;
mod read;
mod result;
mod sniff;
mod stop;
#[cfg(feature = "testkit")]
pub mod testkit;
mod tools;
mod truncate;
mod walk;
mod weigh;
mod workspace;
mod write;

pub use args::{EditArgs, FindArgs, GrepArgs, LsArgs, ReadArgs, Replacement, WriteArgs};
pub use cove_workspace::Resolver;
pub use error::{FileError, FileErrorCode};
pub use pace::{Pace, outgrown};
pub use params::FileTool;
pub use path::rel_path;
pub use result::{Content, ToolResult};
pub use stop::{CancelOnDrop, Stop};
pub use tools::tool_specs;
pub use weigh::{Uncounted, Weight, most_entries, weigh};
pub use workspace::Workspace;
pub use write::MAX_WRITE_BYTES;
