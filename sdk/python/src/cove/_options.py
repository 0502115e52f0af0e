"""What a client was told when it was made, and what follows from it for every request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from cove import errors
from cove._config import Config
from cove._find import Place
from cove._wire import Request

#: Seconds to reach the server.
CONNECT = 10.0


@dataclass(frozen=True)
class Options:
    """`transport` and `async_transport` are httpx's own door for proxies, certificates and recording."""

    url: str | None = None
    key: str | None = None
    start: bool | None = None
    config: Config | None = None
    retries: int = 3
    transport: httpx.BaseTransport | None = None
    async_transport: httpx.AsyncBaseTransport | None = None

    def arguments(self, request: Request, *, awaits: bool) -> dict[str, Any]:
        """One request for httpx; `awaits` for its client that awaits."""
        arguments: dict[str, Any] = {
            "method": request.method,
            "url": request.path,
            "params": request.params(),
            "timeout": httpx.Timeout(request.timeout, connect=CONNECT),
        }
        if request.idempotency_key is not None:
            arguments["headers"] = {"Idempotency-Key": request.idempotency_key}
        if request.upload is not None:
            arguments["headers"] = {**arguments.get("headers", {}), **request.upload.headers}
            arguments["content"] = request.upload.awaited_pieces() if awaits else request.upload.pieces()
        elif request.body is not None:
            arguments["json"] = request.json()
        return arguments


def client_options(place: Place, options: Options) -> dict[str, Any]:
    """For httpx's client. The environment's proxies are not used for a server of this machine."""
    host = httpx.URL(place.url).host
    return {
        "base_url": place.url.rstrip("/"),
        "headers": {"Authorization": f"Bearer {place.key}"} if place.key else {},
        "trust_env": host not in ("127.0.0.1", "localhost", "::1"),
        # A run may be long and many may run at once; the server has its own limits.
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=20),
        "follow_redirects": False,
    }


def failure(response: httpx.Response) -> errors.ApiError | None:
    """The error in an answer, if it is one."""
    if response.status_code < 400:
        return None
    try:
        body = response.json()
    except ValueError:
        body = None
    return errors.from_answer(response.status_code, body, response.text, response.headers.get("x-request-id"))


def broken(method: str, path: str, fault: httpx.TransportError) -> errors.TransportError:
    """The error for a connection that failed. Some of httpx's have no words."""
    return errors.TransportError(f"{method} {path}: {str(fault) or type(fault).__name__}")
