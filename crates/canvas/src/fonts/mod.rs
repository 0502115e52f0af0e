//! Fonts: which face serves a family, what it covers, how text becomes glyphs, how glyphs become pixels.
//!
//! Two halves that never meet: the *index* (which file would serve this family, style, character), which the host
//! makes from its font folders and can hand over as data; and the *book*, which only ever sees bytes. A guest process
//! that may open no file still draws with every font of the machine. Nothing is read or parsed until text is drawn.

mod alias;
mod baseline;
mod book;
pub(crate) mod contrast;
pub(crate) mod face;
pub(crate) mod glyphs;
mod index;
#[cfg(feature = "system-fonts")]
#[allow(unsafe_code)]
mod map;
pub(crate) mod shape;
#[cfg(feature = "system-fonts")]
mod sieve;
pub(crate) mod spec;
#[cfg(feature = "system-fonts")]
pub mod system;

use std::sync::Arc;

pub(crate) use book::FontChain;
pub use book::{FontBook, FontSource};
pub use index::{CharSet, FaceRecord, FontIndex};

/// The bytes of a font file, wherever they live: a vector, a mapping, the program itself.
pub type FontBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;
