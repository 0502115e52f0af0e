"""The client that awaits. It is the source of the other one; here is what differs: tools, streams, many at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cove import AsyncCove, Output, errors
from cove._local import LocalServer


def test_all_of_it(server: LocalServer, tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncCove(server.url, server.key) as cove, cove.sandbox() as sandbox:
            many = await asyncio.gather(*(sandbox.javascript.run("return input * 2", n) for n in range(8)))
            assert [run.value for run in many] == [n * 2 for n in range(8)]
            await sandbox.files.write("a.txt", "a")
            assert await sandbox.files.read("a.txt") == "a"
            assert (await sandbox.files.upload("b.bin", b"\x00\xff")).size == 2
            assert await sandbox.files.download("b.bin") == b"\x00\xff"

            async def pieces() -> AsyncIterator[bytes]:
                for piece in (b"one ", b"two"):
                    yield piece

            assert (await sandbox.files.upload("c.bin", pieces())).size == 7
            local = tmp_path / "c.bin"
            assert await sandbox.files.download_to("c.bin", local) == 7
            assert local.read_bytes() == b"one two"
            assert (await sandbox.files.upload("d.bin", local)).size == 7
            with local.open("rb") as file:
                assert (await sandbox.files.upload("e.bin", file)).size == 7
            assert (await sandbox.python.exec("40 + 2")).check().success
            heard: list[str] = []

            async def hear(output: Output) -> None:
                # The code could not go on if this were heard only at its end.
                await sandbox.files.write("go", "")
                heard.append(output.text)

            code = "import os, time\nprint('one')\nwhile not os.path.exists('go'): time.sleep(0.05)\nprint('two')"
            assert (await sandbox.python.exec(code, on_output=hear)).check().output == "one\ntwo\n"
            assert "".join(heard) == "one\ntwo\n"
            with pytest.raises(errors.WorkspaceFileNotFoundError):
                await sandbox.files.read("none.txt")
            assert [one.id async for one in cove.sandboxes.all()]
            last = sandbox.id
        with pytest.raises(errors.CoveError, match="closed"):
            await cove.sandboxes.get(last)

    asyncio.run(main())


def test_tools_run_at_the_same_time(server: LocalServer) -> None:
    both = asyncio.Event()
    waiting: list[str] = []

    async def meet(name: str) -> str:
        waiting.append(name)
        if len(waiting) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 30)
        return name

    def slow(name: str) -> str:
        time.sleep(0.01)
        return name

    def refuse() -> None:
        raise ValueError("no berth left")

    async def main() -> None:
        async with (
            AsyncCove(server.url, server.key) as cove,
            cove.sandbox() as sandbox,
            sandbox.javascript.session(tools=[meet, slow, refuse]) as session,
        ):
            run = await session.run("(await Promise.all([meet('a'), meet('b')])).join()")
            assert run.value == "a,b", run.error
            assert (await session.run("await slow('c')")).value == "c"
            failed = await session.run("await refuse()")
            assert not failed.success and "no berth left" in (failed.error or "")

    asyncio.run(main())


def test_events(server: LocalServer) -> None:
    async def main() -> None:
        async with AsyncCove(server.url, server.key) as cove, cove.sandbox() as sandbox:
            await sandbox.javascript.run("console.log('ahoy'); return 1")
            async for event in sandbox.events(after=0):
                if event.kind == "run_finished":
                    break

    asyncio.run(asyncio.wait_for(main(), 120))
