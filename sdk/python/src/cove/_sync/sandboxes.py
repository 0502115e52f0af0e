"""Sandboxes: make, find, list."""
# Written by scripts/write_sync.py from _async/sandboxes.py; a change here is lost.

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping

from cove import models
from cove._sync.sandbox import Sandbox
from cove._sync.transport import Transport
from cove._wire import Request, segment


class Sandboxes:
    """The caller's sandboxes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        profile: str = "python-default",
        *,
        cargo_id: str | None = None,
        ttl: int | None = None,
        metadata: Mapping[str, str] | None = None,
        keep_session: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Sandbox:
        """A new sandbox that ends after `ttl` seconds (`None`: never). Nothing starts before its first call.

        `metadata` are words of your own; with `keep_session` its processes go on without calls for as long as it lives.
        """
        info = self._transport.call(
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
        return Sandbox(self._transport, info)

    def get(self, sandbox_id: str) -> Sandbox:
        """One that is there."""
        info = self._transport.call(Request("GET", f"/v1/sandboxes/{segment(sandbox_id)}"), models.SandboxInfo)
        return Sandbox(self._transport, info)

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: models.SandboxStatus | None = None,
        usage: bool = False,
    ) -> models.SandboxList:
        """One page; with `usage`, what each session uses."""
        query = {"limit": limit, "cursor": cursor, "status": status, "usage": usage or None}
        return self._transport.call(Request("GET", "/v1/sandboxes", query=query), models.SandboxList)

    def all(self, *, status: models.SandboxStatus | None = None) -> Iterator[Sandbox]:
        """All of them, page by page."""
        cursor: str | None = None
        while True:
            page = self.list(cursor=cursor, status=status)
            for info in page.items:
                yield Sandbox(self._transport, info)
            cursor = page.next_cursor
            if cursor is None:
                return

    def delete(self, sandbox_id: str) -> None:
        """Deletes one; also fine when it is gone."""
        self._transport.send(Request("DELETE", f"/v1/sandboxes/{segment(sandbox_id)}"))
