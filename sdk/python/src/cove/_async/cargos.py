"""Cargos: workspaces that outlive a sandbox."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

from cove import models
from cove._async.transport import AsyncTransport
from cove._wire import Request, segment


class AsyncCargos:
    """The caller's cargos."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, *, size_limit_mb: int | None = None, idempotency_key: str | None = None) -> models.CargoInfo:
        """A new cargo; give its id to a sandbox as `cargo_id`."""
        return await self._transport.call(
            Request(
                "POST",
                "/v1/cargos",
                body={"size_limit_mb": size_limit_mb},
                idempotency_key=idempotency_key or uuid.uuid4().hex,
            ),
            models.CargoInfo,
        )

    async def get(self, cargo_id: str) -> models.CargoInfo:
        """One that is there."""
        return await self._transport.call(Request("GET", f"/v1/cargos/{segment(cargo_id)}"), models.CargoInfo)

    async def list(
        self, *, managed: bool | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.CargoList:
        """One page of those that you made; with `managed=True`, of those that were made for a sandbox."""
        return await self._transport.call(
            Request("GET", "/v1/cargos", query={"managed": managed, "limit": limit, "cursor": cursor}), models.CargoList
        )

    async def all(self, *, managed: bool | None = None) -> AsyncIterator[models.CargoInfo]:
        """The same as `list`, page by page to the end."""
        cursor: str | None = None
        while True:
            page = await self.list(managed=managed, cursor=cursor)
            for info in page.items:
                yield info
            cursor = page.next_cursor
            if cursor is None:
                return

    async def delete(self, cargo_id: str) -> None:
        """Deletes one; refused while a sandbox uses it."""
        await self._transport.send(Request("DELETE", f"/v1/cargos/{segment(cargo_id)}"))
