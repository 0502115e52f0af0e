"""When a call is sent again, and how long to wait before.

A call is repeated only when that cannot do the work twice: GET, PUT and DELETE, a POST that carries an idempotency key,
and any call that the server refused with `session_not_ready` before it began.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from cove._wire import Request
from cove.errors import ApiError, SessionNotReadyError

#: First wait in seconds; doubled each time, half of it by chance so that many clients do not come back together.
FIRST_WAIT = 0.2
LONGEST_WAIT = 3.0
#: What a server may ask for at most; beyond that the error is the better answer.
LONGEST_ASKED = 30.0


class Attempts:
    """The attempts of one call. Each failure is shown to it; it answers with seconds to wait, or `None`: give up."""

    def __init__(self, request: Request, retries: int) -> None:
        self._request = request
        self._left = max(0, retries)
        # What can be read only once cannot be sent twice, whatever the server says.
        self._again = request.upload is None or request.upload.repeatable
        self._wait = FIRST_WAIT

    def after_break(self) -> float | None:
        """After the connection failed: nobody knows whether the work was done."""
        return self._next() if self._request.repeatable else None

    def after_refusal(self, error: ApiError, headers: Mapping[str, str]) -> float | None:
        """After an answer that is an error."""
        if isinstance(error, SessionNotReadyError) and self._again:
            asked = error.retry_after_ms
            return self._next(asked / 1000 if asked is not None else None)
        if not self._request.repeatable or not (error.status == 429 or error.status >= 500):
            return None
        return self._next(_seconds(headers.get("retry-after")))

    def _next(self, asked: float | None = None) -> float | None:
        if self._left == 0 or (asked is not None and asked > LONGEST_ASKED):
            return None
        self._left -= 1
        wait = self._wait * random.uniform(0.5, 1.0)
        self._wait = min(self._wait * 2, LONGEST_WAIT)
        return wait if asked is None else max(asked, 0.0) + wait * 0.1


def _seconds(text: str | None) -> float | None:
    """`Retry-After` in seconds; its date form is not used here."""
    try:
        return float(text) if text else None
    except ValueError:
        return None
