"""Which server: one that was named, one that runs on this machine, or one that is started now.

The order: what the caller says; `COVE_URL` and `COVE_KEY`; `BAY_ENDPOINT` and `BAY_TOKEN`; a server of the same user,
which leaves its address and its key in its data folder; a server of our own.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import httpx

from cove._config import Config
from cove._local import LocalServer
from cove.errors import ServerNotFoundError

#: Seconds to ask whether a server is there. It is on this machine, so that is plenty.
PROBE = 2.0


@dataclass
class Place:
    """Where the server is; `server` is ours to end, if we started it."""

    url: str
    key: str | None
    server: LocalServer | None = None


def find(url: str | None, key: str | None, start: bool | None, config: Config | None = None) -> Place:
    """Finds it, or starts it where that is allowed (`start`: `None` if none is found, `True` always, `False` never).

    A `config` is for a server that is started now."""
    if config is not None:
        if url is not None or start is False:
            raise ValueError("a config is for a server that is started now: give no url, and not start=False")
        return _started(config)
    if start is True:
        if url is not None:
            raise ValueError("a url and start=True together: which server should it be?")
        return _started(Config())
    for place in (_named(url, key), _running(key)):
        if place is not None:
            return place
    if start is False:
        raise ServerNotFoundError(
            f"no server: give a url, set COVE_URL and COVE_KEY, or run `cove serve` (looked in {data_dir()})"
        )
    return _started(Config())


def _named(url: str | None, key: str | None) -> Place | None:
    if url is not None:
        return Place(url, key if key is not None else os.environ.get("COVE_KEY") or os.environ.get("BAY_TOKEN"))
    for address, secret in (("COVE_URL", "COVE_KEY"), ("BAY_ENDPOINT", "BAY_TOKEN")):
        if os.environ.get(address):
            return Place(os.environ[address], key if key is not None else os.environ.get(secret))
    return None


def data_dir() -> Path:
    """The folder in which a server of this user keeps everything."""
    if os.environ.get("COVE_DATA_DIR"):
        return Path(os.environ["COVE_DATA_DIR"])
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "cove"


def _running(key: str | None) -> Place | None:
    """The server that left word in the data folder, if it is still there."""
    url = _word("address")
    key = key if key is not None else _word("api-key")
    if url is None or key is None:
        return None
    try:
        # First without the key: a server that was killed leaves its word behind, and another may listen there now.
        health = httpx.get(f"{url}/health", timeout=PROBE, trust_env=False)
        if health.status_code != 200 or health.json().get("status") != "ok":
            return None
        profiles = httpx.get(
            f"{url}/v1/profiles", timeout=PROBE, trust_env=False, headers={"Authorization": f"Bearer {key}"}
        )
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, AttributeError):
        return None
    return Place(url, key) if profiles.status_code == 200 else None


def _word(name: str) -> str | None:
    try:
        return (data_dir() / name).read_text().strip() or None
    except OSError:
        return None


def binary() -> str | None:
    """The `cove` to start: the one that `COVE_BIN` names, the one that came with this package, the one on the path."""
    return os.environ.get("COVE_BIN") or _packaged() or shutil.which("cove")


def _packaged() -> str | None:
    """The binary in a package that was installed with one: where the list of installed files has it; with
    `pip install --target`, which moves files afterwards, in `bin` beside this package."""
    try:
        listed = [Path(str(file.locate())) for file in metadata.files("cove-sandbox") or [] if file.name == "cove"]
    except metadata.PackageNotFoundError:
        return None
    for path in [*listed, Path(__file__).parents[1] / "bin" / "cove"]:
        if path.is_file():
            return str(path.resolve())
    return None


def _started(config: Config) -> Place:
    found = binary()
    if not found:
        raise ServerNotFoundError(
            "no server runs here and there is no `cove` on the path to start one: "
            "install cove, set COVE_BIN, or set COVE_URL and COVE_KEY"
        )
    server = LocalServer(found, config.environment(), config.arguments())
    return Place(server.url, server.key, server)
