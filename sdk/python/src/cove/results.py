"""What guest code answers: the server's own models, with pictures as bytes and `check()`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from cove import models
from cove._wire import decode
from cove.errors import RunFailedError, from_answer
from cove.image import Image, from_bundle


class _Answer(Protocol):
    @property
    def success(self) -> bool: ...


A = TypeVar("A", bound=_Answer)


class _Checked:
    """A result that may be a failure. Failures of guest code are values; `check` makes one an exception."""

    def check(self: A) -> A:
        """Itself if it succeeded; else `RunFailedError`."""
        if not self.success:
            said = getattr(self, "error", None) or getattr(self, "stderr", None) or getattr(self, "output", None)
            raise RunFailedError(str(said or "failed without an error message"), self)
        return self


@dataclass(frozen=True, kw_only=True)
class PythonRun(models.PythonExecResult, _Checked):
    """What Python said."""

    @property
    def images(self) -> list[Image]:
        """Pictures that were shown, as bytes."""
        if self.data is None:
            return []
        return [image for image in map(from_bundle, self.data.output.images) if image is not None]


@dataclass(frozen=True, kw_only=True)
class Output:
    """What Python or a command has written since the last time: whole lines, unless one has waited long for its end."""

    stream: Literal["stdout", "stderr"]
    text: str
    #: Bytes that were left out beside it, because more was written than can be told at once. The result has them.
    dropped: int = 0


@dataclass(frozen=True, kw_only=True)
class ShellRun(models.ShellExecResult, _Checked):
    """What the shell said."""


@dataclass(frozen=True, kw_only=True)
class JavaScriptRun(models.JavaScriptExecResult, _Checked):
    """What JavaScript said."""

    #: Pictures that were drawn, as bytes.
    images: list[Image] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """What the code returned; `None` after a failure."""
        return self.data.result if self.success and self.data is not None else None

    @property
    def failure(self) -> dict[str, Any] | None:
        """The failure for programs: code, message, line, frame."""
        result = self.data.result if not self.success and self.data is not None else None
        return result if isinstance(result, dict) else None

    @property
    def logs(self) -> str:
        """Console lines."""
        return self.data.logs if self.data is not None else ""

    @property
    def warnings(self) -> list[str]:
        """What was lost of the value on its way (a `Map` is `{}` in JSON), and what to write instead."""
        return (self.data.warnings or []) if self.data is not None else []

    @property
    def is_final(self) -> bool:
        """Whether the session called `final_answer`."""
        return bool(self.data is not None and self.data.is_final)


@dataclass(frozen=True, kw_only=True)
class BrowserRun(models.BrowserExecResult, _Checked):
    """The result of a browser command. It contains text of the page: do not trust it."""


@dataclass(frozen=True, kw_only=True)
class BrowserBatch(models.BrowserBatchResult, _Checked):
    """The results of several browser commands."""


@dataclass(frozen=True, kw_only=True)
class BrowserReplay(models.BrowserSkillResult, _Checked):
    """What the replay of a skill did."""


@dataclass(frozen=True, kw_only=True)
class Screenshot(BrowserRun):
    """A picture of the page."""

    #: Where it is in the workspace.
    path: str = ""
    #: The picture; `None` if none could be taken.
    image: Image | None = None

    def _repr_png_(self) -> bytes | None:
        return self.image._repr_png_() if self.image is not None else None


@dataclass(frozen=True, kw_only=True)
class FileAnswer:
    """What a file tool answers: blocks of content, as a model gets them, and facts for programs."""

    content: list[dict[str, Any]]
    details: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """All text of it."""
        return "\n".join(str(block["text"]) for block in self.content if block.get("type") == "text")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class ProcessNews:
    """What has happened to a process that is followed."""

    kind: Literal["process", "output", "ended"]
    #: Which process it is, and at its end how that was.
    process: models.ProcessInfo | None = None
    #: Where it has written to.
    stream: models.ProcessStream | None = None
    #: What it has written.
    output: bytes = b""
    #: The end of that, in bytes of all that the process has written: `after` begins behind it.
    end: int = 0
    #: How many bytes before it are lost: they are no longer kept.
    dropped: int = 0


def process_news(frame: Mapping[str, Any]) -> ProcessNews:
    """Reads one event of the stream; one that says what went wrong is raised."""
    if "output" in frame:
        chunk = decode(models.ProcessChunk, frame["output"])
        data = base64.b64decode(chunk.data)
        return ProcessNews(kind="output", stream=chunk.stream, output=data, end=chunk.end, dropped=chunk.dropped or 0)
    if "ended" in frame:
        return ProcessNews(kind="ended", process=decode(models.ProcessInfo, frame["ended"]))
    if "process" in frame:
        return ProcessNews(kind="process", process=decode(models.ProcessInfo, frame["process"]))
    raise from_answer(0, frame, str(frame), None)


@dataclass(frozen=True, kw_only=True)
class FolderNews:
    """What has happened in a folder that is watched."""

    kind: Literal["watching", "event", "lost", "gone"]
    #: What has changed.
    event: models.FolderEvent | None = None
    #: How many events are lost, because too many came at once.
    lost: int = 0


def folder_news(frame: Mapping[str, Any]) -> FolderNews:
    """Reads one event of the stream; one that says what went wrong is raised."""
    if "watching" in frame:
        return FolderNews(kind="watching")
    if "gone" in frame:
        return FolderNews(kind="gone")
    if "event" in frame:
        return FolderNews(kind="event", event=decode(models.FolderEvent, frame["event"]))
    if "lost" in frame:
        return FolderNews(kind="lost", lost=frame["lost"])
    raise from_answer(0, frame, str(frame), None)
