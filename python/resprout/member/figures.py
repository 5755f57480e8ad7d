"""The figures of a member as a file of OpenMetrics (--metrics)."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from resprout import __version__, log
from resprout.errors import UserError
from resprout.openmetrics import Exposition, Family

_WRITE_SECONDS = 5.0
INFO = Family("member_info", "gauge", "What runs: 1.")
IN = Family("member_joined", "gauge", "1 if it is a member of a view.")
EPOCH = Family("member_epoch", "gauge", "The epoch of its view.")
MEMBERS = Family("members", "gauge", "How many members its view has.")
VIEWS = Family("member_views", "counter", "Views that it has installed.")
SUSPICIONS = Family("member_suspicions", "counter", "Neighbors that it has suspected.")
CONNECTIONS = Family("member_connections", "gauge", "Connections that it has.")
MEMORY = Family("member_own_bytes", "gauge", "Memory that it shares with nobody.", "bytes")
OF_STATISTICS = {
    "messages_sent": Family("member_messages_sent", "counter", "Messages, with heartbeats."),
    "messages_received": Family("member_messages_received", "counter", "Messages that came."),
    "bytes_sent": Family("member_sent_bytes", "counter", "Bytes of messages.", "bytes"),
    "bytes_received": Family("member_received_bytes", "counter", "Bytes that came.", "bytes"),
    "rejected": Family("member_rejected", "counter", "Connections that were rejected."),
}


class Figures:
    """Of one member; nothing is written without a file."""

    def __init__(
        self, path: Path | None, listen: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """UserError: the file cannot be written."""
        self._path = path
        self._clock = clock
        self._written_at = clock()
        self._fails = False
        self._exposition = Exposition({"run": "" if path is None else path.stem})
        self._views = self._suspicions = 0
        self._exposition.set(INFO, 1, version=__version__, listen=listen)
        for family in (IN, EPOCH, MEMBERS, VIEWS, SUSPICIONS):
            self._exposition.set(family, 0)
        if path is None:
            return
        try:
            self._exposition.write(path)
        except OSError as error:
            raise UserError(f"--metrics: {path} cannot be written: {error.strerror}") from error

    def note(self, event: dict[str, Any]) -> None:
        if event["event"] == "view":
            self._views += 1
            self._exposition.set(VIEWS, self._views)
            self._exposition.set(EPOCH, event["epoch"])
            count = event["count"] if "count" in event else len(event["members"])
            self._exposition.set(MEMBERS, count)
            self._exposition.set(IN, 1)
        elif event["event"] == "suspected":
            self._suspicions += 1
            self._exposition.set(SUSPICIONS, self._suspicions)
        elif event["event"] in ("excluded", "isolated", "joining", "removed"):
            self._exposition.set(IN, 0)

    def write(self, statistics: Callable[[], dict[str, Any]]) -> None:
        """Now and then. To be called often."""
        if self._path is None or self._clock() - self._written_at < _WRITE_SECONDS:
            return
        self._written_at = self._clock()
        cost = statistics()
        for name, family in OF_STATISTICS.items():
            self._exposition.set(family, cost[name])
        self._exposition.set(CONNECTIONS, cost["connections"])
        self._exposition.set(MEMORY, cost["own_bytes"])
        try:
            self._exposition.write(self._path)
            self._fails = False
        except OSError as error:
            if not self._fails:
                log.warn(f"--metrics: {self._path} cannot be written: {error.strerror}")
            self._fails = True
