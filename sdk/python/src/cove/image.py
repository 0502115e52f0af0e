"""A picture: its bytes, and how a notebook shows it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Image:
    """A picture that guest code drew, or a page's."""

    data: bytes = field(repr=False)
    media_type: str = "image/png"
    #: Its name among the sandbox's artifacts, or its path in the workspace; `None`: it came with the answer.
    name: str | None = None
    width: int | None = None
    height: int | None = None

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes it to a file of this machine."""
        target = Path(path)
        target.write_bytes(self.data)
        return target

    def _repr_png_(self) -> bytes | None:
        return self.data if self.media_type == "image/png" else None

    def _repr_jpeg_(self) -> bytes | None:
        return self.data if self.media_type == "image/jpeg" else None

    def _repr_svg_(self) -> str | None:
        return self.data.decode("utf-8", "replace") if self.media_type == "image/svg+xml" else None


def from_bundle(bundle: dict[str, Any]) -> Image | None:
    """A picture as Python's display gives it: a media type and base64 (SVG as text)."""
    for media_type, content in bundle.items():
        if not media_type.startswith("image/") or not isinstance(content, str):
            continue
        if media_type == "image/svg+xml" and content.lstrip().startswith("<"):
            return Image(data=content.encode(), media_type=media_type)
        return Image(data=base64.b64decode(content), media_type=media_type)
    return None
