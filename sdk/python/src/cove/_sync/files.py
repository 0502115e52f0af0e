"""Files in a sandbox's workspace. Paths are relative to it."""
# Written by scripts/write_sync.py from _async/files.py; a change here is lost.

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import IO, Any

from cove import models
from cove._sync.transport import Transport
from cove._upload import Content, Upload, sink
from cove._wire import Request
from cove.results import FileAnswer, FolderNews, folder_news


class Files:
    """The workspace."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/filesystem"

    def read(self, path: str) -> str:
        """A text file's content."""
        answer = self._transport.call(
            Request("GET", f"{self._base}/files", query={"path": path}), models.FileContent
        )
        return answer.content

    def write(self, path: str, content: str) -> None:
        """Writes a text file; folders on the way are made."""
        self._transport.send(Request("PUT", f"{self._base}/files", body={"path": path, "content": content}))

    def delete(self, path: str) -> None:
        """Deletes a file or a folder."""
        self._transport.send(Request("DELETE", f"{self._base}/files", query={"path": path}))

    def list(self, path: str = ".") -> list[models.FileInfo]:
        """A folder's entries, hidden ones too."""
        answer = self._transport.call(
            Request("GET", f"{self._base}/directories", query={"path": path}), models.DirectoryList
        )
        return answer.entries

    def upload(self, path: str, content: Content) -> models.UploadResult:
        """Takes a file into the workspace: bytes, a `pathlib.Path` of this machine, an open file or pieces.

        It is sent as it is read: a large file is never whole in memory.
        """
        upload = Upload(path, content)
        return self._transport.call(
            # The same bytes at the same place: sent twice, the result is the same.
            Request("POST", f"{self._base}/upload", upload=upload, timeout=600.0, harmless=True),
            models.UploadResult,
        )

    def download(self, path: str) -> bytes:
        """A file's bytes, in memory; for large ones there is `download_to`."""
        request = Request("GET", f"{self._base}/download", query={"path": path}, timeout=600.0)
        return (self._transport.send(request)).content

    def download_to(self, path: str, target: PathLike[str] | IO[bytes]) -> int:
        """Writes a file's bytes to a file of this machine as they come, and gives their number.

        `target` is a `pathlib.Path`, which is there whole or not at all, or an open file.
        """
        request = Request("GET", f"{self._base}/download", query={"path": path}, timeout=600.0)
        return self._transport.save(request, sink(target))

    def edit(self, path: str, old: str, new: str) -> FileAnswer:
        """Replaces a text that occurs exactly once; answers with what changed."""
        return self._tool("edit", {"path": path, "oldText": old, "newText": new})

    def grep(
        self,
        pattern: str,
        path: str | None = None,
        *,
        glob: str | None = None,
        ignore_case: bool | None = None,
        literal: bool | None = None,
        context: int | None = None,
        limit: int | None = None,
    ) -> FileAnswer:
        """Lines that match a regular expression (or a plain text, with `literal`)."""
        return self._tool(
            "grep",
            {
                "pattern": pattern,
                "path": path,
                "glob": glob,
                "ignoreCase": ignore_case,
                "literal": literal,
                "context": context,
                "limit": limit,
            },
        )

    def find(self, pattern: str, path: str | None = None, *, limit: int | None = None) -> FileAnswer:
        """Files whose names match: `*.rs` at any depth, `src/**/*.rs` as a path."""
        return self._tool("find", {"pattern": pattern, "path": path, "limit": limit})

    def _tool(self, tool: str, arguments: dict[str, Any]) -> FileAnswer:
        return self._transport.call(Request("POST", f"{self._base}/tools/{tool}", body=arguments), FileAnswer)

    def watch(self, path: str = ".", *, recursive: bool = False) -> Iterator[FolderNews]:
        """What changes in a folder. The first news is `watching`: from then on nothing is missed."""
        query = {"path": path, "recursive": recursive}
        with self._transport.listen(f"{self._base}/watch", query) as frames:
            for frame in frames:
                yield folder_news(frame)
