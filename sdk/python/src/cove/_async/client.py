"""The door: one client for one server."""

from __future__ import annotations

from types import TracebackType

import httpx

from cove import models
from cove._async.approvals import AsyncApprovals
from cove._async.cargos import AsyncCargos
from cove._async.sandbox import AsyncSandbox
from cove._async.sandboxes import AsyncSandboxes
from cove._async.skills import AsyncSkills
from cove._async.transport import AsyncTransport, Opening
from cove._config import Config
from cove._options import Options
from cove._wire import Request


class AsyncCove:
    """A client. Without a `url` it finds a server or starts one (see `docs/sdk-python.md`), at the first call.

    `key` is the server's API key. `start=True` always starts a server of its own, `start=False` never does; `config`
    says what a server of its own is to be like, and starts one.
    `retries` is how often a call that may be repeated is sent again. `transport` is httpx's own: proxies, certificates.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        start: bool | None = None,
        config: Config | None = None,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            Options(url=url, key=key, start=start, config=config, retries=retries, async_transport=transport)
        )
        #: Sandboxes: make, find, list.
        self.sandboxes = AsyncSandboxes(self._transport)
        #: Cargos: workspaces that outlive a sandbox.
        self.cargos = AsyncCargos(self._transport)
        #: Approvals: calls that wait for a person.
        self.approvals = AsyncApprovals(self._transport)
        #: Skills: what was learnt from executions.
        self.skills = AsyncSkills(self._transport)

    async def __aenter__(self) -> AsyncCove:
        await self._transport.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes connections, and ends the server if this client started it."""
        await self._transport.aclose()

    async def url(self) -> str:
        """The server's address; finds or starts it first."""
        return await self._transport.url()

    def sandbox(
        self,
        profile: str = "python-default",
        *,
        cargo_id: str | None = None,
        ttl: int | None = None,
        idempotency_key: str | None = None,
    ) -> Opening[AsyncSandbox]:
        """A new sandbox; at the end of its `with` block it is deleted."""
        return Opening(self.sandboxes.create(profile, cargo_id=cargo_id, ttl=ttl, idempotency_key=idempotency_key))

    async def profiles(self, *, detail: bool = False) -> list[models.ProfileInfo]:
        """The profiles from which sandboxes are created."""
        answer = await self._transport.call(
            Request("GET", "/v1/profiles", query={"detail": detail or None}), models.ProfileList
        )
        return answer.items

    async def health(self) -> models.Health:
        """Whether the server is there, and its version."""
        return await self._transport.call(Request("GET", "/health"), models.Health)
