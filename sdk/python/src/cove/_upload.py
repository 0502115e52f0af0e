"""A file on its way: out as a form that is read piece by piece, in as bytes that are written as they come.

Neither is ever whole in memory. A file that is sent from its name, or from an open file that can go back, can be sent
again after a broken connection; what comes from an iterator can not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any, Protocol, cast

#: What may be sent: bytes, a file of this machine by its path (not its name as text), an open file, or pieces.
Content = bytes | bytearray | memoryview | PathLike[str] | IO[bytes] | Iterable[bytes]
#: The same, or pieces that are awaited.
AsyncContent = Content | AsyncIterable[bytes]

#: How much of a file is in memory at once.
PIECE = 1 << 18


class Upload:
    """A form with a path and a file."""

    def __init__(self, path: str, content: AsyncContent) -> None:
        if isinstance(content, str):
            raise TypeError("a text is no file: use files.write, or a pathlib.Path for a file of this machine")
        self._content = content
        self._begin = _position(content)
        boundary = f"cove-{secrets.token_hex(16)}"
        name = _quoted(path.rsplit("/", 1)[-1] or "file")
        # The path comes first: then the server need not keep the file until it knows where it goes.
        self._head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="path"\r\n\r\n{path}\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self.headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        size = self._size()
        if size is not None:
            self.headers["Content-Length"] = str(len(self._head) + size + len(self._tail))

    @property
    def repeatable(self) -> bool:
        """Whether it can be sent a second time."""
        return isinstance(self._content, (bytes, bytearray, memoryview, PathLike)) or self._begin is not None

    def pieces(self) -> Iterator[bytes]:
        """The form, for the client that waits."""
        yield self._head
        yield from self._file()
        yield self._tail

    async def awaited_pieces(self) -> AsyncIterator[bytes]:
        """The form, for the client that awaits: files are read in threads."""
        yield self._head
        if isinstance(self._content, AsyncIterable):
            async for piece in self._content:
                yield piece
        else:
            pieces = self._file()
            while piece := await asyncio.to_thread(_next, pieces):
                yield piece
        yield self._tail

    def _file(self) -> Iterator[bytes]:
        content = self._content
        if isinstance(content, (bytes, bytearray, memoryview)):
            view = memoryview(content)
            for begin in range(0, len(view), PIECE):
                yield bytes(view[begin : begin + PIECE])
        elif isinstance(content, PathLike):
            with open(content, "rb") as local:
                yield from _read(local)
        elif hasattr(content, "read"):
            file = cast(IO[bytes], content)
            if self._begin is not None:
                file.seek(self._begin)
            yield from _read(file)
        elif isinstance(content, AsyncIterable):
            raise TypeError("these pieces are awaited: use AsyncCove")
        else:
            # An empty piece says nothing; to who awaits it would say that this is the end.
            yield from filter(None, content)

    def _size(self) -> int | None:
        content = self._content
        if isinstance(content, (bytes, bytearray, memoryview)):
            return memoryview(content).nbytes
        if isinstance(content, PathLike):
            # Not of what is no plain file: a pipe has no size.
            return os.stat(content).st_size if Path(content).is_file() else None
        if self._begin is not None:
            file = cast(IO[bytes], content)
            end = file.seek(0, os.SEEK_END)
            file.seek(self._begin)
            return end - self._begin
        return None


class Sink(Protocol):
    """Where a download goes."""

    def write(self, piece: bytes) -> None: ...
    def restart(self) -> bool:
        """Forgets what came; `False` where that cannot be."""
        ...

    def close(self, whole: bool) -> None: ...


class FileSink:
    """A file of this machine: whole under its name, or not there."""

    def __init__(self, place: PathLike[str]) -> None:
        self._place = Path(place)
        self._part = self._place.with_name(f".{self._place.name}.{secrets.token_hex(6)}.part")
        self._file = self._part.open("xb")

    def write(self, piece: bytes) -> None:
        """Takes a piece."""
        self._file.write(piece)

    def restart(self) -> bool:
        """Forgets what came."""
        self._file.seek(0)
        self._file.truncate()
        return True

    def close(self, whole: bool) -> None:
        """Ends it; the file gets its name if all of it is there."""
        self._file.close()
        if whole:
            os.replace(self._part, self._place)
        else:
            with contextlib.suppress(OSError):
                self._part.unlink()


class OpenSink:
    """An open file, written to as it is."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._wrote = False

    def write(self, piece: bytes) -> None:
        """Takes a piece."""
        self._wrote = True
        self._file.write(piece)

    def restart(self) -> bool:
        """Only where nothing came yet: what is before it in the file is somebody else's."""
        return not self._wrote

    def close(self, whole: bool) -> None:
        """The file stays open: it is the caller's."""


def sink(target: PathLike[str] | IO[bytes]) -> Sink:
    """Where a download goes."""
    return FileSink(target) if isinstance(target, PathLike) else OpenSink(target)


def _next(pieces: Iterator[bytes]) -> bytes:
    return next(pieces, b"")


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _position(content: Any) -> int | None:
    """Where an open file is that can go back there."""
    if not hasattr(content, "read") or not hasattr(content, "seek"):
        return None
    try:
        return int(content.tell()) if content.seekable() else None
    except (OSError, ValueError, AttributeError):
        return None


def _quoted(name: str) -> str:
    """A name as forms have it."""
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
