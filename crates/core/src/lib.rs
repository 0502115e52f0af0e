//! The types that all crates share: ids, requests, outcomes, limits, error codes, and the traits of an engine.
//!
//! Data only. Nothing here opens a file, starts a process or waits, and only `deadline.rs` reads a clock; such code belongs
//! in another crate. Every other crate may use this one; this one uses none of them.

mod bytes;
mod code;
mod crash;
mod deadline;
mod engine;
mod excerpt;
mod executor;
mod fault;
mod id;
mod limits;
mod policy;
mod report;
mod request;
mod tool;

pub use bytes::{bytes_from_json, bytes_to_json};
pub use code::{ErrorCode, Severity, ToolErrorCode};
pub use crash::Crash;
pub use deadline::{Deadline, Hold, Holds, RunClock};
pub use engine::{
    BoxFuture, CpuClock, EffectGate, Engine, EngineError, EngineName, LiveHandle, LogLevel, LogLine, LogSink, Session,
    SessionOptions,
};
pub use excerpt::{
    BothEnds, Excerpt, LEFT_OUT, beginning_bytes, beginning_chars, end_chars, end_lines, shorten_bytes, shorten_chars,
    shorten_shown, shorten_word,
};
pub use executor::{CodeOutput, ExecutorError, ExecutorOptions, ExecutorState, RunConcurrency};
pub use fault::{Effects, Fault, FaultKind, NetworkCause, NoJson, Position, Retry};
pub use id::{
    ArtifactId, ArtifactRef, BlobId, CandidateId, CargoId, EvaluationId, ExecutionId, IdError, PrefixedId, ReleaseId,
    SandboxId, SessionId,
};
pub use limits::{Limits, LimitsError};
pub use policy::{Clock, ImportPolicy, NetworkPolicy, Random};
pub use report::{
    EngineReason, EngineReport, ExportFault, Finished, KeptPicture, LAST_VALUE, Picture, PictureFailure, RunReport,
    SessionFate, Usage,
};
pub use request::{EngineChoice, InvalidArgs, RunRequest, RunShape};
pub use tool::{FS_TOOL, TEXT_KEY, Tool, ToolCall, ToolError, ToolFuture, ToolMode, ToolSet, ToolSpec};
