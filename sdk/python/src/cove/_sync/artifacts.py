"""Artifacts: pictures and other results of a sandbox's JavaScript."""
# Written by scripts/write_sync.py from _async/artifacts.py; a change here is lost.

from __future__ import annotations

from cove import models
from cove._sync.transport import Transport
from cove._wire import Request, segment
from cove.image import Image


class Artifacts:
    """A sandbox's artifacts."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/artifacts"

    def list(self) -> list[models.ArtifactInfo]:
        """All of them, newest first."""
        return (self._transport.call(Request("GET", self._base), models.ArtifactList)).items

    def download(self, name: str) -> bytes:
        """One, as bytes."""
        return (self._transport.send(Request("GET", f"{self._base}/{segment(name)}"))).content

    def image(self, image: models.JavaScriptImage) -> Image:
        """A picture that a run spoke of."""
        data = self.download(image.name)
        return Image(data=data, media_type=image.media_type, name=image.name, width=image.width, height=image.height)
