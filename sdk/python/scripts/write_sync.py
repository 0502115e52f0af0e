"""Writes the client that waits (`_sync`) from the client that awaits (`_async`), so that no verb is written twice.

    python scripts/write_sync.py           writes it
    python scripts/write_sync.py --check   says whether it is as `_async` wants it (exit code 1: no)

`transport.py` and `calls.py` differ in more than words (threads there, tasks here) and are written by hand in both.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "cove" / "_async"
TARGET = SOURCE.parent / "_sync"
BY_HAND = {"__init__.py", "transport.py", "calls.py"}

RULES = [
    (r"Opening\[(\w+)\]", r"\1"),
    (r"Opening\((.*)\)", r"\1"),
    (r"import AsyncTransport, Opening", "import AsyncTransport"),
    (r"async_transport=", "transport="),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\bAsyncBaseTransport\b", "BaseTransport"),
    (r"\bAsync([A-Z]\w*)", r"\1"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bcove\._async\b", "cove._sync"),
]


def wait(text: str, name: str) -> str:
    """The text of the client that waits."""
    for old, new in RULES:
        text = re.sub(old, new, text)
    head, rest = text.split("\n", 1)
    return f"{head}\n# Written by scripts/write_sync.py from _async/{name}; a change here is lost.\n{rest}"


def main() -> int:
    wanted = {path.name: wait(path.read_text(), path.name) for path in SOURCE.glob("*.py") if path.name not in BY_HAND}
    there = {path.name: path.read_text() for path in TARGET.glob("*.py") if path.name not in BY_HAND}
    if "--check" in sys.argv[1:]:
        stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        if stale:
            print(f"_sync/{', '.join(stale)}: not as _async; run sdk/python/scripts/write_sync.py", file=sys.stderr)
        return 1 if stale else 0
    for name in there.keys() - wanted.keys():
        (TARGET / name).unlink()
    for name, text in wanted.items():
        (TARGET / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
