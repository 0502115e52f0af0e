//! The confined folder: all code that touches files that guests can write, or writes a file atomically, uses this crate.
//!
//! A [`Folder`] is opened once. Every path is resolved beneath that handle, by the kernel where it can, and nothing above
//! it can be reached, whatever the path and even if another process swaps symlinks. Files are written as a [`Draft`] and
//! get their name in one step. A [`HeldFolder`] is private to a process and removed with it.
//!
//! A path is never resolved twice: there is no function that checks a name and leaves its use to the caller.
//!
//! ```
//! use cove_workspace::{Folder, Missing, RelPath, Target};
//! use std::io::Read;
//!
//! let dir = tempfile::tempdir()?;
//! let folder = Folder::open(dir.path())?;
//! let path = RelPath::parse("notes/a.txt")?;
//! let place = folder.place(&path, Missing::Create)?;
//! Target::at(&place)?.replace(b"hello")?;
//! let mut text = String::new();
//! folder.open_file(&path, cove_workspace::READ)?.0.read_to_string(&mut text)?;
//! assert_eq!(text, "hello");
//! assert!(RelPath::parse("../x").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod copy;
mod draft;
mod folder;
mod held;
mod listing;
mod lock;
mod path;
mod places;
mod remove;
mod replace;
mod space;
mod step;
#[cfg(feature = "testkit")]
pub mod testkit;
mod unreadable;

pub use copy::{CopyRules, copy_tree};
pub use draft::{Draft, is_draft};
pub use folder::{FOLDER, Folder, READ, Resolver, open_up};
pub use held::HeldFolder;
pub use listing::{Entry, Listing};
pub use lock::{lock_within, open_lock};
pub use path::{PathError, RelPath, WORKSPACE_MOUNT};
pub use places::{data_dir, is_passable, is_program};
pub use remove::{remove_folder, remove_tree};
pub use replace::Target;
pub use space::Space;
pub use step::{Location, Missing};
