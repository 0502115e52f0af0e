//! A thin client of the DevTools protocol: only what Cove calls, over the browser's own pipe.
//!
//! It knows frames, ids, sessions and deadlines. It knows nothing of pages, runs or guests.

mod client;
mod frame;
mod protocol;
mod wire;

pub(crate) use client::{CdpError, Client, Gone, Listener};
pub(crate) use protocol::{
    BindingCalled, CdpSession, Evaluated, ExceptionDetails, FrameNavigated, RequestPaused, call_browser,
};
pub use wire::{Frame, FrameReader, MAX_FRAME_BYTES};
