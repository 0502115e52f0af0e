"""A sandbox's life, cargos, history, skills, events."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pytest

from cove import Cove, Sandbox, errors


def test_a_sandbox_is_deleted_at_the_end_of_its_block(cove: Cove) -> None:
    with cove.sandbox(ttl=600) as sandbox:
        assert sandbox.id in [one.id for one in cove.sandboxes.all()]
        assert "python" in sandbox.capabilities and sandbox.expires_at is not None
        before = sandbox.expires_at
        assert sandbox.extend_ttl(60).expires_at is not None and sandbox.expires_at != before
        sandbox.keepalive()
        sandbox.files.write("kept.txt", "kept")
        assert sandbox.refresh().status == "ready" and sandbox.info.containers
        sandbox.stop()
        assert sandbox.refresh().status == "idle"
        assert sandbox.files.read("kept.txt") == "kept"
    with pytest.raises(errors.NotFoundError):
        sandbox.refresh()
    sandbox.delete()


def test_what_fails_in_the_block_is_what_is_raised(cove: Cove) -> None:
    with pytest.raises(KeyError), cove.sandbox() as sandbox:
        raise KeyError("mine")
    with pytest.raises(errors.NotFoundError):
        cove.sandboxes.get(sandbox.id)


def test_a_sandbox_without_an_end_cannot_be_extended(cove: Cove) -> None:
    with cove.sandbox() as sandbox, pytest.raises(errors.SandboxTtlInfiniteError) as caught:
        sandbox.extend_ttl(60)
    assert isinstance(caught.value, errors.ConflictError)


def test_the_same_key_is_the_same_sandbox(cove: Cove) -> None:
    key = uuid.uuid4().hex
    with cove.sandbox(idempotency_key=key) as one:
        assert cove.sandboxes.create(idempotency_key=key).id == one.id
        with pytest.raises(errors.ConflictError):
            cove.sandboxes.create(ttl=77, idempotency_key=key)


def test_cargos_outlive_sandboxes(cove: Cove) -> None:
    cargo = cove.cargos.create(size_limit_mb=16)
    try:
        with cove.sandbox(cargo_id=cargo.id) as one:
            one.files.write("left.txt", "behind")
            with pytest.raises(errors.ConflictError):
                cove.cargos.delete(cargo.id)
        with cove.sandbox(cargo_id=cargo.id) as two:
            assert two.files.read("left.txt") == "behind"
        assert cargo.id in [one.id for one in cove.cargos.all()]
        with cove.sandbox() as three:
            assert three.cargo_id not in [one.id for one in cove.cargos.all()]
            assert three.cargo_id in [one.id for one in cove.cargos.all(managed=True)]
        assert cove.cargos.get(cargo.id).size_limit_mb == 16
    finally:
        cove.cargos.delete(cargo.id)


def test_pages_lead_to_all(cove: Cove) -> None:
    with cove.sandbox() as one, cove.sandbox() as two:
        page = cove.sandboxes.list(limit=1)
        assert len(page.items) == 1 and page.next_cursor is not None
        assert cove.sandboxes.list(limit=1, cursor=page.next_cursor).items[0].id != page.items[0].id
        assert {one.id, two.id} <= {sandbox.id for sandbox in cove.sandboxes.all()}


def test_history_and_skills(cove: Cove, sandbox: Sandbox) -> None:
    run = sandbox.shell.exec("echo learnt", tags="skill")
    last = sandbox.history.last(exec_type="shell")
    assert last.id == run.execution_id
    assert sandbox.history.annotate(last.id, notes="worth keeping").notes == "worth keeping"
    assert sandbox.history.list(has_notes=True, tags="skill").total == 1
    payload = cove.skills.create_payload({"commands": ["echo learnt"]}, kind="sample")
    assert cove.skills.get_payload(payload.payload_ref).payload == {"commands": ["echo learnt"]}
    key = f"sample-{uuid.uuid4().hex[:8]}"
    candidate = cove.skills.create_candidate(key, [last.id], payload_ref=payload.payload_ref, summary="says it")
    with pytest.raises(errors.ApiError):
        cove.skills.promote(candidate.id)
    assert cove.skills.evaluate(candidate.id, passed=True, score=0.9).passed
    release = cove.skills.promote(candidate.id, stage="stable")
    assert release.is_active and cove.skills.list_releases(skill_key=key).total == 1
    assert cove.skills.release_health(release.id).release_id == release.id
    assert cove.skills.get_candidate(candidate.id).status == "promoted_stable"
    assert cove.skills.list_candidates(skill_key=key).items[0].id == candidate.id


def test_events_as_they_happen(cove: Cove, sandbox: Sandbox) -> None:
    kinds: list[Any] = []
    heard = threading.Event()

    def listen() -> None:
        for event in sandbox.events(after=0):
            kinds.append(event.kind)
            if event.kind == "console":
                assert event.data["text"] == "ahoy"
            if event.kind == "run_finished":
                heard.set()
                return

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    sandbox.javascript.run("console.log('ahoy'); return 1").check()
    assert heard.wait(60), kinds
    assert "run_started" in kinds


def test_profiles_and_health(cove: Cove) -> None:
    ids = {profile.id for profile in cove.profiles()}
    assert {"python-default", "browser-python"} <= ids
    assert any(profile.containers for profile in cove.profiles(detail=True))
    assert cove.health().status == "ok"
