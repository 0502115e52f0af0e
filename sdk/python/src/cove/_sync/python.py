"""Python in a sandbox."""
# Written by scripts/write_sync.py from _async/python.py; a change here is lost.

from __future__ import annotations

from collections.abc import Mapping

from cove._sync.calls import run_heard
from cove._sync.transport import Transport
from cove._tools import OnOutput
from cove._wire import GRACE, Request, read_as
from cove.results import PythonRun


class Python:
    """One interpreter that remembers: what a call defines, the next one finds."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = base

    def exec(
        self,
        code: str,
        *,
        timeout: int = 30,
        include_code: bool | None = None,
        description: str | None = None,
        tags: str | None = None,
        session: str | None = None,
        env: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> PythonRun:
        """Runs code for at most `timeout` seconds. The last expression's value is part of the output.

        A `session` is an interpreter of its own, by its name; `env` has environment variables for this run. `on_output`
        hears what it writes while it runs; the result has all of it in any case.
        """
        request = Request(
            "POST",
            f"{self._base}/python/exec",
            body={
                "code": code,
                "timeout": timeout,
                "include_code": include_code,
                "description": description,
                "tags": tags,
                "session": session,
                "env": dict(env) if env is not None else None,
            },
            timeout=timeout + GRACE,
        )
        if on_output is None:
            return self._transport.call(request, PythonRun)
        return read_as(PythonRun, run_heard(self._transport, self._base, request, on_output))
