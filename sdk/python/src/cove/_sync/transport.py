"""Sending, for the client that waits: connections, attempts, events. Its twin is `_async/transport.py`."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx

from cove import errors
from cove._find import Place, find
from cove._options import Options, broken, client_options, failure
from cove._retry import Attempts
from cove._sse import Lines
from cove._upload import PIECE, Sink
from cove._wire import Request, decode

T = TypeVar("T")


def in_thread(work: Callable[[], T]) -> T:
    """Work that blocks."""
    return work()


class EventLines:
    """Events of one connection."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[dict[str, Any]]:
        lines = Lines()
        for line in self._response.iter_lines():
            event = lines.take(line)
            if event is not None:
                yield event

    def hang_up(self) -> None:
        """Ends the connection from another thread: closing alone would not wake one that reads."""
        _shut(self._response.extensions.get("network_stream"))


class Line:
    """A call that another thread may end, also before the answer has begun."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stream: Any = None
        #: Whether nobody waits for the answer any more.
        self.hung_up = False

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Hears from httpx what its connection does; keeps the connection."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete", ".connect_unix_socket.complete")):
            with self._lock:
                self._stream = info.get("return_value")
                if self.hung_up:
                    _shut(self._stream)

    def answered(self) -> None:
        """There is nothing left to end: the connection may be somebody else's from now on."""
        with self._lock:
            self._stream = None

    def hang_up(self) -> None:
        """Ends the connection: the server sees that nobody waits, and ends what runs."""
        with self._lock:
            self.hung_up = True
            _shut(self._stream)


def _shut(stream: Any) -> None:
    wire = stream.get_extra_info("socket") if stream is not None else None
    if wire is not None:
        with contextlib.suppress(OSError, ValueError):
            wire.shutdown(socket.SHUT_RDWR)


class Transport:
    """One server, found at the first call."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._place: Place | None = None
        self._client: httpx.Client | None = None
        self._alone: httpx.Client | None = None
        self._connecting = threading.Lock()
        self._closed = False

    def connect(self) -> httpx.Client:
        """The connections, made when first needed."""
        with self._connecting:
            if self._closed:
                raise errors.CoveError("this client is closed")
            if self._client is None:
                self._place = find(
                    self._options.url, self._options.key, self._options.start, self._options.config
                )
                self._client = httpx.Client(
                    **client_options(self._place, self._options), transport=self._options.transport
                )
            return self._client

    def url(self) -> str:
        """The server's address."""
        self.connect()
        return self._place.url if self._place is not None else ""

    def send(self, request: Request, line: Line | None = None) -> httpx.Response:
        """Sends it, again where that is safe, and gives the answer; raises what is none.

        With a `line`, it goes over a connection of its own, which another thread may hang up.
        """
        if line is None:
            return self._send(self.connect(), request, None)
        return self._send(self._apart(), request, line)

    def _apart(self) -> httpx.Client:
        """Connections that are not shared: each is made for one call."""
        usual, place = self.connect(), self._place
        if self._options.transport is not None or place is None:
            # Somebody else's: whether a call can be hung up is up to it.
            return usual
        with self._connecting:
            if self._alone is None:
                arguments = client_options(place, self._options)
                arguments["limits"] = httpx.Limits(max_connections=None, max_keepalive_connections=0)
                self._alone = httpx.Client(**arguments)
            return self._alone

    def _send(self, client: httpx.Client, request: Request, line: Line | None) -> httpx.Response:
        attempts = Attempts(request, self._options.retries)
        while True:
            wait: float | None
            try:
                arguments = self._options.arguments(request, awaits=False)
                if line is not None:
                    arguments["extensions"] = {"trace": line.trace}
                response = client.request(**arguments)
                if line is not None:
                    line.answered()
            except httpx.TransportError as fault:
                wait = attempts.after_break()
                if wait is None or (line is not None and line.hung_up):
                    raise broken(request.method, request.path, fault) from fault
            else:
                refused = failure(response)
                if refused is None:
                    return response
                wait = attempts.after_refusal(refused, response.headers)
                if wait is None or (line is not None and line.hung_up):
                    raise refused
            time.sleep(wait)

    def call(self, request: Request, model: type[T]) -> T:
        """The answer as `model`."""
        response = self.send(request)
        try:
            return decode(model, response.json())
        except (ValueError, TypeError, KeyError, AttributeError) as fault:
            raise errors.ProtocolError(f"{request.method} {request.path}: not {model.__name__}: {fault}") from fault

    def save(self, request: Request, target: Sink) -> int:
        """Writes the answer's bytes as they come, from the beginning again where it broke off; gives their number."""
        client = self.connect()
        attempts = Attempts(request, self._options.retries)
        whole = False
        try:
            while True:
                wait: float | None
                try:
                    with client.stream(**self._options.arguments(request, awaits=False)) as response:
                        if response.status_code < 400:
                            size = 0
                            for piece in response.iter_bytes(PIECE):
                                target.write(piece)
                                size += len(piece)
                            whole = True
                            return size
                        response.read()
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
                time.sleep(wait)
        finally:
            target.close(whole)

    @contextmanager
    def listen(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[EventLines]:
        """Events as they come; the server is listening when this is entered."""
        client = self.connect()
        params = Request("GET", path, query=query).params()
        # A quiet sandbox sends comments; a minute without one is a dead connection.
        timeout = httpx.Timeout(60.0, connect=10.0)
        try:
            with client.stream(
                "GET", path, params=params, timeout=timeout, headers={"Accept": "text/event-stream"}
            ) as response:
                if response.status_code >= 400:
                    response.read()
                    raise failure(response) or errors.ProtocolError(f"GET {path}: HTTP {response.status_code}")
                yield EventLines(response)
        except httpx.TransportError as fault:
            raise broken("GET", path, fault) from fault

    def close(self) -> None:
        """Closes the connections and ends the server, if it is ours. May be called again."""
        with self._connecting:
            self._closed = True
            clients = [client for client in (self._client, self._alone) if client is not None]
            self._client = self._alone = None
            place, self._place = self._place, None
        for client in clients:
            client.close()
        if place is not None and place.server is not None:
            place.server.close()
