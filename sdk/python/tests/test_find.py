"""Which server a client finds, and what becomes of one that it starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import binary
from cove import Config, Cove, errors
from cove._local import LocalServer


def gone(pid: int) -> bool:
    """Whether a process is over; one that waits for its parent to look is."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 60
    while not gone(pid):
        assert time.monotonic() < deadline, f"{pid} is still there"
        time.sleep(0.05)


@pytest.mark.parametrize(("address", "secret"), [("COVE_URL", "COVE_KEY"), ("BAY_ENDPOINT", "BAY_TOKEN")])
def test_the_environment_names_it(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch, address: str, secret: str
) -> None:
    monkeypatch.setenv(address, server.url)
    monkeypatch.setenv(secret, server.key)
    with Cove(start=False) as cove:
        assert cove.url() == server.url and cove.profiles()


def test_one_that_runs_here_is_found_by_its_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVE_DATA_DIR", str(tmp_path))
    running = subprocess.Popen(
        [binary(), "serve", "--port", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert running.stdout is not None
    try:
        with running.stdout:
            url = json.loads(running.stdout.readline())["listening"]
            with Cove(start=False) as cove:
                assert cove.url() == url and cove.profiles()
    finally:
        running.terminate()
        running.wait(60)
    with pytest.raises(errors.ServerNotFoundError):
        Cove(start=False).profiles()


def test_no_server_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.ServerNotFoundError, match="COVE_URL"):
        Cove(start=False).profiles()
    monkeypatch.setenv("COVE_BIN", "/nonexistent/cove")
    with pytest.raises(errors.ServerNotFoundError, match="nonexistent"):
        Cove(start=True).profiles()
    monkeypatch.setenv("COVE_BIN", "/bin/false")
    with pytest.raises(errors.ServerNotFoundError, match="did not come up"):
        Cove(start=True).profiles()


def test_one_that_is_started_is_as_it_was_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    python = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", python], check=True)
    (python / "bin" / "python3").unlink()
    (python / "bin" / "python3").symlink_to("/usr/bin/python3")
    small = {"id": "small", "resources": {"memory": "64m"}, "network": {}}
    config = Config(profiles=[small], allow_hosts=["example.com"], python="venv", data_dir="data")
    with Cove(config=config) as cove:
        assert {"small", "python-default"} <= {profile.id for profile in cove.profiles()}
        sandbox = cove.sandboxes.create("small")
        assert sandbox.python.exec("import sys; print(sys.prefix)").check().output.strip() == "/opt/python"
        with pytest.raises(errors.ValidationError, match=r"there are: small, .*python-default"):
            cove.sandboxes.create("large")
        # A way out for those without a network of their own.
        with cove.sandbox() as other:
            assert "http_proxy=" in other.shell.exec("env").check().output
        assert "http_proxy=" not in sandbox.shell.exec("env").check().output
    # The data folder stays, and its sandboxes with it.
    with Cove(config=Config(profiles=[small], data_dir=tmp_path / "data")) as cove:
        cove.sandboxes.get(sandbox.id).delete()
    with pytest.raises(errors.ServerNotFoundError, match="memory"):
        Cove(config=Config(profiles=[{"id": "tiny", "resources": {"memory": "1m"}}])).profiles()
    for wrong in (Cove("http://127.0.0.1:1", config=config), Cove(start=False, config=config)):
        with pytest.raises(ValueError, match="started now"):
            wrong.profiles()


def test_one_that_is_started_ends_with_its_client() -> None:
    with Cove() as cove:
        place = cove._transport._place
        assert place is not None and place.server is not None
        pid = place.server._process.pid
        with cove.sandbox() as sandbox:
            assert sandbox.javascript.run("return 6 * 7").value == 42
    assert gone(pid)


@pytest.mark.parametrize("how", ["killed", "forgotten"])
def test_one_that_is_started_ends_with_its_parent(how: str) -> None:
    code = (
        "import sys\nfrom cove import Cove\ncove = Cove(start=True)\ncove.sandbox().shell.exec('true')\n"
        "print(cove._transport._place.server._process.pid, flush=True)\n"
    )
    code += "import signal; signal.pause()" if how == "killed" else "sys.exit(0)"
    environment = {**os.environ, "COVE_BIN": binary(), "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "src")}
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    with parent.stdout:
        pid = int(parent.stdout.readline())
    if how == "killed":
        parent.send_signal(signal.SIGKILL)
    parent.wait(60)
    wait_until_gone(pid)
