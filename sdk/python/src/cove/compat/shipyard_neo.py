"""`ShipyardClient`: the same client, with every verb also reachable as `client.<capability>.<verb>(sandbox_id, …)`.

For programs that are written as

    client = ShipyardClient()
    sandbox = client.sandboxes.create(profile="browser-python")
    client.browser.exec(sandbox.id, "open https://example.com")

`from shipyard_neo import ShipyardClient` itself works with the alias package in `sdk/python/alias`, which is not part
of this one: another package of that name exists, and two must not write into one folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from cove._sync.browser import Browser
from cove._sync.client import Cove
from cove._sync.files import Files
from cove._sync.javascript import JavaScript
from cove._sync.python import Python
from cove._sync.shell import Shell
from cove._sync.transport import Transport
from cove._wire import segment

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["ShipyardClient"]


class _ById:
    """Verbs of one capability for any sandbox."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def _verb(
    kind: Callable[[Transport, str], Any], method: Callable[Concatenate[Any, P], R]
) -> Callable[Concatenate[_ById, str, P], R]:
    def call(self: _ById, sandbox_id: str, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(kind(self._transport, f"/v1/sandboxes/{segment(sandbox_id)}"), *args, **kwargs)

    call.__name__ = method.__name__
    call.__doc__ = method.__doc__
    return call


class _Python(_ById):
    exec = _verb(Python, Python.exec)


class _Shell(_ById):
    exec = _verb(Shell, Shell.exec)


class _JavaScript(_ById):
    run = _verb(JavaScript, JavaScript.run)
    exec = _verb(JavaScript, JavaScript.run)


class _Browser(_ById):
    exec = _verb(Browser, Browser.exec)
    exec_batch = _verb(Browser, Browser.batch)
    navigate = _verb(Browser, Browser.navigate)
    snapshot = _verb(Browser, Browser.snapshot)
    click = _verb(Browser, Browser.click)
    fill = _verb(Browser, Browser.fill)
    screenshot = _verb(Browser, Browser.screenshot)


class _Filesystem(_ById):
    read_file = _verb(Files, Files.read)
    write_file = _verb(Files, Files.write)
    list_dir = _verb(Files, Files.list)
    delete = _verb(Files, Files.delete)
    upload = _verb(Files, Files.upload)
    download = _verb(Files, Files.download)


class ShipyardClient(Cove):
    """`Cove`, with its verbs by sandbox id."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.python = _Python(self._transport)
        self.shell = _Shell(self._transport)
        self.javascript = _JavaScript(self._transport)
        self.browser = _Browser(self._transport)
        self.filesystem = _Filesystem(self._transport)
