"""JavaScript and TypeScript in a sandbox: once, or in a session that remembers and calls back."""

from __future__ import annotations

import dataclasses
import secrets
from types import TracebackType
from typing import Any, Literal

from cove import errors
from cove._async.artifacts import AsyncArtifacts
from cove._async.calls import run_with_tools
from cove._async.transport import AsyncTransport
from cove._tools import ToolBox, Tools
from cove._wire import GRACE, Request, read_as
from cove.results import JavaScriptRun

Engine = Literal["auto", "embedded", "browser"]


class AsyncJavaScript:
    """JavaScript and TypeScript."""

    def __init__(self, transport: AsyncTransport, base: str) -> None:
        self._transport = transport
        self._base = base

    async def run(
        self,
        code: str,
        input: Any = None,
        *,
        engine: Engine | None = None,
        timeout: int = 30,
        images: bool = True,
        include_code: bool | None = None,
        description: str | None = None,
        tags: str | None = None,
    ) -> JavaScriptRun:
        """Runs a function body: `return` gives the value, `await` works, `input` is what is given here.

        Pictures that it draws come as bytes unless `images=False`.
        """
        request = _request(
            self._base,
            {
                "code": code,
                "input": input,
                "engine": engine,
                "timeout": timeout,
                "include_code": include_code,
                "description": description,
                "tags": tags,
            },
            timeout,
        )
        return await _finish(self._transport, self._base, (await self._transport.send(request)).json(), images)

    def session(
        self,
        name: str | None = None,
        *,
        tools: Tools | None = None,
        engine: Engine | None = None,
    ) -> AsyncJavaScriptSession:
        """A session: variables stay from run to run, `tools` are functions of yours that its code may call."""
        return AsyncJavaScriptSession(self._transport, self._base, name, ToolBox(tools), engine)


class AsyncJavaScriptSession:
    """A session. At the end of its `with` block its state is forgotten."""

    def __init__(
        self, transport: AsyncTransport, base: str, name: str | None, tools: ToolBox, engine: Engine | None
    ) -> None:
        self._transport = transport
        self._base = base
        self._tools = tools
        self._engine = engine
        #: Who gives the same name finds the same state.
        self.name = name or f"session-{secrets.token_hex(6)}"

    async def __aenter__(self) -> AsyncJavaScriptSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.reset()
        except errors.CoveError:
            # What went wrong in the block matters more than a state that ends by itself.
            if fault is None:
                raise

    async def run(
        self,
        code: str,
        input: Any = None,
        *,
        timeout: int = 30,
        images: bool = True,
        include_code: bool | None = None,
        description: str | None = None,
        tags: str | None = None,
    ) -> JavaScriptRun:
        """Runs statements; the last one's value is the result, `final_answer(x)` ends the task."""
        request = _request(
            self._base,
            {
                "code": code,
                "input": input,
                "engine": self._engine,
                "timeout": timeout,
                "session": self.name,
                "tools": self._tools.specs() or None,
                "include_code": include_code,
                "description": description,
                "tags": tags,
            },
            timeout,
        )
        if self._tools:
            body = await run_with_tools(self._transport, self._base, request, self.name, self._tools)
        else:
            body = (await self._transport.send(request)).json()
        return await _finish(self._transport, self._base, body, images)

    async def reset(self) -> None:
        """Forgets all state."""
        await self._transport.send(
            Request("POST", f"{self._base}/javascript/reset", query={"session": self.name}, harmless=True)
        )


def _request(base: str, body: dict[str, Any], timeout: int) -> Request:
    return Request("POST", f"{base}/javascript/exec", body=body, timeout=timeout + GRACE)


async def _finish(transport: AsyncTransport, base: str, body: Any, images: bool) -> JavaScriptRun:
    run = read_as(JavaScriptRun, body)
    if not images or run.data is None or not run.data.images:
        return run
    artifacts = AsyncArtifacts(transport, base)
    drawn = [await artifacts.image(image) for image in run.data.images]
    return dataclasses.replace(run, images=drawn)
