"""Sending, for the client that awaits: connections, attempts, events. Its twin is `_sync/transport.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

import httpx

from cove import errors
from cove._find import Place, find
from cove._options import Options, broken, client_options, failure
from cove._retry import Attempts
from cove._sse import Lines
from cove._upload import PIECE, Sink
from cove._wire import Request, decode

T = TypeVar("T")


class _Closes(Protocol):
    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None: ...


C = TypeVar("C", bound=_Closes)


class Opening(Generic[C]):
    """Something that is being made: `await` it, or use it with `async with`."""

    def __init__(self, making: Awaitable[C]) -> None:
        self._making = making
        self._made: C | None = None

    def __await__(self) -> Generator[Any, Any, C]:
        return self._making.__await__()

    async def __aenter__(self) -> C:
        self._made = await self._making
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._made is not None:
            await self._made.__aexit__(kind, fault, trace)


async def in_thread(work: Callable[[], T]) -> T:
    """Work that blocks."""
    return await asyncio.to_thread(work)


class AsyncTransport:
    """One server, found at the first call."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._place: Place | None = None
        self._client: httpx.AsyncClient | None = None
        self._connecting = asyncio.Lock()
        self._closed = False

    async def connect(self) -> httpx.AsyncClient:
        """The connections, made when first needed."""
        async with self._connecting:
            if self._closed:
                raise errors.CoveError("this client is closed")
            if self._client is None:
                options = self._options
                self._place = await in_thread(lambda: find(options.url, options.key, options.start, options.config))
                self._client = httpx.AsyncClient(
                    **client_options(self._place, options), transport=options.async_transport
                )
            return self._client

    async def url(self) -> str:
        """The server's address."""
        await self.connect()
        return self._place.url if self._place is not None else ""

    async def send(self, request: Request) -> httpx.Response:
        """Sends it, again where that is safe, and gives the answer; raises what is none."""
        client = await self.connect()
        attempts = Attempts(request, self._options.retries)
        while True:
            wait: float | None
            try:
                response = await client.request(**self._options.arguments(request, awaits=True))
            except httpx.TransportError as fault:
                wait = attempts.after_break()
                if wait is None:
                    raise broken(request.method, request.path, fault) from fault
            else:
                refused = failure(response)
                if refused is None:
                    return response
                wait = attempts.after_refusal(refused, response.headers)
                if wait is None:
                    raise refused
            await asyncio.sleep(wait)

    async def call(self, request: Request, model: type[T]) -> T:
        """The answer as `model`."""
        response = await self.send(request)
        try:
            return decode(model, response.json())
        except (ValueError, TypeError, KeyError, AttributeError) as fault:
            raise errors.ProtocolError(f"{request.method} {request.path}: not {model.__name__}: {fault}") from fault

    async def save(self, request: Request, target: Sink) -> int:
        """Writes the answer's bytes as they come, from the beginning again where it broke off; gives their number."""
        client = await self.connect()
        attempts = Attempts(request, self._options.retries)
        whole = False
        try:
            while True:
                wait: float | None
                try:
                    async with client.stream(**self._options.arguments(request, awaits=True)) as response:
                        if response.status_code < 400:
                            size = 0
                            async for piece in response.aiter_bytes(PIECE):
                                await asyncio.to_thread(target.write, piece)
                                size += len(piece)
                            whole = True
                            return size
                        await response.aread()
                        refused = failure(response) or errors.ProtocolError(f"HTTP {response.status_code}")
                        wait = (
                            attempts.after_refusal(refused, response.headers)
                            if isinstance(refused, errors.ApiError)
                            else None
                        )
                    if wait is None:
                        raise refused
                except httpx.TransportError as fault:
                    wait = attempts.after_break() if target.restart() else None
                    if wait is None:
                        raise broken(request.method, request.path, fault) from fault
                await asyncio.sleep(wait)
        finally:
            target.close(whole)

    @asynccontextmanager
    async def listen(
        self, path: str, query: Mapping[str, Any] | None = None
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Events as they come; the server is listening when this is entered."""
        client = await self.connect()
        params = Request("GET", path, query=query).params()
        # A quiet sandbox sends comments; a minute without one is a dead connection.
        timeout = httpx.Timeout(60.0, connect=10.0)
        try:
            async with client.stream(
                "GET", path, params=params, timeout=timeout, headers={"Accept": "text/event-stream"}
            ) as response:
                if response.status_code >= 400:
                    await response.aread()
                    raise failure(response) or errors.ProtocolError(f"GET {path}: HTTP {response.status_code}")
                yield self._events(response)
        except httpx.TransportError as fault:
            raise broken("GET", path, fault) from fault

    async def _events(self, response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
        lines = Lines()
        async for line in response.aiter_lines():
            event = lines.take(line)
            if event is not None:
                yield event

    async def aclose(self) -> None:
        """Closes the connections and ends the server, if it is ours. May be called again."""
        async with self._connecting:
            self._closed = True
            client, self._client = self._client, None
            place, self._place = self._place, None
        if client is not None:
            await client.aclose()
        if place is not None and place.server is not None:
            await in_thread(place.server.close)
