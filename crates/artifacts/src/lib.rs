//! The store of pictures and other results, with metadata. A file is complete or not there.
//!
//! A picture is `<uuid>.png` with `<uuid>.meta` beside it; any other result is `<uuid>.json`. A file appears under its
//! name only when it is whole, and a picture is *visible* only when both of its files are there, so a stop at any
//! moment leaves either the artifact or nothing.
//!
//! The folder is opened once and every file is reached from that handle by a name that only this crate can build.
//! Callers cannot pass a path, and a symlink under one of our names is treated as if nothing were there.
//! Several processes may use one folder at a time.
//!
//! ```
//! use cove_artifacts::{ArtifactStore, StoreLimits};
//!
//! let dir = tempfile::tempdir()?;
//! let store = ArtifactStore::open(dir.path(), StoreLimits::default())?;
//! let reference = store.save_json(&serde_json::json!({"rows": 3}))?;
//! assert_eq!(store.read(reference.0)?.bytes, br#"{"rows":3}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod folder;
mod limits;
mod meta;
mod name;
mod store;
mod sweep;
mod tally;

pub use error::ArtifactError;
pub use limits::StoreLimits;
pub use meta::{Metadata, PictureMeta, PictureSource};
pub use name::{ArtifactKind, ArtifactName};
pub use store::{Artifact, ArtifactStore, Listed, SavedPicture};
