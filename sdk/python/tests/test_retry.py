"""What is repeated after a break, and what never is."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cove import AsyncCove, Cove, errors
from cove._local import LocalServer
from cut import Wire


@pytest.fixture
def wire(server: LocalServer) -> Iterator[Callable[[int], Wire]]:
    wires: list[Wire] = []

    def make(cuts: int) -> Wire:
        wires.append(Wire(server.url, cuts))
        return wires[-1]

    yield make
    for one in wires:
        one.close()


def test_a_lost_answer_makes_one_sandbox(cove: Cove, server: LocalServer, wire: Callable[[int], Wire]) -> None:
    before = {sandbox.id for sandbox in cove.sandboxes.all()}
    cut = wire(2)
    with Cove(cut.url, server.key) as client, client.sandbox() as sandbox:
        assert cut.requests >= 3
        assert {one.id for one in cove.sandboxes.all()} - before == {sandbox.id}


def test_a_run_is_never_repeated(cove: Cove, server: LocalServer, wire: Callable[[int], Wire]) -> None:
    with cove.sandbox() as sandbox:
        sandbox.python.exec("n = 0")
        cut = wire(1)
        with Cove(cut.url, server.key) as client:
            with pytest.raises(errors.TransportError):
                type(sandbox)(client._transport, sandbox.info).python.exec("n += 1")
            assert cut.requests == 1
            again = client.sandboxes.get(sandbox.id)
            assert "1" in again.python.exec("n").output


def test_it_gives_up_in_the_end(server: LocalServer, wire: Callable[[int], Wire]) -> None:
    cut = wire(100)
    with Cove(cut.url, server.key, retries=2) as client, pytest.raises(errors.TransportError):
        client.sandboxes.list()
    assert cut.requests == 3


def test_files_go_again_where_they_can(
    cove: Cove, server: LocalServer, wire: Callable[[int], Wire], tmp_path: Path
) -> None:
    data = b"0123456789" * 10_000
    (tmp_path / "there.bin").write_bytes(data)
    with cove.sandbox() as made:
        for content in (data, tmp_path / "there.bin", io.BytesIO(data)):
            cut = wire(1)
            with Cove(cut.url, server.key) as client:
                files = type(made)(client._transport, made.info).files
                assert files.upload("a.bin", content).size == len(data)
                assert cut.requests >= 2
        cut = wire(1)
        with Cove(cut.url, server.key) as client:
            files = type(made)(client._transport, made.info).files
            assert files.download_to("a.bin", tmp_path / "back.bin") == len(data)
        assert (tmp_path / "back.bin").read_bytes() == data
        cut = wire(1)
        with Cove(cut.url, server.key) as client, pytest.raises(errors.TransportError):
            # Pieces that were given away are gone.
            type(made)(client._transport, made.info).files.upload("b.bin", iter([data]))


def test_awaiting_too(server: LocalServer, wire: Callable[[int], Wire]) -> None:
    async def main() -> None:
        cut = wire(2)
        async with AsyncCove(cut.url, server.key) as client, client.sandbox() as sandbox:
            assert cut.requests >= 3
            assert (await client.sandboxes.get(sandbox.id)).id == sandbox.id

    asyncio.run(main())
