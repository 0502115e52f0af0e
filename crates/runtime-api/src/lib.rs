//! The protocol between Bay and a runtime inside a sandbox, and its client.
//!
//! Ship and Gull read these requests and write these answers; Bay, `cove browse` and drivers send the one and read the
//! other. What happened is a field or an enum (`timed_out`, `signal`, [`RefusalCode`]), so that no caller has to
//! search a sentence for it. A guest may have written an answer: its size is bounded here, and its user must check its
//! contents.

mod bounds;
mod browser;
mod call;
mod client;
mod files;
pub mod line;
mod live;
mod meta;
mod owner;
mod ports;
mod process;
mod python;
mod refusal;
mod shell;
mod term;
mod view;
mod watch;

pub use bounds::{MAX_BODY_BYTES, MAX_CODE_BYTES, MAX_ENTRIES, MAX_TEXT_BYTES, MAX_TIMEOUT, OutOfBounds, time_limit};
pub use browser::{
    BatchAnswer, BatchRequest, BrowserAnswer, BrowserRequest, MAX_BATCH_TIMEOUT, MAX_BROWSER_BODY_BYTES,
    MAX_BROWSER_TIMEOUT, MAX_COMMAND_BYTES, MAX_COMMANDS, MIN_BROWSER_TIMEOUT, TraceStep,
};
pub use call::Call;
pub use client::{CallError, Connection, Endpoint, Frames, RuntimeClient, until_it_answers, until_it_listens};
pub use cove_api::{
    BrowserCause, BrowserStep, EXIT_FAILED, EXIT_HELD, EXIT_REFUSED, EXIT_TIMED_OUT, FolderChange, FolderEvent,
    OutputChunk, OutputStream, ProcessChunk, ProcessFrame, ProcessInfo, ProcessList, ProcessOutput, ProcessStatus,
    ProcessStream, PythonOutput, PythonResult, RuntimeCause, StopCause, Stopped, TerminalSize, WatchFrame,
};
pub use files::{
    CreateFileRequest, DOWNLOAD_PATH, DeleteFileRequest, EditFileRequest, FileDone, FileText, FolderEntry, FolderList,
    ListFolderRequest, ReadFileRequest, ToolRequest, UPLOAD_PATH, Uploaded, WriteFileRequest, WriteMode,
};
pub use hyper::{Method, StatusCode};
pub use live::{LateRefusal, LiveFrame};
pub use meta::{
    BrowserHealth, BrowserWalls, BuildInfo, GullMeta, HealthRequest, HealthStatus, Meta, MetaRequest, MountInfo,
    RuntimeHealth, RuntimeInfo, ShipMeta,
};
pub use owner::OwnerLease;
pub use ports::{
    ListeningPort, ListeningPorts, MAX_PORTS, MAX_PORTS_WAIT, PORT_PATH, PORT_PROTOCOL, PortTarget, PortsRequest,
};
pub use process::{
    FollowProcess, ListProcesses, PROCESS_HEARTBEAT, ResizeProcess, ShowProcess, SignalProcess, StartProcess,
    WriteProcess,
};
pub use python::{EndPython, KernelState, KernelStatus, PythonAnswer, PythonRequest, Restarted};
pub use refusal::{Refusal, RefusalCode};
pub use shell::{ShellAnswer, ShellRequest, WorkingFolder};
pub use term::TERMINAL_PATH;
pub use view::{
    Controller, KeyEvent, MAX_VIEW_WORD_BYTES, MouseButton, MouseEvent, VIEW_HEADER_BYTES, VIEW_PATH, ViewCause,
    ViewEvent, ViewMode, ViewState, ViewTab, ViewWord,
};
pub use watch::WatchFolder;
