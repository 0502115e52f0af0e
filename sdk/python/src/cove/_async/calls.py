"""A run that is attended, for the client that awaits: its tools are answered, its output is heard while it goes on.

Tools run at the same time if guest code calls several; functions that block run in threads.
Its twin is `_sync/calls.py`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import secrets
from collections.abc import AsyncIterator
from typing import Any

from cove import errors
from cove._async.transport import AsyncTransport
from cove._tools import OnOutput, ToolBox, answer, heard, refusal
from cove._wire import Request, segment


async def run_with_tools(
    transport: AsyncTransport, base: str, request: Request, session: str, tools: ToolBox
) -> dict[str, Any]:
    """Sends the run and answers its tool calls until it ends."""
    listening = asyncio.Event()
    answering = asyncio.create_task(_answer_calls(transport, base, session, tools, listening))
    try:
        ready = asyncio.create_task(listening.wait())
        await asyncio.wait({answering, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if answering.done():
            answering.result()
        work = asyncio.create_task(_send(transport, request))
        try:
            await asyncio.wait({answering, work}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                # Who listens ends only with an error: the run would wait for answers that never come.
                answering.result()
            return await work
        finally:
            work.cancel()
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


#: How long the last words of a run are waited for: they come by another connection than its answer.
LAST_WORDS = 2.0


async def run_heard(transport: AsyncTransport, base: str, request: Request, on_output: OnOutput) -> dict[str, Any]:
    """Sends the run and tells `on_output` what it writes, until it ends."""
    tag = secrets.token_hex(8)
    request = dataclasses.replace(request, body={**(request.body or {}), "output_tag": tag})
    async with transport.listen(f"{base}/events") as events:
        ended = _Ended()
        work = asyncio.create_task(_send(transport, request))
        told = asyncio.create_task(_tell(events, tag, ended, on_output))
        try:
            await asyncio.wait({work, told}, return_when=asyncio.FIRST_COMPLETED)
            if told.done():
                # An ear that raises ends the run; a stream that breaks off does not.
                told.result()
            body = await work
            seen = asyncio.create_task(ended.saw(body.get("execution_id")))
            await asyncio.wait({told, seen}, timeout=LAST_WORDS, return_when=asyncio.FIRST_COMPLETED)
            seen.cancel()
            if told.done():
                told.result()
            return body
        finally:
            work.cancel()
            told.cancel()
            await asyncio.gather(work, told, return_exceptions=True)


class _Ended:
    """Runs whose end was seen, and whoever waits for one."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._news = asyncio.Event()

    def add(self, execution_id: Any) -> None:
        self._ids.add(execution_id)
        self._news.set()

    async def saw(self, execution_id: Any) -> None:
        while execution_id not in self._ids:
            self._news.clear()
            await self._news.wait()


async def _tell(events: AsyncIterator[dict[str, Any]], tag: str, ended: _Ended, on_output: OnOutput) -> None:
    try:
        async for event in events:
            output = heard(event, tag)
            if output is not None:
                said = on_output(output)
                if inspect.isawaitable(said):
                    await said
            elif event.get("kind") == "run_finished":
                ended.add((event.get("data") or {}).get("execution_id"))
    except errors.TransportError:
        # The result has everything.
        return


async def _send(transport: AsyncTransport, request: Request) -> dict[str, Any]:
    response = await transport.send(request)
    body = response.json()
    if not isinstance(body, dict):
        raise errors.ProtocolError("a run's answer is not an object")
    return body


async def _answer_calls(
    transport: AsyncTransport, base: str, session: str, tools: ToolBox, listening: asyncio.Event
) -> None:
    after: int | None = None
    at_work: set[asyncio.Task[None]] = set()
    try:
        while True:
            try:
                async with transport.listen(f"{base}/events", {"after": after}) as events:
                    listening.set()
                    async for event in events:
                        after = event.get("seq", after)
                        call = event.get("data") or {}
                        if (
                            event.get("kind") == "tool_call"
                            and call.get("session") == session
                            and call.get("name") in tools
                        ):
                            task = asyncio.create_task(_answer(transport, base, call, tools))
                            at_work.add(task)
                            task.add_done_callback(at_work.discard)
            except errors.TransportError:
                if after is None and not listening.is_set():
                    raise
            # The stream broke off; the next one goes on where it was.
            await asyncio.sleep(0.1)
    finally:
        for task in at_work:
            task.cancel()


async def _answer(transport: AsyncTransport, base: str, call: dict[str, Any], tools: ToolBox) -> None:
    tool = tools.get(call["name"])
    try:
        if inspect.iscoroutinefunction(tool):
            result = await tool(*call.get("args", []))
        else:
            result = await asyncio.to_thread(tool, *call.get("args", []))
            if inspect.isawaitable(result):
                result = await result
        said = answer(result)
    except Exception as fault:
        said = refusal(fault)
    try:
        await transport.send(
            Request("POST", f"{base}/javascript/tools/{segment(call['call_id'])}", body=said, harmless=True)
        )
    except errors.CoveError:
        # The run ended before its tool did, so nobody waits for this answer; or the server is gone, the run with it.
        return
