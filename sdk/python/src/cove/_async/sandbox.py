"""One sandbox, and what can be done in it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import datetime
from types import TracebackType

from cove import errors, models
from cove._async.artifacts import AsyncArtifacts
from cove._async.browser import AsyncBrowser
from cove._async.files import AsyncFiles
from cove._async.history import AsyncHistory
from cove._async.javascript import AsyncJavaScript
from cove._async.processes import AsyncProcesses
from cove._async.python import AsyncPython
from cove._async.shell import AsyncShell
from cove._async.transport import AsyncTransport
from cove._wire import Request, decode, segment


class AsyncSandbox:
    """A sandbox. `info` is what the server last said about it; `refresh` asks again."""

    def __init__(self, transport: AsyncTransport, info: models.SandboxInfo) -> None:
        self._transport = transport
        self._base = f"/v1/sandboxes/{segment(info.id)}"
        self.info = info
        self.javascript = AsyncJavaScript(transport, self._base)
        self.python = AsyncPython(transport, self._base)
        self.shell = AsyncShell(transport, self._base)
        self.processes = AsyncProcesses(transport, self._base)
        self.files = AsyncFiles(transport, self._base)
        self.browser = AsyncBrowser(transport, self._base)
        self.history = AsyncHistory(transport, self._base)
        self.artifacts = AsyncArtifacts(transport, self._base)

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

    async def __aenter__(self) -> AsyncSandbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.delete()
        except errors.CoveError:
            # What went wrong in the block matters more than that its sandbox stays.
            if fault is None:
                raise

    async def refresh(self) -> AsyncSandbox:
        """Asks the server about it."""
        self.info = await self._transport.call(Request("GET", self._base), models.SandboxInfo)
        return self

    async def extend_ttl(self, seconds: int, *, idempotency_key: str | None = None) -> AsyncSandbox:
        """Moves its end by this much, counted from its end or from now, whichever is later."""
        self.info = await self._transport.call(
            Request(
                "POST",
                f"{self._base}/extend_ttl",
                body={"extend_by": seconds},
                idempotency_key=idempotency_key or uuid.uuid4().hex,
            ),
            models.SandboxInfo,
        )
        return self

    async def keepalive(self) -> None:
        """Puts off the end of its session for want of calls. Starts nothing."""
        await self._transport.send(Request("POST", f"{self._base}/keepalive", harmless=True))

    async def stop(self) -> None:
        """Ends its processes and keeps its files; the next call starts it again."""
        await self._transport.send(Request("POST", f"{self._base}/stop", harmless=True))

    async def delete(self) -> None:
        """Ends it for good, with its files unless they are a cargo's of their own."""
        await self._transport.send(Request("DELETE", self._base))

    async def ports(self) -> list[models.PortInfo]:
        """The ports on which programs in it listen. Starts nothing."""
        return (await self._transport.call(Request("GET", f"{self._base}/ports"), models.PortList)).items

    async def port_url(self, port: int, *, seconds: int | None = None) -> str:
        """An address by which whoever has it uses a port in a browser. It works for an hour, or for so many seconds."""
        body = {"port": port, "seconds": seconds}
        request = Request("POST", f"{self._base}/port_links", body=body, harmless=True)
        return (await self._transport.call(request, models.CreatedPortLink)).url

    async def port_links(self) -> list[models.PortLink]:
        """The links to its ports that work, without their addresses."""
        return (await self._transport.call(Request("GET", f"{self._base}/port_links"), models.PortLinkList)).items

    async def revoke_port_link(self, link_id: str) -> None:
        """Revokes a link: nobody gets in with it any more."""
        await self._transport.send(Request("DELETE", f"{self._base}/port_links/{segment(link_id)}"))

    async def network(self) -> models.SandboxNetwork:
        """The hosts that it may reach, and its last connections. Starts nothing."""
        return await self._transport.call(Request("GET", f"{self._base}/network"), models.SandboxNetwork)

    async def set_network(self, allow_hosts: list[str] | None) -> models.SandboxNetwork:
        """Opens these hosts and no others, at once, also for connections that are open; None: those of its profile."""
        request = Request("PUT", f"{self._base}/network", body={"allow_hosts": allow_hosts}, harmless=True)
        return await self._transport.call(request, models.SandboxNetwork)

    async def events(self, *, after: int | None = None) -> AsyncIterator[models.Event]:
        """What happens in it, as it happens; `after` goes on behind that number. Ends with the sandbox."""
        async with self._transport.listen(f"{self._base}/events", {"after": after}) as events:
            async for event in events:
                yield decode(models.Event, event)
