"""One real server for all tests, and clients whose every request and answer is held to the server's own document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract import Recorder
from cove import Cove, Sandbox
from cove._local import LocalServer

ROOT = Path(__file__).resolve().parents[3]


def binary() -> str:
    """The `cove` under test."""
    return os.environ.get("COVE_BIN") or str(ROOT / "target" / "debug" / "cove")


@pytest.fixture(scope="session", autouse=True)
def environment() -> Iterator[None]:
    """No server of the machine's own is found by accident; the binary is the one under test."""
    kept = dict(os.environ)
    for name in ("COVE_URL", "COVE_KEY", "BAY_ENDPOINT", "BAY_TOKEN"):
        os.environ.pop(name, None)
    os.environ["COVE_BIN"] = binary()
    for found in ROOT.glob(".tools/agent-browser/node_modules/agent-browser/bin/agent-browser-linux-*"):
        if os.access(found, os.X_OK):
            os.environ["COVE_AGENT_BROWSER"] = str(found)
    os.environ["COVE_DATA_DIR"] = "/nonexistent/cove"
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture(scope="session")
def server(environment: None) -> Iterator[LocalServer]:
    # Python in its sandboxes has the packages of scripts/setup: the seed's example uses one.
    running = LocalServer(binary(), {"BAY_DRIVER__LOCAL__PYTHON": str(ROOT / ".tools" / "venv")})
    yield running
    running.close()


@pytest.fixture(scope="session")
def recorder() -> Recorder:
    return Recorder(ROOT / "docs" / "openapi.json")


@pytest.fixture(scope="session")
def cove(server: LocalServer, recorder: Recorder) -> Iterator[Cove]:
    with Cove(server.url, server.key, transport=recorder) as client:
        yield client


@pytest.fixture(scope="module")
def sandbox(cove: Cove) -> Iterator[Sandbox]:
    with cove.sandbox() as made:
        yield made


@pytest.fixture(scope="module")
def browser_sandbox(cove: Cove) -> Iterator[Sandbox]:
    with cove.sandbox("browser-python") as made:
        yield made
