"""JavaScript in a real sandbox: values, pictures, sessions, tools."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from cove import Cove, Sandbox
from cove._local import LocalServer


def test_a_run_takes_input_and_gives_a_value(sandbox: Sandbox) -> None:
    run = sandbox.javascript.run(
        "const list: number[] = input.list; console.log('adding'); return { sum: list.reduce((a, b) => a + b, 0) }",
        {"list": [1, 2, 39]},
    )
    assert run.success, run.error
    assert run.value == {"sum": 42} and "adding" in run.logs and run.images == [] and run.failure is None


def test_a_failure_says_where(sandbox: Sandbox) -> None:
    run = sandbox.javascript.run("const a = 1\nthrow new Error('no wind')")
    assert not run.success and run.value is None and "no wind" in (run.error or "")
    assert run.failure is not None and run.failure.get("line") == 2


def test_what_json_loses_is_told(sandbox: Sandbox) -> None:
    run = sandbox.javascript.run("return { ports: new Map([['Oslo', 1]]) }")
    assert run.value == {"ports": {}} and len(run.warnings) == 1
    assert "`ports` is a Map" in run.warnings[0] and "Object.fromEntries(map)" in run.warnings[0]
    assert sandbox.javascript.run("return 1").warnings == []


def test_pictures_are_bytes(sandbox: Sandbox) -> None:
    run = sandbox.javascript.run(
        "const x = getCanvas(40, 30).getContext('2d'); x.fillStyle = 'teal'; x.fillRect(0, 0, 40, 30); return 1"
    )
    assert run.success, run.error
    (image,) = run.images
    assert (
        image.data.startswith(b"\x89PNG")
        and image._repr_png_() == image.data
        and (image.width, image.height) == (40, 30)
    )
    assert image.name in [one.name for one in sandbox.artifacts.list()]
    assert sandbox.javascript.run("getCanvas(4, 4); return 1", images=False).images == []


def test_a_session_remembers_until_it_is_reset(sandbox: Sandbox) -> None:
    with sandbox.javascript.session() as session:
        assert session.run("const port = 'Oslo'").success
        assert session.run("port").value == "Oslo"
        assert sandbox.javascript.session(session.name).run("port").value == "Oslo"
        session.reset()
        assert not session.run("port").success


def test_tools_are_plain_functions(sandbox: Sandbox) -> None:
    threads: set[int] = set()

    def depth(harbour: str) -> dict[str, Any]:
        """How deep a harbour is."""
        threads.add(threading.get_ident())
        return {"harbour": harbour, "metres": 12}

    async def wind(harbour: str, unit: str) -> str:
        return f"{harbour}: 5 {unit}"

    def refuse() -> None:
        raise ValueError("no berth left")

    def odd() -> object:
        return object()

    with sandbox.javascript.session(tools=[depth, wind, refuse, odd]) as session:
        assert session.run("const d = await depth('Oslo')").success
        assert session.run("d.metres").value == 12
        assert session.run("await wind('Bergen', 'm/s')").value == "Bergen: 5 m/s"
        several = session.run(
            "(await Promise.all(['a', 'b', 'c'].map((name) => depth(name)))).map((d) => d.harbour).join()"
        )
        assert several.value == "a,b,c", several.error
        failed = session.run("await refuse()")
        assert not failed.success and "no berth left" in (failed.error or "")
        caught = session.run("let said; try { await odd() } catch (fault) { said = String(fault) } said")
        assert "no JSON form" in caught.value, caught
        final = session.run("final_answer(await depth('Hull'))")
        assert final.is_final and final.value == {"harbour": "Hull", "metres": 12}
    assert threads == {threading.get_ident()}, "tools run in the thread that called run"


def test_a_run_that_is_interrupted_ends_on_the_server_too(server: LocalServer) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with Cove(server.url, server.key) as cove, cove.sandbox() as sandbox:
        session = sandbox.javascript.session(tools=[interrupt])
        with pytest.raises(KeyboardInterrupt):
            session.run("await interrupt(); for (;;);", timeout=280)
        # One run at a time: this one waits for the other's end, and is told of it, long before the other's own limit.
        again = sandbox.javascript.session(session.name).run("1 + 1", timeout=20)
        assert again.value == 2, again.error


def test_two_sessions_do_not_answer_for_each_other(cove: Cove, sandbox: Sandbox) -> None:
    answers: list[Any] = []

    def run(who: str) -> None:
        with sandbox.javascript.session(tools={"who": lambda: who}) as session:
            answers.append((who, [session.run("await who()").value for _ in range(3)]))

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == [("one", ["one"] * 3), ("two", ["two"] * 3)]


def test_names_of_tools_are_checked_before_anything_is_sent(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="cannot be a tool's name"):
        sandbox.javascript.session(tools=[lambda: None])
    with pytest.raises(TypeError, match="not a function"):
        sandbox.javascript.session(tools={"a": 1})  # type: ignore[arg-type]
