"""Functions of the caller: tools that guest code may call, and ears that hear what it writes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cove.results import Output

Tool = Callable[..., Any]
#: Functions under their own names, or under names that are given.
Tools = Iterable[Tool] | Mapping[str, Tool]

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


class ToolBox:
    """The tools of a session, by name."""

    def __init__(self, tools: Tools | None) -> None:
        if tools is None:
            self._tools: dict[str, Tool] = {}
        elif isinstance(tools, Mapping):
            self._tools = dict(tools)
        else:
            self._tools = {}
            for tool in tools:
                name = getattr(tool, "__name__", None) or type(tool).__name__
                if name in self._tools:
                    raise ValueError(f"two tools are called {name!r}")
                self._tools[name] = tool
        for name, tool in self._tools.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} cannot be a tool's name: JavaScript could not call it")
            if not callable(tool):
                raise TypeError(f"the tool {name!r} is not a function")

    def __bool__(self) -> bool:
        return bool(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def specs(self) -> list[dict[str, str]]:
        """As the server wants to know them."""
        return [{"name": name, "description": inspect.getdoc(tool) or ""} for name, tool in self._tools.items()]

    def get(self, name: str) -> Tool:
        """The function itself."""
        return self._tools[name]


#: Hears what a run writes, while it runs.
OnOutput = Callable[[Output], Any]


def heard(event: Mapping[str, Any], tag: str) -> Output | None:
    """What an event says that a run with this tag has written, if it says so."""
    data = event.get("data") or {}
    if event.get("kind") != "output" or data.get("tag") != tag:
        return None
    return Output(stream=data["stream"], text=data["text"], dropped=data.get("dropped", 0))


def answer(result: Any) -> dict[str, Any]:
    """The answer with a tool's result; with an error if that has no JSON form."""
    try:
        json.dumps(result, allow_nan=False)
    except (TypeError, ValueError) as fault:
        return {"error": f"the tool's result has no JSON form: {fault}"}
    return {"result": result}


def refusal(fault: BaseException) -> dict[str, Any]:
    """The answer of a tool that raised. Guest code sees the sentence, not the caller's stack."""
    said = str(fault)
    return {"error": f"{type(fault).__name__}: {said}" if said else type(fault).__name__}
