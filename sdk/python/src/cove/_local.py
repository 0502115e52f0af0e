"""A server of our own: one `cove serve` on loopback, with its own key and its own folder, that ends with us.

It ends when it is closed, when the interpreter ends, and, because it watches its standard input, also when this process
is killed. What it kept is deleted with it: who wants sandboxes to outlive the program runs `cove serve`.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import deque

import httpx

from cove.errors import ServerNotFoundError

#: Seconds for a server to come up. It needs a fraction of one; a loaded machine needs more.
START = 60.0
#: Seconds for a server to end its sandboxes before it is killed.
STOP = 20.0
#: A free port may be taken by somebody else before the server has it.
TRIES = 3
#: Lines of the server's log that are kept for the message when it does not come up.
KEPT_LINES = 40


class LocalServer:
    """A running server. `url` and `key` are how to reach it."""

    def __init__(self, binary: str) -> None:
        self.key = "sk-bay-" + secrets.token_hex(32)
        self._owner = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="cove-")
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._closing = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        try:
            for attempt in range(TRIES):
                try:
                    self.url = self._start(binary)
                    break
                except ServerNotFoundError:
                    if attempt == TRIES - 1:
                        raise
        except BaseException:
            self.close()
            raise
        atexit.register(self.close)

    def _start(self, binary: str) -> str:
        port = _free_port()
        environment = {
            # Configuration of another server must not leak into this one.
            **{name: value for name, value in os.environ.items() if not name.startswith("BAY_")},
            "COVE_DATA_DIR": self._folder,
            "BAY_API_KEY": self.key,
            "BAY_SERVER__HOST": "127.0.0.1",
            "BAY_SERVER__PORT": str(port),
        }
        try:
            process = subprocess.Popen(
                [binary, "serve", "--until-stdin-closes"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=self._folder,
                text=True,
                errors="replace",
                # Ctrl-C is for the program; it ends the server in its own time.
                start_new_session=True,
            )
        except OSError as fault:
            raise ServerNotFoundError(f"`{binary} serve` could not be started: {fault}") from fault
        self._process = process
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START
        with httpx.Client(timeout=2.0, trust_env=False) as client:
            while time.monotonic() < deadline:
                if process.poll() is not None:
                    break
                try:
                    # With the key, so that a stranger who took the port is not taken for ours.
                    answer = client.get(f"{url}/v1/profiles", headers={"Authorization": f"Bearer {self.key}"})
                    if answer.status_code == 200:
                        return url
                except httpx.HTTPError:
                    pass
                time.sleep(0.02)
        self._end(process)
        said = "\n".join(self._lines) or "it said nothing"
        raise ServerNotFoundError(f"`{binary} serve` did not come up:\n{said}")

    def _listen(self, process: subprocess.Popen[str]) -> None:
        if process.stderr is not None:
            with process.stderr:
                self._lines.extend(line.rstrip() for line in process.stderr)

    def close(self) -> None:
        """Ends it and deletes what it kept. May be called again."""
        # A forked child has this object too, and no right to end its parent's server.
        if os.getpid() != self._owner:
            return
        with self._closing:
            process, self._process = self._process, None
            if process is not None:
                self._end(process)
            shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self.close)

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        if process.stdin is not None:
            process.stdin.close()
        process.terminate()
        try:
            process.wait(STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
