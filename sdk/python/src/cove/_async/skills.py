"""Skills: what was learnt from executions, tried, released and watched."""

from __future__ import annotations

from typing import Any

from cove import models
from cove._async.transport import AsyncTransport
from cove._wire import Request, segment


class AsyncSkills:
    """The caller's skills."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create_payload(self, payload: dict[str, Any] | list[Any], *, kind: str = "generic") -> models.PayloadRef:
        """Keeps a payload."""
        return await self._transport.call(
            Request("POST", "/v1/skills/payloads", body={"payload": payload, "kind": kind}), models.PayloadRef
        )

    async def get_payload(self, payload_ref: str) -> models.PayloadInfo:
        """A payload that was kept."""
        return await self._transport.call(
            Request("GET", f"/v1/skills/payloads/{segment(payload_ref)}"), models.PayloadInfo
        )

    async def create_candidate(
        self,
        skill_key: str,
        source_execution_ids: list[str],
        *,
        scenario_key: str | None = None,
        payload_ref: str | None = None,
        summary: str | None = None,
        usage_notes: str | None = None,
        preconditions: dict[str, Any] | None = None,
        postconditions: dict[str, Any] | None = None,
    ) -> models.CandidateInfo:
        """A new candidate from executions of the caller's own."""
        body = {
            "skill_key": skill_key,
            "source_execution_ids": source_execution_ids,
            "scenario_key": scenario_key,
            "payload_ref": payload_ref,
            "summary": summary,
            "usage_notes": usage_notes,
            "preconditions": preconditions,
            "postconditions": postconditions,
        }
        return await self._transport.call(Request("POST", "/v1/skills/candidates", body=body), models.CandidateInfo)

    async def list_candidates(
        self,
        *,
        status: models.CandidateStatus | None = None,
        skill_key: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> models.CandidateList:
        """One page, newest first."""
        query = {"status": status, "skill_key": skill_key, "limit": limit, "offset": offset}
        return await self._transport.call(Request("GET", "/v1/skills/candidates", query=query), models.CandidateList)

    async def get_candidate(self, candidate_id: str) -> models.CandidateInfo:
        """One candidate."""
        return await self._transport.call(
            Request("GET", f"/v1/skills/candidates/{segment(candidate_id)}"), models.CandidateInfo
        )

    async def delete_candidate(self, candidate_id: str, *, reason: str | None = None) -> models.Deleted:
        """Deletes a candidate."""
        return await self._transport.call(
            Request("DELETE", f"/v1/skills/candidates/{segment(candidate_id)}", body={"reason": reason}),
            models.Deleted,
        )

    async def evaluate(
        self,
        candidate_id: str,
        *,
        passed: bool,
        score: float | None = None,
        benchmark_id: str | None = None,
        report: str | None = None,
    ) -> models.EvaluationInfo:
        """Notes what an evaluation found."""
        body = {"passed": passed, "score": score, "benchmark_id": benchmark_id, "report": report}
        return await self._transport.call(
            Request("POST", f"/v1/skills/candidates/{segment(candidate_id)}/evaluate", body=body),
            models.EvaluationInfo,
        )

    async def promote(
        self,
        candidate_id: str,
        *,
        stage: models.ReleaseStage = "canary",
        upgrade_of_release_id: str | None = None,
        upgrade_reason: str | None = None,
        change_summary: str | None = None,
    ) -> models.ReleaseInfo:
        """Releases a candidate whose last evaluation passed."""
        body = {
            "stage": stage,
            "upgrade_of_release_id": upgrade_of_release_id,
            "upgrade_reason": upgrade_reason,
            "change_summary": change_summary,
        }
        return await self._transport.call(
            Request("POST", f"/v1/skills/candidates/{segment(candidate_id)}/promote", body=body),
            models.ReleaseInfo,
        )

    async def list_releases(
        self,
        *,
        skill_key: str | None = None,
        active_only: bool | None = None,
        stage: models.ReleaseStage | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> models.ReleaseList:
        """One page, newest first."""
        query = {
            "skill_key": skill_key,
            "active_only": active_only,
            "stage": stage,
            "limit": limit,
            "offset": offset,
        }
        return await self._transport.call(Request("GET", "/v1/skills/releases", query=query), models.ReleaseList)

    async def get_release(self, release_id: str) -> models.ReleaseInfo:
        """One release."""
        return await self._transport.call(
            Request("GET", f"/v1/skills/releases/{segment(release_id)}"), models.ReleaseInfo
        )

    async def delete_release(self, release_id: str, *, reason: str | None = None) -> models.Deleted:
        """Deletes a release."""
        return await self._transport.call(
            Request("DELETE", f"/v1/skills/releases/{segment(release_id)}", body={"reason": reason}),
            models.Deleted,
        )

    async def rollback(self, release_id: str) -> models.ReleaseInfo:
        """Takes a release back: the one before it is active again."""
        return await self._transport.call(
            Request("POST", f"/v1/skills/releases/{segment(release_id)}/rollback"), models.ReleaseInfo
        )

    async def release_health(self, release_id: str) -> models.ReleaseHealth:
        """How a release does, beside what was before it."""
        return await self._transport.call(
            Request("GET", f"/v1/skills/releases/{segment(release_id)}/health"), models.ReleaseHealth
        )
