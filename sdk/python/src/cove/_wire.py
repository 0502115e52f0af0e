"""One request as data, and what comes back as typed values.

Both clients, the one that waits and the one that awaits, build the same `Request` and read the answer with the same
`decode`: only sending differs.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from cove import errors
from cove._upload import Upload

T = TypeVar("T")

#: Seconds beyond a run's own limit before the client gives up waiting: a session's start (a browser's takes longest)
#: and the way there and back.
GRACE = 60.0

#: Seconds for calls that run no guest code. They may still start a session.
PLAIN = 90.0


@dataclasses.dataclass(frozen=True)
class Request:
    """What to ask. `None` in `query` and `body` means: not said."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    #: A file to send.
    upload: Upload | None = None
    idempotency_key: str | None = None
    timeout: float = PLAIN
    #: A POST that does no harm when it is sent twice, though it has no key.
    harmless: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether sending it twice does no harm: a POST only with a key that tells the server so, or by its nature."""
        if self.upload is not None and not self.upload.repeatable:
            return False
        return self.method in ("GET", "PUT", "DELETE") or self.idempotency_key is not None or self.harmless

    def params(self) -> dict[str, str]:
        """The query as text."""
        said = {name: value for name, value in (self.query or {}).items() if value is not None}
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in said.items()}

    def json(self) -> dict[str, Any] | None:
        """The body without what was not said."""
        if self.body is None:
            return None
        return {name: value for name, value in self.body.items() if value is not None}


def segment(text: str) -> str:
    """One piece of a path; whatever is in it, it stays one piece."""
    return quote(text, safe="")


_FRACTION = re.compile(r"\.(\d+)")


def moment(text: str) -> datetime:
    """A moment as the server writes it, with any number of digits and `Z`, which Python 3.10 does not read."""
    text = _FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), text)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def decode(model: type[T], data: Any) -> T:
    """Builds `model` from JSON. Fields that this client does not know yet are left out; none is guessed."""
    return typing.cast(T, _decode(model, data))


def read_as(model: type[T], data: Any) -> T:
    """The same, and a protocol error where it is not one."""
    try:
        return decode(model, data)
    except (ValueError, TypeError, KeyError, AttributeError) as fault:
        raise errors.ProtocolError(f"the answer is not {model.__name__}: {fault}") from fault


@functools.cache
def _hints(model: type) -> dict[str, Any]:
    return typing.get_type_hints(model)


def _decode(hint: Any, data: Any) -> Any:
    origin = typing.get_origin(hint)
    if data is None or hint is Any or origin is typing.Literal:
        return data
    if origin in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
        return _decode(kinds[0], data) if len(kinds) == 1 else data
    if origin is list:
        (item,) = typing.get_args(hint)
        return [_decode(item, one) for one in data]
    if hint is datetime:
        return moment(data)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        hints = _hints(hint)
        known = {field.name for field in dataclasses.fields(hint)}
        return hint(**{name: _decode(hints[name], value) for name, value in data.items() if name in known})
    return data
