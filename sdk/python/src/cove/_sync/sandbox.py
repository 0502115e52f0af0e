"""One sandbox, and what can be done in it."""
# Written by scripts/write_sync.py from _async/sandbox.py; a change here is lost.

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from types import TracebackType

from cove import errors, models
from cove._sync.artifacts import Artifacts
from cove._sync.browser import Browser
from cove._sync.files import Files
from cove._sync.history import History
from cove._sync.javascript import JavaScript
from cove._sync.processes import Processes
from cove._sync.python import Python
from cove._sync.shell import Shell
from cove._sync.transport import Transport
from cove._wire import Request, decode, segment


class Sandbox:
    """A sandbox. `info` is what the server last said about it; `refresh` asks again."""

    def __init__(self, transport: Transport, info: models.SandboxInfo) -> None:
        self._transport = transport
        self._base = f"/v1/sandboxes/{segment(info.id)}"
        self.info = info
        self.javascript = JavaScript(transport, self._base)
        self.python = Python(transport, self._base)
        self.shell = Shell(transport, self._base)
        self.processes = Processes(transport, self._base)
        self.files = Files(transport, self._base)
        self.browser = Browser(transport, self._base)
        self.history = History(transport, self._base)
        self.artifacts = Artifacts(transport, self._base)

    @property
    def id(self) -> str:
        """Its name for the server."""
        return self.info.id

    @property
    def status(self) -> models.SandboxStatus:
        """What it was doing when the server last spoke of it."""
        return self.info.status

    @property
    def profile(self) -> str:
        """What it was made of."""
        return self.info.profile

    @property
    def capabilities(self) -> list[str]:
        """What its profile can do."""
        return self.info.capabilities

    @property
    def cargo_id(self) -> str:
        """Its workspace."""
        return self.info.cargo_id

    @property
    def expires_at(self) -> datetime | None:
        """When it ends; `None`: never."""
        return self.info.expires_at

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.profile} {self.status}>"

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.delete()
        except errors.CoveError:
            # What went wrong in the block matters more than that its sandbox stays.
            if fault is None:
                raise

    def refresh(self) -> Sandbox:
        """Asks the server about it."""
        self.info = self._transport.call(Request("GET", self._base), models.SandboxInfo)
        return self

    def extend_ttl(self, seconds: int, *, idempotency_key: str | None = None) -> Sandbox:
        """Moves its end by this much, counted from its end or from now, whichever is later."""
        self.info = self._transport.call(
            Request(
                "POST",
                f"{self._base}/extend_ttl",
                body={"extend_by": seconds},
                idempotency_key=idempotency_key or uuid.uuid4().hex,
            ),
            models.SandboxInfo,
        )
        return self

    def keepalive(self) -> None:
        """Puts off the end of its session for want of calls. Starts nothing."""
        self._transport.send(Request("POST", f"{self._base}/keepalive", harmless=True))

    def stop(self) -> None:
        """Ends its processes and keeps its files; the next call starts it again."""
        self._transport.send(Request("POST", f"{self._base}/stop", harmless=True))

    def delete(self) -> None:
        """Ends it for good, with its files unless they are a cargo's of their own."""
        self._transport.send(Request("DELETE", self._base))

    def ports(self) -> list[models.PortInfo]:
        """The ports on which programs in it listen. Starts nothing."""
        return (self._transport.call(Request("GET", f"{self._base}/ports"), models.PortList)).items

    def port_url(self, port: int, *, seconds: int | None = None) -> str:
        """An address by which whoever has it uses a port in a browser. It works for an hour, or for so many seconds."""
        body = {"port": port, "seconds": seconds}
        request = Request("POST", f"{self._base}/port_links", body=body, harmless=True)
        return (self._transport.call(request, models.CreatedPortLink)).url

    def port_links(self) -> list[models.PortLink]:
        """The links to its ports that work, without their addresses."""
        return (self._transport.call(Request("GET", f"{self._base}/port_links"), models.PortLinkList)).items

    def revoke_port_link(self, link_id: str) -> None:
        """Revokes a link: nobody gets in with it any more."""
        self._transport.send(Request("DELETE", f"{self._base}/port_links/{segment(link_id)}"))

    def network(self) -> models.SandboxNetwork:
        """The hosts that it may reach, and its last connections. Starts nothing."""
        return self._transport.call(Request("GET", f"{self._base}/network"), models.SandboxNetwork)

    def set_network(self, allow_hosts: list[str] | None) -> models.SandboxNetwork:
        """Opens these hosts and no others, at once, also for connections that are open; None: those of its profile."""
        request = Request("PUT", f"{self._base}/network", body={"allow_hosts": allow_hosts}, harmless=True)
        return self._transport.call(request, models.SandboxNetwork)

    def events(self, *, after: int | None = None) -> Iterator[models.Event]:
        """What happens in it, as it happens; `after` goes on behind that number. Ends with the sandbox."""
        with self._transport.listen(f"{self._base}/events", {"after": after}) as events:
            for event in events:
                yield decode(models.Event, event)
