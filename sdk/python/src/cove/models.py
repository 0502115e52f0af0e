"""What the server answers.

Written by scripts/write_models.py from docs/openapi.json; a change here is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A call that waits for a person. The code that makes it stands still meanwhile; nothing of it is run again afterwards."""

    #: Its id.
    id: str

    #: The sandbox whose code asks.
    sandbox_id: str

    #: The JavaScript session that the code runs in; null: none.
    session: str | None = None

    #: What is to be called: `github.delete_repository`.
    tool: str

    #: With which arguments.
    args: Any

    #: Why a person is asked.
    why: str

    #: The lines of code that make such a call, where the code names it.
    lines: list[CodeLine]

    #: Since when it waits.
    asked_at: datetime

    #: When it is denied if nobody has decided.
    ends_at: datetime


@dataclass(frozen=True, kw_only=True)
class ApprovalList:
    """The calls that wait, oldest first."""

    #: They.
    items: list[Approval]


@dataclass(frozen=True, kw_only=True)
class ArtifactInfo:
    """One artifact of a sandbox."""

    #: Its file name, `<uuid>.png`.
    name: str

    #: `image/png`, …
    media_type: str

    #: Its size.
    size: int

    #: When it was made.
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ArtifactList:
    """A sandbox's artifacts."""

    #: Newest first.
    items: list[ArtifactInfo]

#: The limit or the wall that ended or refused an execution.
Barrier = Literal["time_limit", "step_limit", "memory_limit", "disk_limit", "size_limit", "not_allowed"]


@dataclass(frozen=True, kw_only=True)
class BrowserBatchResult:
    """The results of several browser commands."""

    #: The result of each command that ran.
    results: list[BrowserStep]

    #: Number of commands in the request.
    total_steps: int

    #: Number of commands that ran.
    completed_steps: int

    #: Whether all ran and succeeded.
    success: bool

    #: Time they took, in milliseconds.
    duration_ms: int

    #: Their entry in the history: one for all of them.
    execution_id: str | None = None

    #: Time the call took, in milliseconds.
    execution_time_ms: int | None = None

    #: Whether it is in the history. False: the database could not be written; the entry is added later.
    recorded: bool | None = None

    #: The trace, if requested.
    trace_ref: str | None = None

#: What refused or ended a command of the browser.
BrowserCause = Literal["timed_out", "held", "not_allowed", "host_not_allowed", "host_not_reached", "not_on_page", "not_started"]


@dataclass(frozen=True, kw_only=True)
class BrowserExecResult:
    """The result of a browser command."""

    #: Whether its exit code is 0.
    success: bool

    #: Its output. It contains text of the page: do not trust it.
    output: str

    #: Why it failed.
    error: str | None = None

    #: Standard output.
    stdout: str

    #: Standard error.
    stderr: str

    #: Its exit code; −1: timed out; −2: not begun, because a person had control of the browser all the time.
    exit_code: int | None = None

    #: What refused or ended it, where Cove knows. Absent: it succeeded, or only the browser's own words say why it failed.
    cause: BrowserCause | None = None

    #: Why Cove refused or ended it; in `stderr` as well.
    reason: str | None = None

    #: What to do next; in `stderr` as well.
    hint: str | None = None

    #: What happened besides, such as a browser that was started again; in `stderr` as well.
    notes: list[str] | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: Time it took, in milliseconds.
    execution_time_ms: int | None = None

    #: Whether it is in the history. False: the database could not be written; the entry is added later.
    recorded: bool | None = None

    #: The trace, if requested.
    trace_ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class BrowserSkillResult:
    """The result of a replay."""

    #: The skill.
    skill_key: str

    #: The release that was replayed.
    release_id: str

    #: Its entry in the history.
    execution_id: str

    #: Time the call took, in milliseconds.
    execution_time_ms: int

    #: Whether it is in the history. False: the database could not be written; the entry is added later.
    recorded: bool | None = None

    #: The trace, if requested.
    trace_ref: str | None = None

    #: The result of each command that ran.
    results: list[BrowserStep]

    #: Number of commands.
    total_steps: int

    #: Number of commands that ran.
    completed_steps: int

    #: Whether all ran and succeeded.
    success: bool

    #: Time they took, in milliseconds.
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class BrowserStep:
    """One command of several."""

    #: The command.
    cmd: str

    #: Standard output.
    stdout: str

    #: Standard error.
    stderr: str

    #: Its exit code.
    exit_code: int

    #: What refused or ended it, where Cove knows. Absent: it succeeded, or only the browser's own words say why it failed.
    cause: BrowserCause | None = None

    #: Why Cove refused or ended it; in `stderr` as well.
    reason: str | None = None

    #: What to do next; in `stderr` as well.
    hint: str | None = None

    #: What happened besides, such as a browser that was started again; in `stderr` as well.
    notes: list[str] | None = None

    #: Its index, from 0.
    step_index: int

    #: Time it took, in milliseconds.
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class BrowserTrace:
    """A stored trace."""

    #: Its reference.
    trace_ref: str

    #: The execution that it belongs to.
    execution_id: str | None = None

    #: When.
    created_at: datetime

    #: The trace; the same as the payload of this reference.
    trace: TraceContent


@dataclass(frozen=True, kw_only=True)
class CandidateInfo:
    """A candidate."""

    #: `sc-` and 12 hex digits.
    id: str

    #: The skill's name.
    skill_key: str

    #: What it is for.
    scenario_key: str | None = None

    #: Its payload.
    payload_ref: str | None = None

    #: `code` or `browser`.
    skill_type: str

    #: Whether it may be released automatically.
    auto_release_eligible: bool

    #: The reason for that.
    auto_release_reason: str | None = None

    #: What it does.
    summary: str | None = None

    #: How to use it.
    usage_notes: str | None = None

    #: Preconditions.
    preconditions: dict[str, Any] | None = None

    #: Postconditions.
    postconditions: dict[str, Any] | None = None

    #: The executions that it was made from.
    source_execution_ids: list[str]

    #: Its state.
    status: CandidateStatus

    #: The last evaluation's score.
    latest_score: float | None = None

    #: Whether the last evaluation passed.
    latest_pass: bool | None = None

    #: When it was last evaluated.
    last_evaluated_at: datetime | None = None

    #: Its release, unless that was deleted.
    promotion_release_id: str | None = None

    #: Its owner.
    created_by: str | None = None

    #: When it was made.
    created_at: datetime

    #: When it last changed.
    updated_at: datetime

    #: Whether it was deleted.
    is_deleted: bool

    #: When it was deleted.
    deleted_at: datetime | None = None

    #: Who deleted it.
    deleted_by: str | None = None

    #: Why.
    delete_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateList:
    """A page of candidates."""

    #: Newest first.
    items: list[CandidateInfo]

    #: Total number.
    total: int

#: The state of a candidate.
CandidateStatus = Literal["draft", "evaluating", "promoted", "promoted_canary", "promoted_stable", "rejected", "rolled_back"]


@dataclass(frozen=True, kw_only=True)
class CargoInfo:
    """A cargo."""

    #: `ws-` and 12 hex digits.
    id: str

    #: Whether it was created for a sandbox and is deleted with it.
    managed: bool

    #: That sandbox.
    managed_by_sandbox_id: str | None = None

    #: How it is stored and how its limit is enforced: `local+loop`, `local+watch`, …
    backend: str

    #: Its size limit in MB.
    size_limit_mb: int

    #: When it was made.
    created_at: datetime

    #: When a sandbox last used it.
    last_accessed_at: datetime


@dataclass(frozen=True, kw_only=True)
class CargoList:
    """A page of cargos."""

    #: The cargos of this page.
    items: list[CargoInfo]

    #: Cursor of the next page; null on the last page.
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class CodeLine:
    """A line of code."""

    #: Its number, from 1.
    line: int

    #: What it says.
    text: str

#: What became of a connection.
ConnectionVerdict = Literal["open", "ended", "closed", "refused", "unreachable"]


@dataclass(frozen=True, kw_only=True)
class ContainerInfo:
    """One container of a session."""

    #: Its name in the profile.
    name: str

    #: `ship` or `gull`.
    runtime_type: str

    #: `running`, `stopped` or `failed`.
    status: str

    #: The runtime's version.
    version: str | None = None

    #: Its capabilities.
    capabilities: list[str]

    #: Whether it answers; null: not checked.
    healthy: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ContainerNetwork:
    """Where a container may connect to."""

    #: Its name in the profile.
    container: str

    #: Hosts that are open; none: the network is closed.
    allow_hosts: list[str]

    #: Private addresses that are open.
    allow_private: list[str]


@dataclass(frozen=True, kw_only=True)
class ContainerProfile:
    """One container of a profile."""

    #: Its name.
    name: str

    #: `ship` or `gull`.
    runtime_type: str

    #: Its capabilities.
    capabilities: list[str]

    #: Its resource limits.
    resources: Resources


@dataclass(frozen=True, kw_only=True)
class CreatedPortLink:
    """A link that has just been made. Whoever has its address may use the port until it expires or is revoked."""

    #: Its id, by which it is revoked.
    id: str

    #: The port.
    port: int

    #: The address to open in a browser. It is shown this once.
    url: str

    #: When it ends.
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """What was deleted."""

    #: Its id.
    id: str

    #: When.
    deleted_at: datetime

    #: Who deleted it.
    deleted_by: str | None = None

    #: Why.
    delete_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class DirectoryList:
    """The entries of a folder, including hidden ones."""

    #: The entries.
    entries: list[FileInfo]


@dataclass(frozen=True, kw_only=True)
class EngineUsed:
    """Which engine ran, and why."""

    #: `embedded` or `browser`.
    name: str

    #: Why this one.
    reason: str

    #: The same in words.
    because: str


@dataclass(frozen=True, kw_only=True)
class ErrorBody:
    """The body of every error."""

    #: The error.
    error: ErrorDetail

#: The stable code of an error.
ErrorCode = Literal["not_found", "unauthorized", "forbidden", "quota_exceeded", "session_not_ready", "timeout", "ship_error", "conflict", "sandbox_expired", "sandbox_ttl_infinite", "validation_error", "file_not_found", "capability_not_supported", "invalid_path", "port_closed", "link_expired", "internal_error"]


@dataclass(frozen=True, kw_only=True)
class ErrorDetail:
    """An error."""

    #: The stable code.
    code: ErrorCode

    #: One sentence, never empty.
    message: str

    #: The request's id, as in `X-Request-Id`.
    request_id: str

    #: Details for programs.
    details: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class EvaluationInfo:
    """An evaluation."""

    #: `se-` and 12 hex digits.
    id: str

    #: Id of the candidate.
    candidate_id: str

    #: The name of the benchmark.
    benchmark_id: str | None = None

    #: From 0 to 1.
    score: float | None = None

    #: Whether it passed.
    passed: bool

    #: Report of the evaluation.
    report: str | None = None

    #: Who evaluated it.
    evaluated_by: str | None = None

    #: When.
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event. Its number is the `id` of the server-sent event, from which a reader can resume."""

    #: Its number, counted per sandbox.
    seq: int

    #: Its kind.
    kind: EventKind

    #: When.
    at: datetime

    #: Its data.
    data: dict[str, Any]

#: The kind of an event.
EventKind = Literal["state", "run_started", "console", "output", "tool_call", "approval_asked", "approval_ended", "run_finished", "ports", "network", "gap"]

#: The kind of an execution.
ExecType = Literal["python", "shell", "javascript", "browser", "browser_batch"]


@dataclass(frozen=True, kw_only=True)
class FileContent:
    """A text file's content."""

    #: The text.
    content: str


@dataclass(frozen=True, kw_only=True)
class FileInfo:
    """One entry of a folder."""

    #: Its name.
    name: str

    #: Relative to `/workspace`.
    path: str

    #: Whether it is a folder.
    is_dir: bool

    #: Whether it is a file.
    is_file: bool

    #: Its size; none for folders.
    size: int | None = None

    #: When it last changed.
    modified_at: datetime | None = None

#: What has happened to a name in a folder.
FolderChange = Literal["created", "written", "removed", "renamed", "attributes"]


@dataclass(frozen=True, kw_only=True)
class FolderEvent:
    """One change in a watched folder."""

    #: The name, relative to the watched folder.
    path: str

    #: What has happened.
    change: FolderChange


@dataclass(frozen=True, kw_only=True)
class GcReport:
    """What the collector did."""

    #: One report for each task.
    results: list[GcTaskReport]

    #: Total number of things cleaned up.
    total_cleaned: int

    #: Total number of errors.
    total_errors: int

    #: Time it took, in milliseconds.
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class GcStatus:
    """The collector."""

    #: Whether it runs by itself.
    enabled: bool

    #: Whether it is running now.
    is_running: bool

    #: Id of this Bay.
    instance_id: str

    #: Interval in seconds.
    interval_seconds: int

    #: When it last ran.
    last_run_at: datetime | None = None

    #: Report of that run.
    last_report: GcReport | None = None

    #: Its tasks, and whether each is enabled.
    tasks: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class GcTaskReport:
    """What one task did."""

    #: `idle_session`, `expired_sandbox`, `orphan_cargo`, `orphan_container`, `warm_pool`, …
    task: str

    #: Number of things cleaned up.
    cleaned: int

    #: Number of things checked and left alone.
    skipped: int

    #: What went wrong.
    errors: list[str]


@dataclass(frozen=True, kw_only=True)
class Health:
    """The server runs."""

    #: `ok`
    status: str

    #: Cove's version.
    version: str


@dataclass(frozen=True, kw_only=True)
class HistoryEntry:
    """One execution."""

    #: `exec-` and 12 hex digits.
    id: str

    #: The session it ran in.
    session_id: str | None = None

    #: Its kind.
    exec_type: ExecType

    #: What ran.
    code: str

    #: Whether it succeeded.
    success: bool

    #: Time it took, in milliseconds.
    execution_time_ms: int

    #: Its output, up to a limit.
    output: str | None = None

    #: Its error, up to a limit.
    error: str | None = None

    #: What ended or refused it; null: nothing did, it failed by itself or succeeded.
    barrier: Barrier | None = None

    #: The payload that holds more, such as a trace.
    payload_ref: str | None = None

    #: Names of the artifacts that it drew.
    artifacts: list[str] | None = None

    #: Description by the caller.
    description: str | None = None

    #: Tags by the caller, separated by commas.
    tags: str | None = None

    #: Notes that were added later.
    notes: str | None = None

    #: Whether a skill may be learnt from it.
    learn_enabled: bool

    #: `pending`, `processed` or `error`; null: not to be learnt from.
    learn_status: str | None = None

    #: Why learning failed.
    learn_error: str | None = None

    #: When it was learnt from.
    learn_processed_at: datetime | None = None

    #: When it ran.
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class HistoryList:
    """A page of the history."""

    #: Newest first.
    entries: list[HistoryEntry]

    #: Total number.
    total: int


@dataclass(frozen=True, kw_only=True)
class JavaScriptData:
    """The result of JavaScript, in detail."""

    #: The value; with a failure, what `run_javascript` answers (`error`, `message`, `line`, `frame`, …).
    result: Any

    #: Pictures that were drawn, as artifacts.
    images: list[JavaScriptImage]

    #: Console lines.
    logs: str

    #: Which engine ran it.
    engine: EngineUsed | None = None

    #: Whether the code called `final_answer`.
    is_final: bool | None = None

    #: Warnings: why another engine ran than the requested one, that the state of a session is lost, …
    warnings: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class JavaScriptExecResult:
    """The result of JavaScript."""

    #: Whether it ended without an error.
    success: bool

    #: Console lines, then the value, as text.
    output: str

    #: The error with its code frame.
    error: str | None = None

    #: The result in detail.
    data: JavaScriptData | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: Time it took, in milliseconds.
    execution_time_ms: int | None = None

    #: Whether it is in the history. False: the database could not be written; the entry is added later.
    recorded: bool | None = None

    #: The code, if requested.
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class JavaScriptImage:
    """A picture that was drawn."""

    #: Its artifact: download it at `/v1/sandboxes/{id}/artifacts/{name}`.
    name: str

    #: `image/png`
    media_type: str

    #: Width in pixels.
    width: int | None = None

    #: Height in pixels.
    height: int | None = None


@dataclass(frozen=True, kw_only=True)
class NetworkConnection:
    """A connection that a sandbox has asked for."""

    #: The host, as it was asked for.
    host: str

    #: Its port.
    port: int

    #: When.
    at: datetime

    #: Bytes that the sandbox has sent.
    up_bytes: int

    #: Bytes that it has got.
    down_bytes: int

    #: What became of it.
    verdict: ConnectionVerdict


@dataclass(frozen=True, kw_only=True)
class PayloadInfo:
    """A payload."""

    #: `blob:` and its id.
    payload_ref: str

    #: What kind of payload.
    kind: str

    #: The payload.
    payload: Any


@dataclass(frozen=True, kw_only=True)
class PayloadRef:
    """Where a payload is."""

    #: `blob:` and its id.
    payload_ref: str

    #: What kind of payload.
    kind: str


@dataclass(frozen=True, kw_only=True)
class PortInfo:
    """A port on which a program in the sandbox listens."""

    #: Its number.
    port: int

    #: The addresses inside the sandbox that the program listens on.
    addresses: list[str]

    #: Where a browser reaches it, by a link.
    url: str


@dataclass(frozen=True, kw_only=True)
class PortLink:
    """A link, without its address."""

    #: Its id, by which it is revoked.
    id: str

    #: The port.
    port: int

    #: When it was made.
    created_at: datetime

    #: When it ends.
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class PortLinkList:
    """The links of a sandbox that still work, the newest first."""

    #: All of them.
    items: list[PortLink]


@dataclass(frozen=True, kw_only=True)
class PortList:
    """The ports on which programs listen; empty while the sandbox does not run."""

    #: In their order.
    items: list[PortInfo]


@dataclass(frozen=True, kw_only=True)
class ProcessChunk:
    """A piece of what a process has written."""

    #: Where to.
    stream: ProcessStream

    #: The bytes, in base64.
    data: str

    #: Its end, in bytes of all that the process has written.
    end: int

    #: How many bytes before it are lost: nobody has read them in time.
    dropped: int | None = None


@dataclass(frozen=True, kw_only=True)
class ProcessInfo:
    """A process that was started in a sandbox."""

    #: Its id: the name that it was given, or 8 hex digits.
    process_id: str

    #: Its number in the sandbox.
    pid: int | None = None

    #: The command.
    command: str

    #: The program and its arguments.
    argv: list[str] | None = None

    #: The folder that it was started in, if one was named.
    cwd: str | None = None

    #: Whether it runs in a terminal.
    terminal: bool | None = None

    #: How it is doing.
    status: ProcessStatus

    #: Whether it runs.
    running: bool

    #: Its exit code.
    return_code: int | None = None

    #: The signal that ended it.
    signal: int | None = None

    #: Why it did not end by itself.
    error: str | None = None

    #: Which limit ended it, where that is known.
    stopped: Stopped | None = None

    #: When it was started, in seconds since 1970.
    started_at: float

    #: How long it ran, or has run.
    running_ms: int

    #: Standard output, or the terminal.
    stdout: str | None = None

    #: Standard error.
    stderr: str | None = None

    #: Whether output was left out.
    truncated: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ProcessList:
    """All processes that were started in a sandbox and are remembered."""

    #: The oldest first.
    processes: list[ProcessInfo]

#: How a process is doing.
ProcessStatus = Literal["running", "completed", "failed", "killed", "timed_out"]

#: Where a process has written to.
ProcessStream = Literal["stdout", "stderr", "terminal"]


@dataclass(frozen=True, kw_only=True)
class ProfileInfo:
    """A profile."""

    #: Its name.
    id: str

    #: Image of the first container; not used by the local driver.
    image: str

    #: Resource limits of its first container.
    resources: Resources

    #: Its capabilities.
    capabilities: list[str]

    #: Seconds without a call after which its session ends.
    idle_timeout: int

    #: What it is for; with `detail=true`.
    description: str | None = None

    #: Its containers; with `detail=true`.
    containers: list[ContainerProfile] | None = None


@dataclass(frozen=True, kw_only=True)
class ProfileList:
    """All profiles."""

    #: The profiles.
    items: list[ProfileInfo]


@dataclass(frozen=True, kw_only=True)
class PythonData:
    """The result of Python, in detail."""

    #: Number of executions of this interpreter.
    execution_count: int | None = None

    #: Text, pictures and other results.
    output: PythonOutput

    #: The class of the error.
    error_name: str | None = None

    #: What the error says.
    error_message: str | None = None


@dataclass(frozen=True, kw_only=True)
class PythonExecResult:
    """The result of Python."""

    #: Whether it ended without an error.
    success: bool

    #: What it printed, and the value of the last expression.
    output: str

    #: The error with its traceback.
    error: str | None = None

    #: Whether it timed out.
    timed_out: bool | None = None

    #: Whether the interpreter was restarted: variables and imports are lost.
    state_lost: bool | None = None

    #: The signal that ended the interpreter; null: none.
    signal: int | None = None

    #: Why it was killed; null: it was not killed, or the reason is not known.
    stopped: Stopped | None = None

    #: The result in detail.
    data: PythonData | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: Time it took, in milliseconds.
    execution_time_ms: int | None = None

    #: Whether it is in the history. False: the database could not be written; the entry is added later.
    recorded: bool | None = None

    #: The code, if requested.
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class PythonOutput:
    """Text and pictures."""

    #: The text.
    text: str

    #: Pictures: a media type and base64 each.
    images: list[dict[str, Any]]

    #: What was displayed, and at last the value of the last expression, each in all the forms that it has.
    results: list[PythonResult] | None = None


@dataclass(frozen=True, kw_only=True)
class PythonResult:
    """A value that was displayed, or the value of the last expression."""

    #: Whether it is the value of the last expression.
    main: bool | None = None

    #: Its forms by media type: text as it is, pictures in base64. `application/vnd.cove.chart+json` has the data of a chart.
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ReleaseHealth:
    """The health of a release, compared with the previous one."""

    #: Id of the release.
    release_id: str

    #: The skill's name.
    skill_key: str

    #: Its stage.
    stage: str

    #: Start of the observation window.
    window_start_at: datetime

    #: End of the observation window.
    window_end_at: datetime

    #: Whether the window has ended.
    window_complete: bool

    #: Number of replays.
    samples: int

    #: Success rate, from 0 to 1.
    success_rate: float

    #: Error rate, from 0 to 1.
    error_rate: float

    #: 95th percentile of the duration, in milliseconds.
    p95_duration: int

    #: Success rate of the previous release.
    baseline_success_rate: float

    #: Error rate of the previous release.
    baseline_error_rate: float

    #: Number of replays of the previous release.
    baseline_samples: int

    #: Drop of the success rate.
    success_drop: float

    #: Factor by which the error rate rose.
    error_rate_multiplier: float

    #: Whether it is healthy.
    healthy: bool

    #: Whether a rollback is recommended.
    should_rollback: bool

    #: Why.
    rollback_reasons: list[str]

    #: The thresholds for that.
    thresholds: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ReleaseInfo:
    """A release."""

    #: `sr-` and 12 hex digits.
    id: str

    #: The skill's name.
    skill_key: str

    #: The candidate that was released.
    candidate_id: str

    #: Its version, counted per skill.
    version: int

    #: The stage.
    stage: ReleaseStage

    #: Whether it is active: the last released one of its skill.
    is_active: bool

    #: `manual` or `auto`.
    release_mode: str

    #: Who released it.
    promoted_by: str | None = None

    #: When.
    promoted_at: datetime

    #: The release that this one rolls back.
    rollback_of: str | None = None

    #: The canary that it came from.
    auto_promoted_from: str | None = None

    #: End of its observation window.
    health_window_end_at: datetime | None = None

    #: The release that it replaces.
    upgrade_of_release_id: str | None = None

    #: Why.
    upgrade_reason: str | None = None

    #: Release notes.
    change_summary: str | None = None

    #: Whether it was deleted.
    is_deleted: bool

    #: When it was deleted.
    deleted_at: datetime | None = None

    #: Who deleted it.
    deleted_by: str | None = None

    #: Why.
    delete_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReleaseList:
    """A page of releases."""

    #: Newest first.
    items: list[ReleaseInfo]

    #: Total number.
    total: int

#: The stage of a release.
ReleaseStage = Literal["canary", "stable"]


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Resource limits of a container."""

    #: Processors; 0.5 is half of one.
    cpus: float

    #: Memory, as `512m` or `1g`.
    memory: str


@dataclass(frozen=True, kw_only=True)
class SandboxInfo:
    """A sandbox."""

    #: `sandbox-` and 12 hex digits.
    id: str

    #: Its state.
    status: SandboxStatus

    #: Its profile.
    profile: str

    #: Its cargo, mounted at `/workspace`.
    cargo_id: str

    #: Capabilities of its profile.
    capabilities: list[str]

    #: When it was made.
    created_at: datetime

    #: When it expires; null: never.
    expires_at: datetime | None = None

    #: When its session ends if it is not used; null: no session.
    idle_expires_at: datetime | None = None

    #: Its session's containers, while it has a session.
    containers: list[ContainerInfo] | None = None

    #: Where each container of its profile may connect to. Not in lists.
    network: list[ContainerNetwork] | None = None

    #: Warnings: limits that are not enforced (`memory: watched, not enforced`), and what this machine lacks for it, with the
    #: command that installs it (`browser: agent-browser was not found; install it with …`).
    warnings: list[str] | None = None

    #: What its session uses now: in a list with `usage=true`, where that can be counted.
    usage: SandboxUsage | None = None

    #: What its owner says of it.
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxList:
    """A page of sandboxes."""

    #: The sandboxes of this page.
    items: list[SandboxInfo]

    #: Cursor of the next page; null on the last page.
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxNetwork:
    """The network of a sandbox."""

    #: The hosts that are open now.
    allow_hosts: list[str]

    #: The hosts that may be opened: those of the profile, and those that it lets be opened; `*` is every host that is not
    #: private.
    may_allow: list[str]

    #: The last connections since the server has started, the newest first.
    connections: list[NetworkConnection]

#: The state of a sandbox.
SandboxStatus = Literal["idle", "starting", "ready", "failed", "expired"]


@dataclass(frozen=True, kw_only=True)
class SandboxUsage:
    """What the processes of a session use."""

    #: Memory that each has for itself, in bytes.
    memory_bytes: int

    #: Processor time since the session began, in milliseconds: two readings give the share of a processor between them.
    cpu_ms: int


@dataclass(frozen=True, kw_only=True)
class SchemaErrors:
    """The body of 422: the request does not parse, or does not fit its schema."""

    #: Each problem.
    detail: list[SchemaProblem]


@dataclass(frozen=True, kw_only=True)
class SchemaProblem:
    """One problem of a request."""

    #: Position: `body`, `query` or `path`, then names and indices.
    loc: list[Any]

    #: What is wrong.
    msg: str

    #: Kind of the problem: `missing`, `json_invalid`, `value_error`, …
    type: str


@dataclass(frozen=True, kw_only=True)
class SentEvent:
    """An event of the stream."""

    #: Its number.
    id: str

    event: Any

    #: The whole event as JSON.
    data: str


@dataclass(frozen=True, kw_only=True)
class SentProcessEvent:
    """An event of a process's stream."""

    #: With output: where it ends, in bytes of all that the process has written.
    id: str | None = None

    #: `process`, `output`, `ended`; or `error` with the body of an error, after which nothing comes.
    event: str

    #: The event as JSON: its kind, and what belongs to it.
    data: str


@dataclass(frozen=True, kw_only=True)
class SentWatchEvent:
    """An event of a watched folder's stream."""

    #: `watching`, `event`, `lost`, `gone`; or `error` with the body of an error, after which nothing comes.
    event: str

    #: The event as JSON: its kind, and what belongs to it.
    data: str


@dataclass(frozen=True, kw_only=True)
class ShellExecResult:
    """The result of a shell command."""

    #: Whether its exit code is 0.
    success: bool

    #: Its output.
    output: str

    #: Why it failed.
    error: str | None = None

    #: Whether it timed out.
    timed_out: bool | None = None

    #: The signal that ended it; null: none.
    signal: int | None = None

    #: Why it was killed; null: it was not killed, or the reason is not known.
    stopped: Stopped | None = None

    #: Its exit code.
    exit_code: int | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: Time it took, in milliseconds.
    execution_time_ms: int | None = None

    #: Whether it is in the history. False: the database could not be written; the entry is added later.
    recorded: bool | None = None

    #: The command, if requested.
    command: str | None = None


@dataclass(frozen=True, kw_only=True)
class Status:
    """Done."""

    #: `ok`, `stopped`.
    status: str

#: Why something was killed.
StopCause = Literal["memory_limit", "disk_limit"]


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """Why something was killed, with numbers."""

    #: Why.
    cause: StopCause

    #: The limit in bytes.
    limit_bytes: int

    #: The usage in bytes.
    used_bytes: int


@dataclass(frozen=True, kw_only=True)
class TraceContent:
    """A trace: every step of one call."""

    #: One command or several.
    kind: TraceKind

    #: Whether all ran and succeeded.
    success: bool

    #: Number of commands in the request.
    total_steps: int

    #: Number of commands that ran.
    completed_steps: int

    #: Each command that ran: `cmd`, `stdout`, `stderr`, `exit_code`, `step_index`, `duration_ms`; long outputs are cut.
    steps: list[dict[str, Any]]

#: The kind of a trace.
TraceKind = Literal["browser_exec_trace", "browser_batch_trace"]


@dataclass(frozen=True, kw_only=True)
class UploadResult:
    """An uploaded file."""

    #: `ok`
    status: str

    #: Relative to `/workspace`.
    path: str

    #: Its size.
    size: int
