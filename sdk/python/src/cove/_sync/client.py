"""The door: one client for one server."""
# Written by scripts/write_sync.py from _async/client.py; a change here is lost.

from __future__ import annotations

from types import TracebackType

import httpx

from cove import models
from cove._sync.approvals import Approvals
from cove._sync.cargos import Cargos
from cove._sync.sandbox import Sandbox
from cove._sync.sandboxes import Sandboxes
from cove._sync.skills import Skills
from cove._sync.transport import Transport
from cove._config import Config
from cove._options import Options
from cove._wire import Request


class Cove:
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._transport = Transport(
            Options(url=url, key=key, start=start, config=config, retries=retries, transport=transport)
        )
        #: Sandboxes: make, find, list.
        self.sandboxes = Sandboxes(self._transport)
        #: Cargos: workspaces that outlive a sandbox.
        self.cargos = Cargos(self._transport)
        #: Approvals: calls that wait for a person.
        self.approvals = Approvals(self._transport)
        #: Skills: what was learnt from executions.
        self.skills = Skills(self._transport)

    def __enter__(self) -> Cove:
        self._transport.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes connections, and ends the server if this client started it."""
        self._transport.close()

    def url(self) -> str:
        """The server's address; finds or starts it first."""
        return self._transport.url()

    def sandbox(
        self,
        profile: str = "python-default",
        *,
        cargo_id: str | None = None,
        ttl: int | None = None,
        idempotency_key: str | None = None,
    ) -> Sandbox:
        """A new sandbox; at the end of its `with` block it is deleted."""
        return self.sandboxes.create(profile, cargo_id=cargo_id, ttl=ttl, idempotency_key=idempotency_key)

    def profiles(self, *, detail: bool = False) -> list[models.ProfileInfo]:
        """The profiles from which sandboxes are created."""
        answer = self._transport.call(
            Request("GET", "/v1/profiles", query={"detail": detail or None}), models.ProfileList
        )
        return answer.items

    def health(self) -> models.Health:
        """Whether the server is there, and its version."""
        return self._transport.call(Request("GET", "/health"), models.Health)
