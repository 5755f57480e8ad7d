"""Ranks as their launcher has them: on this host, or on another one, where an agent has started
them (agent.py)."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from resprout.launch import processes
from resprout.launch.own.lines import Lines


@dataclass(frozen=True)
class Place:
    """A rank among all, and among those of its host."""

    number: int
    size: int
    local_number: int
    local_size: int


class NearRank:
    """A process of this host, and the connection by which it asks."""

    def __init__(
        self,
        job: str,
        place: Place,
        words: Sequence[str],
        environment: Mapping[str, str],
        into: Sequence[int] = (),
    ) -> None:
        """`into`: where its stdout and its stderr go, if not to ours."""
        self.number = place.number
        self.started_ns = time.time_ns()
        self.connection, theirs = socket.socketpair()
        self._lines = Lines(self.connection)
        variables = {
            **environment,
            "PMI_FD": str(theirs.fileno()),
            "PMI_RANK": str(place.number),
            "PMI_SIZE": str(place.size),
            "PMI_JOBID": job,
            "MPI_LOCALRANKID": str(place.local_number),
            "MPI_LOCALNRANKS": str(place.local_size),
            "GFORTRAN_UNBUFFERED_PRECONNECTED": "y",
        }

        def prepare() -> None:
            processes.end_with_parent(signal.SIGKILL)
            os.setpgid(0, 0)

        with theirs:
            self._process = subprocess.Popen(
                words,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=into[0] if into else None,
                stderr=into[1] if into else None,
                pass_fds=[theirs.fileno()],
                preexec_fn=prepare,  # noqa: PLW1509 - there are no other threads
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def host(self) -> str:
        return socket.gethostname()

    @property
    def status(self) -> int | None:
        """As Popen has it; nothing: it runs."""
        return self._process.poll()

    @property
    def segments(self) -> set[str]:
        return processes.segments_of(self.pid)

    def send(self, what: signal.Signals) -> None:
        """To it and to what it has started."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, what)

    def tell(self, line: str) -> None:
        self._lines.say(line)

    def hear(self) -> list[str] | None:
        """The lines that have come; nothing: it has closed the connection."""
        return self._lines.hear()


class FarRank:
    """A process of another host. `say` is how its agent is told something of it."""

    def __init__(self, number: int, host: str, say: Callable[..., None]) -> None:
        self.number = number
        self.host = host
        self.started_ns = time.time_ns()
        self.pid = 0
        self.status: int | None = None
        self.segments: set[str] = set()  # its agent sees to them
        self._say = say

    def send(self, what: signal.Signals) -> None:
        self._say(what="signal", rank=self.number, signal=int(what))

    def tell(self, line: str) -> None:
        self._say(what="tell", rank=self.number, line=line)


Rank = NearRank | FarRank


class Segments:
    """Shared memory that ranks of this host are seen to have, to be removed at the end."""

    # It is looked for so often until there is some, and so long.
    LOOK_SECONDS = 0.05
    _LOOKS_MAX = 200

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._looks = 0

    @property
    def is_looking(self) -> bool:
        return not self._found and self._looks < self._LOOKS_MAX

    def look(self, ranks: Sequence[Rank]) -> None:
        self._looks += 1
        for rank in ranks:
            self._found |= rank.segments

    def remove(self) -> None:
        for path in self._found:
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - a name of the kernel's
