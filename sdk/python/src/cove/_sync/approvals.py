"""Approvals: calls of code that wait until a person decides."""
# Written by scripts/write_sync.py from _async/approvals.py; a change here is lost.

from __future__ import annotations

from cove import models
from cove._sync.transport import Transport
from cove._wire import Request, segment


class Approvals:
    """Calls that wait for a person, of all of the caller's sandboxes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> models.ApprovalList:
        """Those that wait, oldest first."""
        return self._transport.call(Request("GET", "/v1/approvals"), models.ApprovalList)

    def approve(self, approval_id: str, *, remember: bool = False) -> None:
        """The call is made, once. With `remember=True` this session is not asked about this tool again."""
        path = f"/v1/approvals/{segment(approval_id)}/approve"
        self._transport.send(Request("POST", path, body={"remember": remember}))

    def deny(self, approval_id: str, *, reason: str | None = None) -> None:
        """The call is not made; the code gets an error with the reason."""
        path = f"/v1/approvals/{segment(approval_id)}/deny"
        self._transport.send(Request("POST", path, body={"reason": reason}))
