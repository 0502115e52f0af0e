"""Python, shell and files in a real sandbox."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cove import Cove, Output, RunFailedError, Sandbox, errors
from cove._local import LocalServer

#: A picture of one pixel.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="


def test_python_remembers(sandbox: Sandbox) -> None:
    assert sandbox.python.exec("x = 20").success
    run = sandbox.python.exec("print('adding'); x + 22", include_code=True, description="a sum", tags="sums")
    assert run.success and "adding" in run.output and "42" in run.output
    assert run.code is not None and run.data is not None and run.execution_id is not None
    entry = sandbox.history.get(run.execution_id)
    assert (entry.exec_type, entry.description, entry.tags) == ("python", "a sum", "sums")


def test_a_failure_in_the_sandbox_is_a_value(sandbox: Sandbox) -> None:
    run = sandbox.python.exec("1 / 0")
    assert not run.success and run.error is not None and "ZeroDivisionError" in run.error
    with pytest.raises(RunFailedError, match="ZeroDivisionError") as caught:
        run.check()
    assert caught.value.result is run
    assert sandbox.python.exec("1").check().success


def test_pictures_of_python_are_bytes(sandbox: Sandbox) -> None:
    run = sandbox.python.exec(
        f"import base64\nclass Dot:\n    def _repr_png_(self):\n        return base64.b64decode('{DOT}')\nDot()"
    )
    assert run.success, run.error
    (image,) = run.images
    assert image.media_type == "image/png" and image.data.startswith(b"\x89PNG") and image._repr_png_() == image.data


def test_shell(sandbox: Sandbox) -> None:
    sandbox.files.write("below/here.txt", "found\n")
    run = sandbox.shell.exec("cat here.txt; exit 3", cwd="below")
    assert (run.success, run.exit_code, run.output) == (False, 3, "found\n")


def test_output_is_heard_while_it_is_written(sandbox: Sandbox) -> None:
    heard: list[Output] = []

    def hear(output: Output) -> None:
        # The command could not go on if this were heard only at its end.
        if not heard:
            sandbox.files.write("go", "")
        heard.append(output)

    command = "echo one; echo two >&2; until [ -e go ]; do sleep 0.05; done; echo three"
    run = sandbox.shell.exec(command, on_output=hear)
    assert run.check().output == "one\nthree\ntwo\n"
    said = {name: "".join(one.text for one in heard if one.stream == name) for name in ("stdout", "stderr")}
    assert said == {"stdout": "one\nthree\n", "stderr": "two\n"}
    lines: list[str] = []
    assert sandbox.python.exec("for n in range(3): print(n)", on_output=lambda one: lines.append(one.text)).success
    assert "".join(lines) == "0\n1\n2\n"

    def refuse(_: Output) -> None:
        raise RuntimeError("not this")

    with pytest.raises(RuntimeError, match="not this"):
        sandbox.shell.exec("echo one; sleep 20", on_output=refuse)


def test_files(sandbox: Sandbox, tmp_path: Path) -> None:
    files = sandbox.files
    files.write("notes/häfen & co?.txt", "one\ntwo\n")
    assert files.read("notes/häfen & co?.txt") == "one\ntwo\n"
    assert [entry.name for entry in files.list("notes")] == ["häfen & co?.txt"]
    assert files.edit("notes/häfen & co?.txt", "two", "three").text
    assert "three" in files.grep("thr.e").text
    assert "häfen" in files.find("*.txt", "notes").text
    data = bytes(range(256)) * 1000
    local = tmp_path / "local.bin"
    local.write_bytes(data)
    for content in (data, local, io.BytesIO(data)):
        assert files.upload("some/data.bin", content).size == len(data)
        assert files.download("some/data.bin") == data
        back = tmp_path / "back.bin"
        assert files.download_to("some/data.bin", back) == len(data)
        assert back.read_bytes() == data
    assert files.upload("some/data.bin", (data[at : at + 1000] for at in range(0, len(data), 1000))).size == len(data)
    part = io.BytesIO(b"head" + data)
    part.seek(4)
    assert files.upload("some/data.bin", part).size == len(data)
    into = io.BytesIO()
    assert files.download_to("some/data.bin", into) == len(data) and into.getvalue() == data
    with pytest.raises(TypeError, match=r"files\.write"):
        files.upload("some/data.bin", "a text")  # type: ignore[arg-type]
    files.delete("some/data.bin")
    with pytest.raises(errors.WorkspaceFileNotFoundError):
        files.download("some/data.bin")
    with pytest.raises(errors.WorkspaceFileNotFoundError):
        files.download_to("some/data.bin", tmp_path / "never.bin")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["back.bin", "local.bin"]


def test_refusals_are_classes(cove: Cove, sandbox: Sandbox) -> None:
    with pytest.raises(errors.InvalidPathError) as path:
        sandbox.files.read("../../etc/passwd")
    assert path.value.status == 400 and path.value.details["reason"] == "path_traversal" and path.value.request_id
    with pytest.raises(errors.NotFoundError):
        sandbox.files.read("no-such-file")
    with pytest.raises(errors.CapabilityNotSupportedError) as capability:
        sandbox.browser.exec("get title")
    assert capability.value.details["capability"] == "browser"
    with pytest.raises(errors.NotFoundError):
        cove.sandboxes.get("sandbox-000000000000")
    with pytest.raises(errors.ApiError):
        cove.sandboxes.create("no-such-profile")


def test_what_does_not_fit_is_said_field_by_field(server: LocalServer) -> None:
    with Cove(server.url, server.key) as cove, cove.sandbox() as sandbox:
        with pytest.raises(errors.ValidationError, match=r"body\.timeout: ") as caught:
            sandbox.python.exec("1", timeout=10_000)
        assert caught.value.status == 422 and caught.value.details["problems"]


def test_no_key_no_entry(cove: Cove) -> None:
    for key in ("", "sk-bay-wrong"):
        with Cove(cove.url(), key) as stranger, pytest.raises(errors.UnauthorizedError):
            stranger.sandboxes.list()


def test_processes_run_on_and_folders_are_watched(sandbox: Sandbox) -> None:
    started = sandbox.processes.start("read x; echo got $x; echo bad >&2; exit 3", name="reader", stdin=True)
    assert started.process_id == "reader" and started.running
    with pytest.raises(errors.ConflictError):
        sandbox.processes.start(["true"], name="reader")
    sandbox.processes.write("reader", "it\n", end=True)
    news = list(sandbox.processes.follow("reader", after=0))
    said = {name: b"".join(one.output for one in news if one.stream == name) for name in ("stdout", "stderr")}
    assert said == {"stdout": b"got it\n", "stderr": b"bad\n"} and news[0].kind == "process"
    assert news[-1].kind == "ended" and news[-1].process is not None and news[-1].process.return_code == 3
    assert sandbox.processes.get("reader").stdout == "got it\n"
    asleep = sandbox.processes.start(["sleep", "600"])
    assert sandbox.processes.kill(asleep.process_id).status == "killed"
    assert {"reader", asleep.process_id} <= {one.process_id for one in sandbox.processes.list()}
    with pytest.raises(errors.NotFoundError):
        next(iter(sandbox.processes.follow("nobody")))
    sandbox.shell.exec("mkdir -p watched")
    watch = iter(sandbox.files.watch("watched"))
    assert next(watch).kind == "watching"
    sandbox.files.write("watched/new.txt", "new")
    assert any(one.event is not None and one.event.path == "new.txt" for one in watch)
