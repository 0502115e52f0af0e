"""The package is what the server's document says: models, verbs, fields, error codes."""

from __future__ import annotations

import inspect
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cove as package
from contract import Recorder
from cove import Cove, errors
from cove._local import LocalServer
from cove._wire import Request, moment

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"

#: Operations for people and operators, which a client of sandboxes does not need.
NOT_OFFERED = {"run_collector", "get_collector"}
#: Both decisions have one body, of which each verb says its half.
OTHER_HALF = {"approve_call": {"reason"}, "deny_call": {"remember"}, "write_process": {"text"}}

GONE = "sandbox-000000000000"
#: What each argument is filled with.
SAMPLES: dict[str, Any] = {
    "profile": "no-such-profile",
    "allow_hosts": ["example.com"],
    "cargo_id": "ws-000000000000",
    "sandbox_id": GONE,
    "approval_id": "a-1",
    "remember": True,
    "size_limit_mb": 1,
    "idempotency_key": "sample-key",
    "ttl": 60,
    "metadata": {"a": "b"},
    "keep_session": False,
    "env": {"A": "b"},
    "session": "sample",
    "limit": 5,
    "failed_only": True,
    "offset": 0,
    "cursor": None,
    "seconds": 60,
    "code": "1",
    "command": "true",
    "target": io.BytesIO(),
    "cmd": "get title",
    "commands": ["get title"],
    "input": {"a": 1},
    "engine": "embedded",
    "timeout": 5,
    "cwd": ".",
    "include_code": True,
    "description": "a sample",
    "tags": "one,two",
    "without_tags": "three",
    "barred": False,
    "learn": False,
    "include_trace": False,
    "stop_on_error": True,
    "interactive": True,
    "url": "about:blank",
    "ref": "@e1",
    "text": "text",
    "path": "sample.txt",
    "full_page": False,
    "content": "text",
    "old": "a",
    "new": "b",
    "pattern": "a",
    "glob": "*.txt",
    "ignore_case": True,
    "literal": True,
    "context": 1,
    "skill_key": "sample",
    "trace_ref": "blob-000000000000",
    "execution_id": "exec-000000000000",
    "exec_type": "python",
    "success_only": True,
    "has_notes": False,
    "has_description": True,
    "notes": "noted",
    "name": "00000000-0000-4000-8000-000000000000.png",
    "payload": {"a": 1},
    "kind": "generic",
    "payload_ref": "blob:blob-000000000000",
    "source_execution_ids": ["exec-000000000000"],
    "scenario_key": "sample",
    "summary": "sample",
    "usage_notes": "sample",
    "preconditions": {},
    "postconditions": {},
    "candidate_id": "sc-000000000000",
    "release_id": "sr-000000000000",
    "reason": "sample",
    "passed": True,
    "score": 1.0,
    "benchmark_id": "sample",
    "report": "sample",
    "stage": "canary",
    "upgrade_of_release_id": "sr-000000000000",
    "upgrade_reason": "sample",
    "change_summary": "sample",
    "active_only": True,
    "managed": True,
    "detail": True,
    "usage": True,
    "images": True,
    "on_output": None,
    "after": 1,
    "port": 3000,
    "link_id": "link-000000000000",
    "process_id": "sample",
    "stdin": True,
    "terminal": (80, 24),
    "signal": 15,
    "cols": 80,
    "rows": 24,
    "data": "text",
    "end": True,
    "recursive": True,
    "restart": True,
}
SPECIAL: dict[tuple[str, str], Any] = {
    ("list", "status"): "idle",
    ("all", "status"): "idle",
    ("list_candidates", "status"): "draft",
}


@pytest.mark.parametrize("script", ["write_models.py", "write_sync.py"])
def test_what_scripts_write_is_as_they_would_write_it(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script), "--check"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_every_error_code_has_its_class(recorder: Recorder) -> None:
    codes = set(recorder.document["components"]["schemas"]["ErrorCode"]["enum"])
    assert set(errors.BY_CODE) == codes
    assert all(kind.code == code for code, kind in errors.BY_CODE.items())


def call(method: Any) -> None:
    """Calls a verb with every argument it has. Most refuse: nothing that is named exists."""
    arguments = {}
    for name in inspect.signature(method).parameters:
        value = SPECIAL.get((method.__name__, name), SAMPLES.get(name, inspect.Parameter.empty))
        assert value is not inspect.Parameter.empty, f"no sample for {method.__qualname__}({name})"
        arguments[name] = value
    if method.__name__ == "upload":
        arguments["content"] = b"bytes"
    try:
        result = method(**arguments)
        if inspect.isgenerator(result):
            next(result, None)
            result.close()
    except errors.ApiError:
        pass


def test_every_operation_and_every_field_can_be_said(server: LocalServer) -> None:
    recorder = Recorder(Path(__file__).resolve().parents[3] / "docs" / "openapi.json")
    with Cove(server.url, server.key, transport=recorder, retries=0) as cove:
        info = package.models.SandboxInfo(
            id=GONE,
            status="idle",
            profile="none",
            cargo_id="ws-000000000000",
            capabilities=[],
            created_at=moment("2026-01-01T00:00:00Z"),
        )
        sandbox = package.Sandbox(cove._transport, info)
        rooms = [cove, cove.sandboxes, cove.cargos, cove.approvals, cove.skills, sandbox]
        rooms += [sandbox.javascript, sandbox.python, sandbox.shell, sandbox.processes, sandbox.files]
        rooms += [sandbox.browser, sandbox.history, sandbox.artifacts]
        for room in rooms:
            for name, method in inspect.getmembers(room, inspect.ismethod):
                if not name.startswith("_") and name not in ("close", "session", "image"):
                    call(method)
        session = sandbox.javascript.session("sample", tools={"tool": lambda: None})
        call(session.run)
        call(session.reset)
        # With tools, a run first listens; where there is no sandbox it gets no further. Its other fields:
        base = f"/v1/sandboxes/{GONE}/javascript"
        body = {"code": "1", "session": "sample", "tools": [{"name": "tool"}]}
        with pytest.raises(errors.NotFoundError):
            cove._transport.send(Request("POST", f"{base}/exec", body=body))
        with pytest.raises(errors.NotFoundError):
            cove._transport.send(Request("POST", f"{base}/tools/call-1", body={"result": 1, "error": "no"}))
        # So does a run that is heard.
        for verb, said in [("python", {"code": "1"}), ("shell", {"command": "true"})]:
            with pytest.raises(errors.NotFoundError):
                path = f"/v1/sandboxes/{GONE}/{verb}/exec"
                cove._transport.send(Request("POST", path, body={**said, "output_tag": "sample"}))
    operations = {one["operationId"]: one for path in recorder.document["paths"].values() for one in path.values()}
    missing = operations.keys() - recorder.seen.keys() - NOT_OFFERED
    assert not missing, f"the package has no verb for {sorted(missing)}"
    for name, operation in operations.items():
        left_out = {"cursor"} | OTHER_HALF.get(name, set())
        unsaid = recorder.wanted(operation) - recorder.fields.get(name, set()) - left_out
        assert name in NOT_OFFERED or not unsaid, f"{name}: {sorted(unsaid)} cannot be said"
