"""Approvals: calls of code that wait until a person decides."""

from __future__ import annotations

from cove import models
from cove._async.transport import AsyncTransport
from cove._wire import Request, segment


class AsyncApprovals:
    """Calls that wait for a person, of all of the caller's sandboxes."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> models.ApprovalList:
        """Those that wait, oldest first."""
        return await self._transport.call(Request("GET", "/v1/approvals"), models.ApprovalList)

    async def approve(self, approval_id: str, *, remember: bool = False) -> None:
        """The call is made, once. With `remember=True` this session is not asked about this tool again."""
        path = f"/v1/approvals/{segment(approval_id)}/approve"
        await self._transport.send(Request("POST", path, body={"remember": remember}))

    async def deny(self, approval_id: str, *, reason: str | None = None) -> None:
        """The call is not made; the code gets an error with the reason."""
        path = f"/v1/approvals/{segment(approval_id)}/deny"
        await self._transport.send(Request("POST", path, body={"reason": reason}))
