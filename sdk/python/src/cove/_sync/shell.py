"""A shell in a sandbox."""
# Written by scripts/write_sync.py from _async/shell.py; a change here is lost.

from __future__ import annotations

from cove._sync.calls import run_heard
from cove._sync.transport import Transport
from cove._tools import OnOutput
from cove._wire import GRACE, Request, read_as
from cove.results import ShellRun


class Shell:
    """Each command is a shell of its own; what they share is the workspace."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = base

    def exec(
        self,
        command: str,
        *,
        timeout: int = 30,
        cwd: str | None = None,
        include_code: bool | None = None,
        description: str | None = None,
        tags: str | None = None,
        on_output: OnOutput | None = None,
    ) -> ShellRun:
        """Runs a command for at most `timeout` seconds, in `cwd` (relative to the workspace).

        `on_output` hears what it writes while it runs; the result has all of it in any case.
        """
        request = Request(
            "POST",
            f"{self._base}/shell/exec",
            body={
                "command": command,
                "timeout": timeout,
                "cwd": cwd,
                "include_code": include_code,
                "description": description,
                "tags": tags,
            },
            timeout=timeout + GRACE,
        )
        if on_output is None:
            return self._transport.call(request, ShellRun)
        return read_as(ShellRun, run_heard(self._transport, self._base, request, on_output))
