"""A client that was written for another Bay, against `cove serve`: what its documentation shows works unchanged.

Run by the end-to-end suite of `cove serve`, with BAY_ENDPOINT and BAY_TOKEN set.
"""

import asyncio
import uuid

import pytest
from shipyard_neo import (
    BayClient,
    CapabilityNotSupportedError,
    CargoFileNotFoundError,
    ConflictError,
    InvalidPathError,
    NotFoundError,
    SandboxExpiredError,
    SandboxTTLInfiniteError,
    SkillReleaseStage,
    UnauthorizedError,
    ValidationError,
)


def run(scenario):
    """Runs a scenario with a client from the environment."""

    async def main():
        async with BayClient() as client:
            return await scenario(client)

    return asyncio.run(main())


def test_first_steps():
    async def scenario(client):
        sandbox = await client.create_sandbox(profile="python-default", ttl=600)
        done = await sandbox.python.exec("print('hello')", include_code=True, description="smoke run", tags="smoke,python")
        assert done.success and done.output == "hello\n" and done.code == "print('hello')"
        assert done.execution_id.startswith("exec-") and done.execution_time_ms >= 0
        history = await sandbox.get_execution_history(limit=10)
        assert history.total == 1 and history.entries[0].description == "smoke run"
        await sandbox.delete()
        with pytest.raises(NotFoundError):
            await sandbox.refresh()

    run(scenario)


def test_python_keeps_its_state_and_shows_pictures():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=600)
        await sandbox.python.exec("x = 20")
        done = await sandbox.python.exec("x + 1")
        assert done.output.strip() == "21" and done.data["execution_count"] == 2
        failed = await sandbox.python.exec("1/0")
        assert not failed.success and "ZeroDivisionError" in failed.error
        await sandbox.delete()

    run(scenario)


def test_shell():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=600)
        done = await sandbox.shell.exec("echo hello", cwd=".", timeout=30, include_code=True, tags="demo,shell")
        assert (done.success, done.output, done.exit_code, done.command) == (True, "hello\n", 0, "echo hello")
        failed = await sandbox.shell.exec("exit 7")
        assert (failed.success, failed.exit_code) == (False, 7)
        await sandbox.delete()

    run(scenario)


def test_files_up_and_down():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=600)
        files = sandbox.filesystem
        await files.write_file("app.py", "print('hi')")
        assert await files.read_file("app.py") == "print('hi')"
        assert "app.py" in [entry.name for entry in await files.list_dir(".")]
        await files.delete("app.py")
        with pytest.raises(CargoFileNotFoundError):
            await files.read_file("app.py")
        blob = bytes(range(256)) * 1000
        await files.upload("bin/model.bin", blob)
        assert await files.download("bin/model.bin") == blob
        with pytest.raises(InvalidPathError):
            await files.read_file("../etc/passwd")
        await sandbox.delete()

    run(scenario)


def test_browser():
    async def scenario(client):
        plain = await client.create_sandbox(ttl=600)
        with pytest.raises(CapabilityNotSupportedError):
            await plain.browser.exec("open about:blank")
        await plain.delete()
        sandbox = await client.create_sandbox(profile="browser-python", ttl=600)
        done = await sandbox.browser.exec("open data:text/html,<title>Cove</title><h1>Hello</h1>")
        assert done.success and done.exit_code == 0, done
        batch = await sandbox.browser.exec_batch(["get title", "snapshot", "screenshot page.png"])
        assert batch.success and batch.completed_steps == 3 and "Cove" in batch.results[0].stdout, batch
        assert (await sandbox.filesystem.download("page.png")).startswith(b"\x89PNG")
        history = await sandbox.get_execution_history(exec_type="browser_batch")
        assert history.total == 1
        await sandbox.delete()

    run(scenario)


def test_history():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=600)
        await sandbox.python.exec("1", tags="etl", description="one")
        await sandbox.python.exec("1/0", tags="etl")
        found = await sandbox.get_execution_history(
            exec_type="python", success_only=True, tags="etl", has_notes=False, has_description=True, limit=20
        )
        assert found.total == 1
        last = await sandbox.get_last_execution(exec_type="python")
        noted = await sandbox.annotate_execution(last.id, description="useful", tags="etl,stable", notes="source")
        assert (noted.description, noted.tags, noted.notes) == ("useful", "etl,stable", "source")
        assert (await sandbox.get_execution(last.id)).notes == "source"
        await sandbox.delete()

    run(scenario)


def test_cargo_outlives_its_sandbox():
    async def scenario(client):
        cargo = await client.cargos.create(size_limit_mb=64)
        first = await client.create_sandbox(profile="python-default", cargo_id=cargo.id, ttl=600)
        await first.filesystem.write_file("state.txt", "persist-me")
        with pytest.raises(ConflictError):
            await client.cargos.delete(cargo.id)
        await first.delete()
        second = await client.create_sandbox(profile="python-default", cargo_id=cargo.id)
        assert await second.filesystem.read_file("state.txt") == "persist-me"
        await second.delete()
        assert cargo.id in [item.id for item in (await client.cargos.list(limit=200)).items]
        await client.cargos.delete(cargo.id)
        with pytest.raises(NotFoundError):
            await client.cargos.get(cargo.id)

    run(scenario)


def test_skills():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=600)
        key = f"etl-{uuid.uuid4().hex[:8]}"
        one = await sandbox.python.exec("print('step1')", tags="etl")
        two = await sandbox.shell.exec("echo step2", tags="etl")
        payload = await client.skills.create_payload(payload={"steps": [1, 2]})
        assert (await client.skills.get_payload(payload.payload_ref)).payload == {"steps": [1, 2]}
        candidate = await client.skills.create_candidate(
            skill_key=key,
            source_execution_ids=[one.execution_id, two.execution_id],
            scenario_key="csv-import",
            payload_ref="s3://skills/etl-loader/v1",
        )
        evaluation = await client.skills.evaluate_candidate(
            candidate.id, passed=True, score=0.96, benchmark_id="bench-etl-001", report="all checks passed"
        )
        assert evaluation.passed
        first = await client.skills.promote_candidate(candidate.id, stage=SkillReleaseStage.CANARY)
        another = await client.skills.create_candidate(skill_key=key, source_execution_ids=[one.execution_id])
        await client.skills.evaluate_candidate(another.id, passed=True)
        second = await client.skills.promote_candidate(another.id, stage=SkillReleaseStage.CANARY)
        active = await client.skills.list_releases(skill_key=key, active_only=True)
        assert [release.id for release in active.items] == [second.id]
        assert (await client.skills.get_release_health(second.id)).release_id == second.id
        back = await client.skills.rollback_release(second.id)
        assert back.skill_key == key and first.id != second.id
        await sandbox.delete()

    run(scenario)


def test_repeated_requests_do_their_work_once():
    async def scenario(client):
        key = f"create-{uuid.uuid4().hex}"
        make = lambda: client.create_sandbox(profile="python-default", ttl=600, idempotency_key=key)  # noqa: E731
        several = await asyncio.gather(*(make() for _ in range(5)))
        assert len({sandbox.id for sandbox in several}) == 1
        with pytest.raises(ConflictError):
            await client.create_sandbox(profile="python-default", ttl=601, idempotency_key=key)
        sandbox = several[0]
        await sandbox.extend_ttl(300, idempotency_key=f"{key}-more")
        ends = sandbox.expires_at
        await sandbox.extend_ttl(300, idempotency_key=f"{key}-more")
        assert sandbox.expires_at == ends
        await sandbox.delete()

    run(scenario)


def test_life():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=600)
        await sandbox.keepalive()
        await sandbox.shell.exec("echo 1 > kept")
        await sandbox.refresh()
        assert sandbox.status.value == "ready"
        await sandbox.stop()
        await sandbox.refresh()
        assert sandbox.status.value == "idle"
        assert (await sandbox.shell.exec("cat kept")).output == "1\n"
        assert sandbox.id in [item.id for item in (await client.list_sandboxes(limit=200)).items]
        assert (await client.get_sandbox(sandbox.id)).cargo_id == sandbox.cargo_id
        assert "browser-python" in [profile.id for profile in (await client.list_profiles(detail=True)).items]
        await sandbox.delete()
        endless = await client.create_sandbox()
        with pytest.raises(SandboxTTLInfiniteError):
            await endless.extend_ttl(60)
        await endless.delete()

    run(scenario)


def test_an_expired_sandbox_is_refused_at_once():
    async def scenario(client):
        sandbox = await client.create_sandbox(ttl=1)
        while sandbox.status.value != "expired":
            await asyncio.sleep(0.05)
            await sandbox.refresh()
        with pytest.raises(SandboxExpiredError):
            await sandbox.python.exec("1")
        with pytest.raises(SandboxExpiredError):
            await sandbox.extend_ttl(60)
        await sandbox.delete()

    run(scenario)


def test_refusals_have_their_types():
    async def scenario(client):
        with pytest.raises(NotFoundError):
            await client.get_sandbox("sandbox-missing")
        with pytest.raises(ValidationError):
            await client.create_sandbox(profile="nobody")
        async with BayClient(access_token="wrong") as stranger:
            with pytest.raises(UnauthorizedError):
                await stranger.list_sandboxes()

    run(scenario)
