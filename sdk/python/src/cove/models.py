"""What the server answers.

Written by scripts/write_models.py from docs/openapi.json; a change here is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal


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


@dataclass(frozen=True, kw_only=True)
class BrowserBatchResult:
    """What the browser said to several commands."""

    #: Each command that ran.
    results: list[BrowserStep]

    #: How many were asked for.
    total_steps: int

    #: How many ran.
    completed_steps: int

    #: Whether all ran and succeeded.
    success: bool

    #: How long they took.
    duration_ms: int

    #: Their entry in the history: one for all.
    execution_id: str | None = None

    #: How long the call took.
    execution_time_ms: int | None = None

    #: Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    recorded: bool | None = None

    #: The trace, if asked for.
    trace_ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class BrowserExecResult:
    """What the browser said."""

    #: Whether its exit code is 0.
    success: bool

    #: What it wrote. A page's words are in it: not to be trusted.
    output: str

    #: Why it failed.
    error: str | None = None

    #: Standard output.
    stdout: str

    #: Standard error.
    stderr: str

    #: Its exit code; −1: out of time.
    exit_code: int | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: How long it took.
    execution_time_ms: int | None = None

    #: Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    recorded: bool | None = None

    #: The trace, if asked for.
    trace_ref: str | None = None


@dataclass(frozen=True, kw_only=True)
class BrowserSkillResult:
    """What a replay did."""

    #: The skill.
    skill_key: str

    #: The release that was replayed.
    release_id: str

    #: Its entry in the history.
    execution_id: str

    #: How long the call took.
    execution_time_ms: int

    #: Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    recorded: bool | None = None

    #: The trace, if asked for.
    trace_ref: str | None = None

    #: Each command that ran.
    results: list[BrowserStep]

    #: How many there are.
    total_steps: int

    #: How many ran.
    completed_steps: int

    #: Whether all ran and succeeded.
    success: bool

    #: How long they took.
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

    #: Its place, from 0.
    step_index: int

    #: How long it took.
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class BrowserTrace:
    """A trace that was kept."""

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

    #: Whether it may be released without a person.
    auto_release_eligible: bool

    #: Why it may or may not.
    auto_release_reason: str | None = None

    #: What it does.
    summary: str | None = None

    #: How to use it.
    usage_notes: str | None = None

    #: What must hold before.
    preconditions: dict[str, Any] | None = None

    #: What holds after.
    postconditions: dict[str, Any] | None = None

    #: The executions that it comes from.
    source_execution_ids: list[str]

    #: Where it is in its life.
    status: CandidateStatus

    #: The last evaluation's score.
    latest_score: float | None = None

    #: Whether the last evaluation passed.
    latest_pass: bool | None = None

    #: When it was last evaluated.
    last_evaluated_at: datetime | None = None

    #: Its release, unless that was deleted.
    promotion_release_id: str | None = None

    #: Whose it is.
    created_by: str | None = None

    #: When it was made.
    created_at: datetime

    #: When it last changed.
    updated_at: datetime

    #: Whether it is gone.
    is_deleted: bool

    #: Since when.
    deleted_at: datetime | None = None

    #: By whom.
    deleted_by: str | None = None

    #: Why.
    delete_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateList:
    """A page of candidates."""

    #: Newest first.
    items: list[CandidateInfo]

    #: How many there are in all.
    total: int

#: A candidate's life.
CandidateStatus = Literal["draft", "evaluating", "promoted", "promoted_canary", "promoted_stable", "rejected", "rolled_back"]


@dataclass(frozen=True, kw_only=True)
class CargoInfo:
    """A cargo."""

    #: `ws-` and 12 hex digits.
    id: str

    #: Whether it was made for a sandbox and goes with it.
    managed: bool

    #: That sandbox.
    managed_by_sandbox_id: str | None = None

    #: What holds it, and how its limit is kept: `local+loop`, `local+watch`, …
    backend: str

    #: What may be in it.
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

    #: For the next page; none: this was the last.
    next_cursor: str | None = None


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

    #: What it can do.
    capabilities: list[str]

    #: Whether it answers; none: not asked.
    healthy: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ContainerProfile:
    """One container of a profile."""

    #: Its name.
    name: str

    #: `ship` or `gull`.
    runtime_type: str

    #: What it can do.
    capabilities: list[str]

    #: What it may use.
    resources: Resources


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """What was deleted."""

    #: Its id.
    id: str

    #: When.
    deleted_at: datetime

    #: By whom.
    deleted_by: str | None = None

    #: Why.
    delete_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class DirectoryList:
    """A folder's entries, hidden ones too."""

    #: The entries.
    entries: list[FileInfo]


@dataclass(frozen=True, kw_only=True)
class EngineUsed:
    """Which engine ran, and why."""

    #: `embedded` or `browser`.
    name: str

    #: Why this one.
    because: str


@dataclass(frozen=True, kw_only=True)
class ErrorBody:
    """Every error's body."""

    #: The error.
    error: ErrorDetail

#: The stable code of an error.
ErrorCode = Literal["not_found", "unauthorized", "forbidden", "quota_exceeded", "session_not_ready", "timeout", "ship_error", "conflict", "sandbox_expired", "sandbox_ttl_infinite", "validation_error", "file_not_found", "capability_not_supported", "invalid_path", "internal_error"]


@dataclass(frozen=True, kw_only=True)
class ErrorDetail:
    """What is in an error's body."""

    #: The stable code.
    code: ErrorCode

    #: One sentence, never empty.
    message: str

    #: The request's id, as in `X-Request-Id`.
    request_id: str

    #: What a program may want to know.
    details: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class EvaluationInfo:
    """An evaluation."""

    #: `se-` and 12 hex digits.
    id: str

    #: Of which candidate.
    candidate_id: str

    #: What it was tried on.
    benchmark_id: str | None = None

    #: From 0 to 1.
    score: float | None = None

    #: Whether it passed.
    passed: bool

    #: In words.
    report: str | None = None

    #: Who evaluated.
    evaluated_by: str | None = None

    #: When.
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event. Its number is the `id` of the server-sent event, by which a reader resumes."""

    #: Counts up in each sandbox.
    seq: int

    #: What kind.
    kind: EventKind

    #: When.
    at: datetime

    #: What.
    data: dict[str, Any]

#: What kind of thing happened.
EventKind = Literal["state", "run_started", "console", "tool_call", "run_finished", "gap"]

#: What kind of work ran.
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


@dataclass(frozen=True, kw_only=True)
class GcReport:
    """What the collector did."""

    #: One report for each task.
    results: list[GcTaskReport]

    #: Things cleaned away in all.
    total_cleaned: int

    #: Faults in all.
    total_errors: int

    #: How long it took.
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class GcStatus:
    """The collector."""

    #: Whether it runs by itself.
    enabled: bool

    #: Whether it is at work now.
    is_running: bool

    #: Which Bay this is.
    instance_id: str

    #: How often it runs.
    interval_seconds: int

    #: When it last ran.
    last_run_at: datetime | None = None

    #: What it did then.
    last_report: GcReport | None = None

    #: Its tasks, and whether each is enabled.
    tasks: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class GcTaskReport:
    """What one task did."""

    #: `idle_session`, `expired_sandbox`, `orphan_cargo`, `orphan_container`, `warm_pool`, …
    task: str

    #: How many things were cleaned away.
    cleaned: int

    #: How many were looked at and left.
    skipped: int

    #: What went wrong.
    errors: list[str]


@dataclass(frozen=True, kw_only=True)
class Health:
    """Bay is there."""

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

    #: What kind of work it was.
    exec_type: ExecType

    #: What ran.
    code: str

    #: Whether it succeeded.
    success: bool

    #: How long it took.
    execution_time_ms: int

    #: What it said, cut to a limit.
    output: str | None = None

    #: Why it failed, cut to a limit.
    error: str | None = None

    #: The payload that holds more, such as a trace.
    payload_ref: str | None = None

    #: What the caller said it is.
    description: str | None = None

    #: The caller's words for it, with commas between.
    tags: str | None = None

    #: What was noted later.
    notes: str | None = None

    #: Whether a skill may be learnt from it.
    learn_enabled: bool

    #: `pending`, `processed`, `error`; none: not to be learnt.
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

    #: How many there are in all.
    total: int


@dataclass(frozen=True, kw_only=True)
class JavaScriptData:
    """The rich form of what JavaScript said."""

    #: The value; with a failure, what `run_javascript` answers (`error`, `message`, `line`, `frame`, …).
    result: Any

    #: Pictures that were drawn, as artifacts.
    images: list[JavaScriptImage]

    #: Console lines.
    logs: str

    #: Which engine ran it.
    engine: EngineUsed | None = None

    #: Whether the session said that this is its final answer.
    is_final: bool | None = None

    #: What else is worth knowing: why another engine ran than the one asked for, that a session's state is lost, …
    warnings: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class JavaScriptExecResult:
    """What JavaScript said."""

    #: Whether it ended without an error.
    success: bool

    #: Console lines, then the value, as text.
    output: str

    #: The error with its code frame.
    error: str | None = None

    #: The rich form.
    data: JavaScriptData | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: How long it took.
    execution_time_ms: int | None = None

    #: Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    recorded: bool | None = None

    #: The code, if asked for.
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class JavaScriptImage:
    """A picture that was drawn."""

    #: Its artifact: download it at `/v1/sandboxes/{id}/artifacts/{name}`.
    name: str

    #: `image/png`
    media_type: str

    #: Pixels across.
    width: int | None = None

    #: Pixels down.
    height: int | None = None


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
class ProfileInfo:
    """A profile."""

    #: Its name.
    id: str

    #: The first container's image; means nothing to the local driver.
    image: str

    #: What its first container may use.
    resources: Resources

    #: What it can do.
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
    """The rich form of what Python said."""

    #: How many pieces of code this interpreter has run.
    execution_count: int | None = None

    #: Text and pictures.
    output: PythonOutput


@dataclass(frozen=True, kw_only=True)
class PythonExecResult:
    """What Python said."""

    #: Whether it ended without an error.
    success: bool

    #: What it printed, and the last expression's value.
    output: str

    #: The error with its traceback.
    error: str | None = None

    #: Whether it was ended because its time was over.
    timed_out: bool | None = None

    #: Whether the interpreter had to be replaced: variables and imports are gone.
    state_lost: bool | None = None

    #: The signal that ended the interpreter; none: none has.
    signal: int | None = None

    #: Why it was ended by force; none: it was not, or nobody knows.
    stopped: Stopped | None = None

    #: The rich form.
    data: PythonData | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: How long it took.
    execution_time_ms: int | None = None

    #: Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    recorded: bool | None = None

    #: The code, if asked for.
    code: str | None = None


@dataclass(frozen=True, kw_only=True)
class PythonOutput:
    """Text and pictures."""

    #: The text.
    text: str

    #: Pictures: a media type and base64 each.
    images: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class ReleaseHealth:
    """How a release does, beside what was before it."""

    #: Which release.
    release_id: str

    #: The skill's name.
    skill_key: str

    #: How far it goes.
    stage: str

    #: Watched from.
    window_start_at: datetime

    #: Watched until.
    window_end_at: datetime

    #: Whether that time is over.
    window_complete: bool

    #: How many replays were seen.
    samples: int

    #: How many of them succeeded, from 0 to 1.
    success_rate: float

    #: How many failed, from 0 to 1.
    error_rate: float

    #: The slowest but for one in twenty, in milliseconds.
    p95_duration: int

    #: The release before it: successes.
    baseline_success_rate: float

    #: The release before it: failures.
    baseline_error_rate: float

    #: The release before it: replays seen.
    baseline_samples: int

    #: By how much successes fell.
    success_drop: float

    #: How many times as often it fails.
    error_rate_multiplier: float

    #: Whether all is well.
    healthy: bool

    #: Whether it should be taken back.
    should_rollback: bool

    #: Why.
    rollback_reasons: list[str]

    #: What is held to be well.
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

    #: Counts up in each skill.
    version: int

    #: How far.
    stage: ReleaseStage

    #: Whether it is the one in use: the one of its skill that was released last.
    is_active: bool

    #: `manual` or `auto`.
    release_mode: str

    #: Who released it.
    promoted_by: str | None = None

    #: When.
    promoted_at: datetime

    #: The release that this one takes back.
    rollback_of: str | None = None

    #: The canary that it came from.
    auto_promoted_from: str | None = None

    #: Until when it is watched.
    health_window_end_at: datetime | None = None

    #: The release that it replaces.
    upgrade_of_release_id: str | None = None

    #: Why.
    upgrade_reason: str | None = None

    #: What is new.
    change_summary: str | None = None

    #: Whether it is gone.
    is_deleted: bool

    #: Since when.
    deleted_at: datetime | None = None

    #: By whom.
    deleted_by: str | None = None

    #: Why.
    delete_reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReleaseList:
    """A page of releases."""

    #: Newest first.
    items: list[ReleaseInfo]

    #: How many there are in all.
    total: int

#: How far a release goes.
ReleaseStage = Literal["canary", "stable"]


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a container may use."""

    #: Processors; 0.5 is half of one.
    cpus: float

    #: Memory, as `512m` or `1g`.
    memory: str


@dataclass(frozen=True, kw_only=True)
class SandboxInfo:
    """A sandbox."""

    #: `sandbox-` and 12 hex digits.
    id: str

    #: What it is doing.
    status: SandboxStatus

    #: The profile it was made with.
    profile: str

    #: Its cargo: what is in `/workspace`.
    cargo_id: str

    #: What the profile can do.
    capabilities: list[str]

    #: When it was made.
    created_at: datetime

    #: When it ends; none: never.
    expires_at: datetime | None = None

    #: When its session ends for want of calls; none: no session.
    idle_expires_at: datetime | None = None

    #: Its session's containers, while it has a session.
    containers: list[ContainerInfo] | None = None

    #: What its operator should know, such as `memory: watched, not enforced`.
    warnings: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxList:
    """A page of sandboxes."""

    #: The sandboxes of this page.
    items: list[SandboxInfo]

    #: For the next page; none: this was the last.
    next_cursor: str | None = None

#: What a sandbox is doing.
SandboxStatus = Literal["idle", "starting", "ready", "failed", "expired"]


@dataclass(frozen=True, kw_only=True)
class SchemaErrors:
    """The body of 422: what was sent does not parse, or does not fit its schema."""

    #: Each problem.
    detail: list[SchemaProblem]


@dataclass(frozen=True, kw_only=True)
class SchemaProblem:
    """One problem with what was sent."""

    #: Where: `body`, `query` or `path`, then names and positions.
    loc: list[Any]

    #: What is wrong.
    msg: str

    #: What kind of wrong: `missing`, `json_invalid`, `value_error`, …
    type: str


@dataclass(frozen=True, kw_only=True)
class SentEvent:
    """An event as the stream has it."""

    #: Its number.
    id: str

    event: Any

    #: The whole event as JSON.
    data: str


@dataclass(frozen=True, kw_only=True)
class ShellExecResult:
    """What the shell said."""

    #: Whether its exit code is 0.
    success: bool

    #: What it wrote.
    output: str

    #: Why it failed.
    error: str | None = None

    #: Whether it was ended because its time was over.
    timed_out: bool | None = None

    #: The signal that ended it; none: none has.
    signal: int | None = None

    #: Why it was ended by force; none: it was not, or nobody knows.
    stopped: Stopped | None = None

    #: Its exit code.
    exit_code: int | None = None

    #: Its entry in the history.
    execution_id: str | None = None

    #: How long it took.
    execution_time_ms: int | None = None

    #: Whether the history has it. False: the database could not be written; Bay writes the entry when it can be again.
    recorded: bool | None = None

    #: The command, if asked for.
    command: str | None = None


@dataclass(frozen=True, kw_only=True)
class Status:
    """Done."""

    #: `ok`, `stopped`.
    status: str

#: Why something was ended by force.
StopCause = Literal["memory_limit", "disk_limit"]


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """An ending by force."""

    #: Why.
    cause: StopCause

    #: What may be used, in bytes.
    limit_bytes: int

    #: What was used, in bytes.
    used_bytes: int


@dataclass(frozen=True, kw_only=True)
class TraceContent:
    """Every step of one call."""

    #: One command or several.
    kind: TraceKind

    #: Whether all ran and succeeded.
    success: bool

    #: How many were asked for.
    total_steps: int

    #: How many ran.
    completed_steps: int

    #: Each command that ran: `cmd`, `stdout`, `stderr`, `exit_code`, `step_index`, `duration_ms`; long outputs are cut.
    steps: list[dict[str, Any]]

#: What kind of call a trace is of.
TraceKind = Literal["browser_exec_trace", "browser_batch_trace"]


@dataclass(frozen=True, kw_only=True)
class UploadResult:
    """A file was taken in."""

    #: `ok`
    status: str

    #: Relative to `/workspace`.
    path: str

    #: Its size.
    size: int
