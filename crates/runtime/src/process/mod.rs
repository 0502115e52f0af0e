//! Ship's processes: each program has a mark that everybody below it carries, and whoever drops the program ends them all.
//!
//! Programs are started on threads of their own, because making a process may wait (for memory, for one) and Ship may not.

mod family;
mod live;
mod mark;
mod output;
mod program;
mod spawner;
mod transcript;
mod tree;

pub(crate) use family::Family;
pub(crate) use family::Rank;
pub(crate) use live::Live;
pub(crate) use mark::Mark;
pub(crate) use output::{Capture, Hearer};
pub(crate) use program::{End, Program, TreeEnd};
pub(crate) use transcript::{Follower, Piece, Transcript};
