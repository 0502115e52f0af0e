"""Server-sent events, line by line: bytes' way does not matter here, so both clients use it."""

from __future__ import annotations

import json
from typing import Any


class Lines:
    """Collects lines until an event is whole."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def take(self, line: str) -> dict[str, Any] | None:
        """The event that ends with this line, if one does. Comments (keep-alives) and events without data are none."""
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
            return None
        if line or not self._data:
            return None
        text, self._data = "\n".join(self._data), []
        try:
            event = json.loads(text)
        except ValueError:
            return None
        return event if isinstance(event, dict) else None
