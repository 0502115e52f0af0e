//! The types of Bay's HTTP interface: requests, answers, and every error.
//!
//! Data only, no I/O: the control plane uses them, the server serialises them and describes them in the OpenAPI document,
//! and the client reads them. The names of fields are defined only here.

mod approval;
mod artifact;
mod browser;
mod cargo;
mod error;
mod event;
mod exec;
mod files;
mod history;
mod maintenance;
mod misfit;
mod network;
mod owner;
mod page;
mod ports;
mod process;
mod profile;
mod sandbox;
mod skills;
mod time;
mod watch;

pub use cove_core::{CandidateId, CargoId, ExecutionId, IdError, ReleaseId, SandboxId};

pub use approval::{Approval, ApprovalDecision, ApprovalEnd, ApprovalList, CodeLine};
pub use artifact::{ArtifactInfo, ArtifactList};
pub use browser::{
    BrowserBatchRequest, BrowserBatchResult, BrowserCause, BrowserExecRequest, BrowserExecResult, BrowserSkillRequest,
    BrowserSkillResult, BrowserStep, BrowserTrace, ClickRequest, EXIT_FAILED, EXIT_HELD, EXIT_REFUSED, EXIT_TIMED_OUT,
    FillRequest, HINT, NOTE, NavigateRequest, REFUSED, ScreenshotRequest, SnapshotRequest, TraceContent, TraceKind,
};
pub use cargo::{CargoInfo, CargoList, CargoQuery, CreateCargo, MAX_CARGO_MB};
pub use error::{BayError, ErrorBody, ErrorCode, ErrorDetail, RuntimeCause, SchemaErrors, SchemaProblem};
pub use event::{Event, EventKind, OutputChunk, OutputStream, ToolAnswer};
pub use exec::{
    EngineUsed, JavaScriptData, JavaScriptExecRequest, JavaScriptExecResult, JavaScriptImage, JavaScriptSession,
    PythonData, PythonExecRequest, PythonExecResult, PythonOutput, PythonResult, RemoteTool, ShellExecRequest,
    ShellExecResult, StopCause, Stopped,
};
pub use files::{DirectoryList, FileContent, FileInfo, FileQuery, UploadResult, WriteFile};
pub use history::{Annotation, Barrier, ExecType, HistoryEntry, HistoryList, HistoryQuery};
pub use maintenance::{GcReport, GcRequest, GcStatus, GcTaskReport, Health};
pub use misfit::Misfit;
pub use network::{ConnectionVerdict, NetworkConnection, SandboxNetwork, SetNetwork};
pub use owner::{IdempotencyKey, Owner};
pub use page::Status;
pub use ports::{CreatePortLink, CreatedPortLink, PortInfo, PortLink, PortLinkList, PortList};
pub use process::{
    CreateProcess, ProcessChunk, ProcessFrame, ProcessInfo, ProcessInput, ProcessList, ProcessOutput, ProcessQuery,
    ProcessSignal, ProcessStatus, ProcessStream, TerminalSize,
};
pub use profile::{ContainerProfile, ProfileInfo, ProfileList, Resources};
pub use sandbox::{
    AmendSandbox, ContainerInfo, ContainerNetwork, CreateSandbox, ExtendTtl, SandboxInfo, SandboxList, SandboxQuery,
    SandboxStatus, SandboxUsage,
};
pub use skills::{
    CandidateInfo, CandidateList, CandidateQuery, CandidateStatus, CreateCandidate, CreatePayload, DeleteRequest,
    Deleted, Evaluate, EvaluationInfo, PayloadInfo, PayloadRef, Promote, ReleaseHealth, ReleaseInfo, ReleaseList,
    ReleaseQuery, ReleaseStage,
};
pub use time::Moment;
pub use watch::{FolderChange, FolderEvent, WatchFrame, WatchQuery};
