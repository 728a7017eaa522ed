"""A typed client of the Escapement API, without dependencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import types
from .client import Operations
from .connection import Connection, EscapementError

__all__ = ["Client", "EscapementError", "types"]


class Client(Operations):
    """The API as an object: `client.<group>.<operation>(…)`, and the stream of events.

    Opens no connection before the first call. Reads, and creates with their idempotency key, are retried `retries`
    times after a network failure.
    """

    def __init__(self, url: str, key: str | None = None, *, retries: int = 2) -> None:
        self._connection = Connection(url, key, retries)
        super().__init__(self._connection)

    def events(
        self,
        *,
        kinds: list[str] | None = None,
        run_id: str | None = None,
        schedule_id: str | None = None,
        session: str | None = None,
        agent_id: str | None = None,
        last_event_id: str = "",
        on_open: Callable[[], None] = lambda: None,
    ) -> Iterator[dict[str, Any]]:
        """Streams events; resumes after interruptions without gaps or repeats.

        An event of kind `reset` says that events were lost: read again what you derived from them.
        """
        query = {
            "kinds": kinds,
            "run_id": run_id,
            "schedule_id": schedule_id,
            "session": session,
            "agent_id": agent_id,
        }
        return self._connection.stream("/api/v1/events", query, last_event_id, on_open)
