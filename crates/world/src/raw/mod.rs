//! The only unsafe code of this crate: what the engine's C interface can do and its safe binding cannot.
//!
//! Nine things need it: loading the prelude from its bytecode, evaluating a text with any character in it, globals that are loaded when they are first read, Rust
//! values inside of objects, tidying the heap before a fork, counting and refusing memory at the allocator, lending the
//! host's port to native functions for the length of one run, walking and freezing intrinsics without running a line of
//! JavaScript, and errors that no `catch` can hold. Everything leaves this module as safe types of `rquickjs`; nothing outside it says `unsafe`.
#![allow(unsafe_code)]

mod compiled;
mod eval;
mod gaps;
mod guard;
mod held;
mod late;
mod lend;
mod mend;
mod meter;
mod object;
mod value;

pub(crate) use compiled::run_compiled;
pub(crate) use eval::evaluate;
pub(crate) use gaps::close_gaps;
pub use guard::use_stack;
pub(crate) use guard::{
    allow_calls, drain_jobs, enter_thread, forbid_calls, guarded_queue, guarded_then, throw_uncatchable,
};
pub(crate) use held::Held;
pub(crate) use late::define_late;
pub(crate) use lend::PortSlot;
pub(crate) use mend::mend;
pub(crate) use meter::{Gauge, Meter};
pub(crate) use object::{
    Slot, UsualKeys, address, class_prototypes, define, freeze, own_data, own_slots, prototype_of, remove,
};
pub(crate) use value::{
    Collector, bare_error, brand, bytes_of, caller_file, class_id, collect, gc_rarely, json_text, promise_parts,
    proxy_target, text, uint8_array,
};
