"""Every way to be refused, a class for each code.

A program that fails *inside* a sandbox is no error here: it is a result with `success = False` (see `check()`).
What is raised is what the caller, the server or the road between them did wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CoveError(Exception):
    """Whatever this package raises."""


class ServerNotFoundError(CoveError):
    """No server was named, none runs here, and none could be started."""


class TransportError(CoveError):
    """The server could not be reached, or the connection broke and the call could not be repeated safely."""


class ProtocolError(CoveError):
    """The server answered with something that is not its interface."""


class RunFailedError(CoveError):
    """Guest code failed, and `check()` was asked to raise it. `result` has everything."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class ApiError(CoveError):
    """The server refused. `code` is stable; `details` is for programs; `request_id` finds it in the server's log."""

    code: str = ""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int = 0,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.status = status
        self.details: dict[str, Any] = dict(details or {})
        self.request_id = request_id


class NotFoundError(ApiError):
    """Not found, or owned by another owner."""

    code = "not_found"


class UnauthorizedError(ApiError):
    """Missing or invalid API key."""

    code = "unauthorized"


class ForbiddenError(ApiError):
    """The API key may not do this."""

    code = "forbidden"


class QuotaExceededError(ApiError):
    """Quota or rate limit exceeded."""

    code = "quota_exceeded"


class SessionNotReadyError(ApiError):
    """The session is still starting; `retry_after_ms` says when to come back."""

    code = "session_not_ready"

    @property
    def retry_after_ms(self) -> int | None:
        """Milliseconds to wait, if the server said."""
        value = self.details.get("retry_after_ms")
        return value if isinstance(value, int) else None


class ExecTimeoutError(ApiError):
    """The work timed out."""

    code = "timeout"


class ShipError(ApiError):
    """The sandbox's runtime failed."""

    code = "ship_error"


class ConflictError(ApiError):
    """The resource is not in a state for this."""

    code = "conflict"


class SandboxExpiredError(ConflictError):
    """The sandbox has expired."""

    code = "sandbox_expired"


class SandboxTtlInfiniteError(ConflictError):
    """A sandbox without an expiry cannot be extended."""

    code = "sandbox_ttl_infinite"


class ValidationError(ApiError):
    """Invalid value, or the request does not fit its schema (`details["problems"]`)."""

    code = "validation_error"


class WorkspaceFileNotFoundError(NotFoundError):
    """No such file in the workspace."""

    code = "file_not_found"


class CapabilityNotSupportedError(ApiError):
    """The sandbox's profile does not support this; `details` says what it can."""

    code = "capability_not_supported"


class InvalidPathError(ApiError):
    """Invalid path, or a path outside the workspace; `details["reason"]`."""

    code = "invalid_path"


class PortClosedError(ApiError):
    """No program listens on this port of the sandbox."""

    code = "port_closed"


class LinkExpiredError(ApiError):
    """The link to a port has expired."""

    code = "link_expired"


class InternalError(ApiError):
    """Internal server error."""

    code = "internal_error"


#: The class of each code. A code that this client does not know yet is an `ApiError`.
BY_CODE: dict[str, type[ApiError]] = {
    kind.code: kind
    for kind in (
        NotFoundError,
        UnauthorizedError,
        ForbiddenError,
        QuotaExceededError,
        SessionNotReadyError,
        ExecTimeoutError,
        ShipError,
        ConflictError,
        SandboxExpiredError,
        SandboxTtlInfiniteError,
        ValidationError,
        WorkspaceFileNotFoundError,
        CapabilityNotSupportedError,
        InvalidPathError,
        PortClosedError,
        LinkExpiredError,
        InternalError,
    )
}


def from_answer(status: int, body: Any, text: str, request_id: str | None) -> ApiError:
    """The error for an answer with this status. Says something useful also when a proxy answered instead."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, Mapping) and isinstance(error.get("code"), str):
        code = error["code"]
        details = error.get("details")
        known = details.get("available") if isinstance(details, Mapping) else None
        there_are = f"; there are: {', '.join(map(str, known))}" if isinstance(known, list) and known else ""
        return BY_CODE.get(code, ApiError)(
            str(error.get("message") or code) + there_are,
            code=code,
            status=status,
            details=details,
            request_id=error.get("request_id") or request_id,
        )
    problems = body.get("detail") if isinstance(body, Mapping) else None
    if status == 422 and isinstance(problems, list):
        said = "; ".join(
            f"{'.'.join(str(step) for step in one.get('loc', []))}: {one.get('msg')}"
            for one in problems
            if isinstance(one, Mapping)
        )
        return ValidationError(
            said or "invalid request", status=status, details={"problems": problems}, request_id=request_id
        )
    shown = " ".join(text.split())[:200]
    return ApiError(f"HTTP {status}: {shown}" if shown else f"HTTP {status}", status=status, request_id=request_id)
