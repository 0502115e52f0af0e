"""The record of what ran in a sandbox."""
# Written by scripts/write_sync.py from _async/history.py; a change here is lost.

from __future__ import annotations

from cove import models
from cove._sync.transport import Transport
from cove._wire import Request, segment


class History:
    """A sandbox's history, newest first."""

    def __init__(self, transport: Transport, base: str) -> None:
        self._transport = transport
        self._base = f"{base}/history"

    def list(
        self,
        *,
        exec_type: models.ExecType | None = None,
        success_only: bool | None = None,
        limit: int | None = None,
        offset: int | None = None,
        tags: str | None = None,
        without_tags: str | None = None,
        barred: bool | None = None,
        failed_only: bool | None = None,
        has_notes: bool | None = None,
        has_description: bool | None = None,
    ) -> models.HistoryList:
        """One page of it."""
        query = {
            "exec_type": exec_type,
            "success_only": success_only,
            "limit": limit,
            "offset": offset,
            "tags": tags,
            "without_tags": without_tags,
            "barred": barred,
            "failed_only": failed_only,
            "has_notes": has_notes,
            "has_description": has_description,
        }
        return self._transport.call(Request("GET", self._base, query=query), models.HistoryList)

    def last(self, *, exec_type: models.ExecType | None = None) -> models.HistoryEntry:
        """The last entry, or the last of a kind."""
        return self._transport.call(
            Request("GET", f"{self._base}/last", query={"exec_type": exec_type}), models.HistoryEntry
        )

    def get(self, execution_id: str) -> models.HistoryEntry:
        """One entry."""
        return self._transport.call(Request("GET", f"{self._base}/{segment(execution_id)}"), models.HistoryEntry)

    def annotate(
        self,
        execution_id: str,
        *,
        description: str | None = None,
        tags: str | None = None,
        notes: str | None = None,
    ) -> models.HistoryEntry:
        """Notes something with an entry; what is not given stays as it is."""
        body = {"description": description, "tags": tags, "notes": notes}
        return self._transport.call(
            Request("PATCH", f"{self._base}/{segment(execution_id)}", body=body), models.HistoryEntry
        )
