"""Artifacts: pictures and other results of a sandbox's JavaScript."""

from __future__ import annotations

from cove import models
from cove._async.transport import AsyncTransport
from cove._wire import Request, segment
from cove.image import Image


class AsyncArtifacts:
    """A sandbox's artifacts."""

    def __init__(self, transport: AsyncTransport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/artifacts"

    async def list(self) -> list[models.ArtifactInfo]:
        """All of them, newest first."""
        return (await self._transport.call(Request("GET", self._base), models.ArtifactList)).items

    async def download(self, name: str) -> bytes:
        """One, as bytes."""
        return (await self._transport.send(Request("GET", f"{self._base}/{segment(name)}"))).content

    async def image(self, image: models.JavaScriptImage) -> Image:
        """A picture that a run spoke of."""
        data = await self.download(image.name)
        return Image(data=data, media_type=image.media_type, name=image.name, width=image.width, height=image.height)
