"""Python in a sandbox."""

from __future__ import annotations

from cove._async.transport import AsyncTransport
from cove._wire import GRACE, Request
from cove.results import PythonRun


class AsyncPython:
    """One interpreter that remembers: what a call defines, the next one finds."""

    def __init__(self, transport: AsyncTransport, base: str) -> None:
        self._transport = transport
        self._base = base

    async def exec(
        self,
        code: str,
        *,
        timeout: int = 30,
        include_code: bool | None = None,
        description: str | None = None,
        tags: str | None = None,
    ) -> PythonRun:
        """Runs code for at most `timeout` seconds. The last expression's value is part of the output."""
        return await self._transport.call(
            Request(
                "POST",
                f"{self._base}/python/exec",
                body={
                    "code": code,
                    "timeout": timeout,
                    "include_code": include_code,
                    "description": description,
                    "tags": tags,
                },
                timeout=timeout + GRACE,
            ),
            PythonRun,
        )
