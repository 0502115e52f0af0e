"""Processes that run on by themselves in a sandbox."""
# Written by scripts/write_sync.py from _async/processes.py; a change here is lost.

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

from cove import models
from cove._sync.transport import Transport
from cove._wire import Request, segment
from cove.results import ProcessNews, process_news


class Processes:
    """Servers, watchers, long jobs: started here, they run until they end, are killed, or the sandbox stops."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/processes"

    def start(
        self,
        command: str | Sequence[str],
        *,
        name: str | None = None,
        env: dict[str, str] | None = None,
        cwd: str | None = None,
        stdin: bool = False,
        terminal: tuple[int, int] | None = None,
        timeout: int | None = None,
        restart: bool | None = None,
    ) -> models.ProcessInfo:
        """Starts a program and leaves it running. A string is a line for bash; a list is a program with its arguments.

        `stdin` lets `write` reach its standard input; `terminal` runs it in one with so many columns and rows;
        `timeout` ends it after so many seconds; `restart` starts it again with the sandbox, until it is killed.
        """
        argv = ["/bin/bash", "-lc", command] if isinstance(command, str) else list(command)
        body = {
            "argv": argv,
            "name": name,
            "env": env,
            "cwd": cwd,
            "input": stdin,
            "terminal": None if terminal is None else {"cols": terminal[0], "rows": terminal[1]},
            "timeout": timeout,
            "restart": restart,
        }
        return self._transport.call(Request("POST", self._base, body=body), models.ProcessInfo)

    def list(self) -> list[models.ProcessInfo]:
        """Those that were started and are remembered, the oldest first. Starts nothing."""
        return (self._transport.call(Request("GET", self._base), models.ProcessList)).processes

    def get(self, process_id: str) -> models.ProcessInfo:
        """One of them, with what it has written: the beginning and the end, where that is much."""
        return self._transport.call(Request("GET", self._path(process_id)), models.ProcessInfo)

    def follow(self, process_id: str, *, after: int | None = None) -> Iterator[ProcessNews]:
        """What happens to it, until it has ended. `after=0` begins with all that it has written and is kept."""
        path = f"{self._path(process_id)}/follow"
        with self._transport.listen(path, {"from": after}) as frames:
            for frame in frames:
                yield process_news(frame)

    def write(self, process_id: str, data: str | bytes = "", *, end: bool = False) -> models.ProcessInfo:
        """Writes to its standard input, or to its terminal; `end` closes that."""
        raw = data.encode() if isinstance(data, str) else data
        body = {"data": base64.b64encode(raw).decode(), "end": end}
        request = Request("POST", f"{self._path(process_id)}/input", body=body)
        return self._transport.call(request, models.ProcessInfo)

    def signal(self, process_id: str, signal: int = 15) -> models.ProcessInfo:
        """Sends it a signal: 15 asks it to end, 2 interrupts it."""
        request = Request("POST", f"{self._path(process_id)}/signal", body={"signal": signal})
        return self._transport.call(request, models.ProcessInfo)

    def kill(self, process_id: str) -> models.ProcessInfo:
        """Ends it with everything that it has started."""
        return self.signal(process_id, 9)

    def resize(self, process_id: str, *, cols: int, rows: int) -> models.ProcessInfo:
        """Gives its terminal another size."""
        request = Request("POST", f"{self._path(process_id)}/resize", body={"cols": cols, "rows": rows}, harmless=True)
        return self._transport.call(request, models.ProcessInfo)

    def _path(self, process_id: str) -> str:
        return f"{self._base}/{segment(process_id)}"
