"""A run that is attended, for the client that waits: its tools are answered, its output is heard while it goes on.

Tools and ears run one at a time in the thread that called `run`, so that they may use what belongs to that thread.
Two threads help: one waits for the run, one for events. Its twin is `_async/calls.py`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import queue
import secrets
import threading
import time
from typing import Any

from cove import errors
from cove._sync.transport import Line, Transport
from cove._tools import OnOutput, ToolBox, answer, heard, refusal
from cove._wire import Request, segment


def run_with_tools(transport: Transport, base: str, request: Request, session: str, tools: ToolBox) -> dict[str, Any]:
    """Sends the run and answers its tool calls until it ends."""
    inbox: queue.Queue[tuple[str, Any]] = queue.Queue()
    reader = _Reader(transport, f"{base}/events", inbox)
    line = Line()
    try:
        _expect(inbox, "listening")
        threading.Thread(target=_send, args=(transport, request, inbox, line), daemon=True).start()
        while True:
            kind, value = inbox.get()
            if kind == "fault":
                raise value
            if kind == "done":
                if not isinstance(value, dict):
                    raise errors.ProtocolError("a run's answer is not an object")
                return value
            if kind == "event" and value.get("kind") == "tool_call":
                call = value.get("data") or {}
                if call.get("session") == session and call.get("name") in tools:
                    _answer(transport, base, call, tools)
    finally:
        # Also after Ctrl-C: a run that nobody waits for is ended.
        line.hang_up()
        reader.stop()


#: How long the last words of a run are waited for: they come by another connection than its answer.
LAST_WORDS = 2.0


def run_heard(transport: Transport, base: str, request: Request, on_output: OnOutput) -> dict[str, Any]:
    """Sends the run and tells `on_output` what it writes, until it ends."""
    tag = secrets.token_hex(8)
    request = dataclasses.replace(request, body={**(request.body or {}), "output_tag": tag})
    inbox: queue.Queue[tuple[str, Any]] = queue.Queue()
    reader = _Reader(transport, f"{base}/events", inbox)
    line = Line()
    body: dict[str, Any] | None = None
    until: float | None = None
    ended: set[Any] = set()
    try:
        _expect(inbox, "listening")
        threading.Thread(target=_send, args=(transport, request, inbox, line), daemon=True).start()
        while True:
            try:
                kind, value = inbox.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            except queue.Empty:
                return body or {}
            if kind == "fault":
                if body is not None:
                    return body
                raise value
            if kind == "done":
                if not isinstance(value, dict):
                    raise errors.ProtocolError("a run's answer is not an object")
                body, until = value, time.monotonic() + LAST_WORDS
            elif kind == "event":
                output = heard(value, tag)
                if output is not None:
                    _call(on_output, [output])
                elif value.get("kind") == "run_finished":
                    ended.add((value.get("data") or {}).get("execution_id"))
            if body is not None and body.get("execution_id") in ended:
                return body
    finally:
        # Also after Ctrl-C: a run that nobody waits for is ended.
        line.hang_up()
        reader.stop()


def _expect(inbox: queue.Queue[tuple[str, Any]], wanted: str) -> None:
    kind, value = inbox.get()
    if kind != wanted:
        raise value


def _send(transport: Transport, request: Request, inbox: queue.Queue[tuple[str, Any]], line: Line) -> None:
    try:
        inbox.put(("done", transport.send(request, line).json()))
    except Exception as fault:
        inbox.put(("fault", fault))


def _answer(transport: Transport, base: str, call: dict[str, Any], tools: ToolBox) -> None:
    try:
        said = answer(_call(tools.get(call["name"]), call.get("args", [])))
    except Exception as fault:
        said = refusal(fault)
    try:
        transport.send(
            Request("POST", f"{base}/javascript/tools/{segment(call['call_id'])}", body=said, harmless=True)
        )
    except errors.CoveError:
        # The run ended before its tool did, so nobody waits for this answer; or the server is gone, the run with it.
        return


def _call(tool: Any, args: list[Any]) -> Any:
    result = tool(*args)
    if not inspect.isawaitable(result):
        return result

    # This thread may have a loop that runs already (a notebook's does), so the coroutine gets a thread of its own.
    async def waited() -> Any:
        return await result

    outcome: list[Any] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(waited()))
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return outcome[0]


class _Reader:
    """Reads events into the inbox in a thread of its own, and goes on where it was when the stream breaks off."""

    def __init__(self, transport: Transport, path: str, inbox: queue.Queue[tuple[str, Any]]) -> None:
        self._transport = transport
        self._path = path
        self._inbox = inbox
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._hang_up: Any = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        after: int | None = None
        listening = False
        while not self._stopped.is_set():
            try:
                with self._transport.listen(self._path, {"after": after}) as stream:
                    with self._lock:
                        self._hang_up = stream.hang_up
                    if not listening:
                        listening = True
                        self._inbox.put(("listening", None))
                    for event in stream:
                        after = event.get("seq", after)
                        self._inbox.put(("event", event))
                        if self._stopped.is_set():
                            return
            except Exception as fault:
                if self._stopped.is_set():
                    return
                if not listening or not isinstance(fault, errors.TransportError):
                    self._inbox.put(("fault", fault))
                    return
            self._stopped.wait(0.1)

    def stop(self) -> None:
        """Ends it at once: a read that waits is woken."""
        self._stopped.set()
        with self._lock:
            if self._hang_up is not None:
                self._hang_up()
