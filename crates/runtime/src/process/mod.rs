//! Ship's processes: each has a keeper, each keeper has an owner, and whoever drops the owner ends the tree.

mod family;
mod output;
mod program;
mod tree;

pub(crate) use family::Family;
pub(crate) use output::{Bounded, Capture};
pub(crate) use program::{End, Program};
pub(crate) use tree::{proportional_bytes, resident_bytes_by_process};
