"""Sandboxes: make, find, list."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping

from cove import models
from cove._async.sandbox import AsyncSandbox
from cove._async.transport import AsyncTransport
from cove._wire import Request, segment


class AsyncSandboxes:
    """The caller's sandboxes."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        profile: str = "python-default",
        *,
        cargo_id: str | None = None,
        ttl: int | None = None,
        metadata: Mapping[str, str] | None = None,
        keep_session: bool | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncSandbox:
        """A new sandbox that ends after `ttl` seconds (`None`: never). Nothing starts before its first call.

        `metadata` are words of your own; with `keep_session` its processes go on without calls for as long as it lives.
        """
        info = await self._transport.call(
            Request(
                "POST",
                "/v1/sandboxes",
                body={
                    "profile": profile,
                    "cargo_id": cargo_id,
                    "ttl": ttl,
                    "metadata": dict(metadata) if metadata is not None else None,
                    "keep_session": keep_session,
                },
                # A key of its own, so that a call which broke off can be repeated and still makes one sandbox.
                idempotency_key=idempotency_key or uuid.uuid4().hex,
            ),
            models.SandboxInfo,
        )
        return AsyncSandbox(self._transport, info)

    async def get(self, sandbox_id: str) -> AsyncSandbox:
        """One that is there."""
        info = await self._transport.call(Request("GET", f"/v1/sandboxes/{segment(sandbox_id)}"), models.SandboxInfo)
        return AsyncSandbox(self._transport, info)

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: models.SandboxStatus | None = None,
        usage: bool = False,
    ) -> models.SandboxList:
        """One page; with `usage`, what each session uses."""
        query = {"limit": limit, "cursor": cursor, "status": status, "usage": usage or None}
        return await self._transport.call(Request("GET", "/v1/sandboxes", query=query), models.SandboxList)

    async def all(self, *, status: models.SandboxStatus | None = None) -> AsyncIterator[AsyncSandbox]:
        """All of them, page by page."""
        cursor: str | None = None
        while True:
            page = await self.list(cursor=cursor, status=status)
            for info in page.items:
                yield AsyncSandbox(self._transport, info)
            cursor = page.next_cursor
            if cursor is None:
                return

    async def delete(self, sandbox_id: str) -> None:
        """Deletes one; also fine when it is gone."""
        await self._transport.send(Request("DELETE", f"/v1/sandboxes/{segment(sandbox_id)}"))
