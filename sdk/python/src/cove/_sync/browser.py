"""A browser in a sandbox, by command."""
# Written by scripts/write_sync.py from _async/browser.py; a change here is lost.

from __future__ import annotations

import dataclasses
import secrets
from typing import Any, TypeVar

from cove import models
from cove._sync.files import Files
from cove._sync.transport import Transport
from cove._wire import GRACE, Request, segment
from cove.image import Image
from cove.results import BrowserBatch, BrowserReplay, BrowserRun, Screenshot

T = TypeVar("T")


class Browser:
    """One browser for the sandbox. What pages say is in the output: it is not to be trusted."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/browser"
        self._files = Files(transport, base)

    def exec(
        self,
        cmd: str,
        *,
        timeout: int = 30,
        description: str | None = None,
        tags: str | None = None,
        learn: bool | None = None,
        include_trace: bool | None = None,
    ) -> BrowserRun:
        """One agent-browser command without its first word: `open https://example.com`, `snapshot -i`, `click @e1`."""
        return self._call(
            "exec",
            {
                "cmd": cmd,
                "timeout": timeout,
                "description": description,
                "tags": tags,
                "learn": learn,
                "include_trace": include_trace,
            },
            BrowserRun,
        )

    def batch(
        self,
        commands: list[str],
        *,
        timeout: int = 60,
        stop_on_error: bool = True,
        description: str | None = None,
        tags: str | None = None,
        learn: bool | None = None,
        include_trace: bool | None = None,
    ) -> BrowserBatch:
        """Several commands, one after the other, in `timeout` seconds for all."""
        return self._call(
            "exec_batch",
            {
                "commands": commands,
                "timeout": timeout,
                "stop_on_error": stop_on_error,
                "description": description,
                "tags": tags,
                "learn": learn,
                "include_trace": include_trace,
            },
            BrowserBatch,
        )

    def navigate(self, url: str, *, timeout: int = 30) -> BrowserRun:
        """Opens a page."""
        return self._call("navigate", {"url": url, "timeout": timeout}, BrowserRun)

    def snapshot(self, *, interactive: bool = True, timeout: int = 30) -> BrowserRun:
        """What is on the page, as text with references (`@e1`) for `click` and `fill`."""
        return self._call("snapshot", {"interactive": interactive, "timeout": timeout}, BrowserRun)

    def click(self, ref: str, *, timeout: int = 30) -> BrowserRun:
        """Clicks what the last snapshot calls `ref`."""
        return self._call("click", {"ref": ref, "timeout": timeout}, BrowserRun)

    def fill(self, ref: str, text: str, *, timeout: int = 30) -> BrowserRun:
        """Fills in a field; whatever is in `text`, it is text."""
        return self._call("fill", {"ref": ref, "text": text, "timeout": timeout}, BrowserRun)

    def screenshot(self, path: str | None = None, *, full_page: bool = False, timeout: int = 30) -> Screenshot:
        """A picture of the page: in the workspace, and here as bytes."""
        path = path or f"screenshot-{secrets.token_hex(4)}.png"
        taken = self._call("screenshot", {"path": path, "full_page": full_page, "timeout": timeout}, Screenshot)
        if not taken.success:
            return dataclasses.replace(taken, path=path)
        image = Image(data=self._files.download(path), name=path)
        return dataclasses.replace(taken, path=path, image=image)

    def run_skill(
        self,
        skill_key: str,
        *,
        timeout: int = 60,
        stop_on_error: bool = True,
        include_trace: bool | None = None,
        description: str | None = None,
        tags: str | None = None,
    ) -> BrowserReplay:
        """Replays the active release of a browser skill."""
        return self._call(
            f"skills/{segment(skill_key)}/run",
            {
                "timeout": timeout,
                "stop_on_error": stop_on_error,
                "include_trace": include_trace,
                "description": description,
                "tags": tags,
            },
            BrowserReplay,
        )

    def trace(self, trace_ref: str) -> models.BrowserTrace:
        """Every step of a call that was made with `include_trace`."""
        return self._transport.call(
            Request("GET", f"{self._base}/traces/{segment(trace_ref)}"), models.BrowserTrace
        )

    def _call(self, verb: str, body: dict[str, Any], model: type[T]) -> T:
        return self._transport.call(
            Request("POST", f"{self._base}/{verb}", body=body, timeout=body["timeout"] + GRACE), model
        )
