"""A server of our own: one `cove serve --ephemeral` on loopback, with its own key, that ends with us.

It says its address on standard output, ends when it is told to and, because it watches its standard input, also when
this process is killed; then it deletes what it kept. Who wants sandboxes to outlive the program runs `cove serve`.
"""

from __future__ import annotations

import atexit
import os
import queue
import secrets
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from cove.errors import ServerNotFoundError

#: Seconds for a server to come up. It needs a fraction of one; a loaded machine needs more.
START = 60.0
#: Seconds for a server to end its sandboxes before it is killed.
STOP = 30.0
#: Lines of the server's log that are kept for the message when it does not come up.
KEPT_LINES = 40


class LocalServer:
    """A running server. `url` and `key` are how to reach it."""

    def __init__(
        self, binary: str, environment: Mapping[str, str] | None = None, arguments: Sequence[str] = ()
    ) -> None:
        self.key = "sk-bay-" + secrets.token_hex(32)
        self._owner = os.getpid()
        self._closing = threading.Lock()
        lines: deque[str] = deque(maxlen=KEPT_LINES)
        # Configuration of another server must not leak into this one.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("BAY_")}
        try:
            self._process = subprocess.Popen(
                [binary, "serve", "--ephemeral", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**inherited, **(environment or {}), "BAY_API_KEY": self.key},
                cwd=tempfile.gettempdir(),
                text=True,
                errors="replace",
                # Ctrl-C is for the program; it ends the server in its own time.
                start_new_session=True,
            )
        except OSError as fault:
            raise ServerNotFoundError(f"`{binary} serve` could not be started: {fault}") from fault
        said: queue.Queue[str] = queue.Queue()
        log = threading.Thread(target=_read, args=(self._process.stderr, lines.append), daemon=True)
        log.start()
        threading.Thread(target=_read, args=(self._process.stdout, said.put), daemon=True).start()
        try:
            self.url = said.get(timeout=START)
        except queue.Empty:
            self.url = ""
        except BaseException:
            self._end()
            raise
        if not self.url:
            self._end()
            log.join(1.0)
            raise ServerNotFoundError(f"`{binary} serve` did not come up: " + ("\n".join(lines) or "it said nothing"))
        atexit.register(self.close)

    def close(self) -> None:
        """Ends it. May be called again."""
        # A forked child has this object too, and no right to end its parent's server.
        if os.getpid() != self._owner:
            return
        with self._closing:
            self._end()
        atexit.unregister(self.close)

    def _end(self) -> None:
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        process.terminate()
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _read(pipe: IO[str] | None, take: Callable[[str], None]) -> None:
    """Passes lines on; an empty one says that there are no more."""
    if pipe is None:
        return
    with pipe:
        for line in pipe:
            take(line.rstrip("\n"))
    take("")
