"""A run whose code calls back, for the client that awaits: tools are answered while the run goes on.

Tools run at the same time if guest code calls several; functions that block run in threads.
Its twin is `_sync/calls.py`.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from cove import errors
from cove._async.transport import AsyncTransport
from cove._tools import ToolBox, answer, refusal
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
                async with transport.listen(f"{base}/events", after) as events:
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
