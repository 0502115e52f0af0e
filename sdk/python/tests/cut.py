"""A wire that can be cut: passes bytes between a client and the real server, and breaks where it is told to."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class Wire:
    """Listens on a port of its own. The next `cuts` answers are lost: the work is done, nobody hears of it."""

    def __init__(self, url: str, cuts: int) -> None:
        target = urlsplit(url)
        self._target = (str(target.hostname), int(target.port or 80))
        self._cuts = cuts
        self._lock = threading.Lock()
        self.requests = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, socket.create_connection(self._target) as server:
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            while data := server.recv(65536):
                with self._lock:
                    cut = self._cuts > 0
                    self._cuts -= cut
                if cut:
                    break
                client.sendall(data)
            # Closing alone would leave who still reads there waiting.
            for end in (client, server):
                end.shutdown(socket.SHUT_RDWR)

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                with self._lock:
                    self.requests += data.startswith((b"GET ", b"POST ", b"PUT ", b"DELETE "))
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
