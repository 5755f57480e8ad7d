"""Which ranks of a life have been lost, as far as this host shows it while the life lasts.

A rank is lost if it has ended after it came to MPI_Init, and not by itself behind MPI_Finalize; or
if it ended while others wait for it in MPI_Init. Who ended because it had seen a loss left word of
that (`losses` in its part of the report) and is not the one. Where MPI_Abort ends all nobody is
lost. Of a rank that has left nothing at all, and may run without Resprout, only mpirun knows how it
ended: it ends the life if that was by a signal.
"""

import contextlib
import json
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resprout.launch import processes
from resprout.launch.early_end import StartWatch
from resprout.launch.lives.deaths import Deaths
from resprout.report.ends import ended_pids
from resprout.report.launch_end import EarlyEnd


class LossSight:
    """Of one life, asked several times a second and when a process has ended."""

    def __init__(
        self, directory: Path, deaths: Deaths, is_on_one_host: bool, is_told: bool = False
    ) -> None:
        """`is_told`: the launcher leaves word of ranks, a little later than they end."""
        self.lost: tuple[int, ...] = ()
        """Those that were; the first ones only, as the launcher ends the others then."""
        self.seen_ns: int | None = None
        self._directory = directory
        self._deaths = deaths
        self._is_on_one_host = is_on_one_host
        self._is_told = is_told
        self._pids: dict[int, int] = {}
        self._start = StartWatch(directory, processes.is_running if is_on_one_host else None)

    def look(self) -> bool:
        """Whether the life is to be ended now; once."""
        if self.lost:
            return False
        self._find_new()
        ended = [rank for rank, pid in self._pids.items() if not processes.is_running(pid)]
        if self._is_told:
            told = ended_pids(self._directory)
            ended = [rank for rank in ended if self._pids[rank] in told]
        early = self._start()
        if (self._directory / "abort.json").exists():
            return False
        lost = {rank for rank in ended if is_lost(self._directory, rank)}
        if early is not None:
            lost = {early.rank}
        if lost:
            lost = self._stayed_away(ended) or lost
        if not lost:
            words = [loss for rank in ended for loss in words_of(self._directory, rank)]
            lost = {rank for rank, _ in words}
        if lost:
            self.lost = tuple(sorted(lost))
            self.seen_ns = time.time_ns()
        return bool(lost)

    def end_ranks(self) -> None:
        """Those on this host."""
        for pid in self._pids.values():
            if processes.has_run_directory(pid, self._directory):
                processes.send(pid, signal.SIGKILL)

    def pid_of(self, rank: int) -> int | None:
        """If it is known, as that of a rank on this host."""
        return self._pids.get(rank)

    def early_end(self) -> EarlyEnd | None:
        """Of a rank for which others waited in MPI_Init, when the life is over."""
        return self._start.at_end()

    def _stayed_away(self, ended: Sequence[int]) -> set[int]:
        """Who has ended before MPI_Init, where others waited: whoever of these has ended, too, did
        so with the first."""
        if not (self._directory / "starting").exists():
            return set()
        exits = {rank_in(path) for path in self._directory.glob("exit-*")}
        return {*ended, *exits} - {rank_in(path) for path in self._directory.glob("entered-*")}

    def _find_new(self) -> None:
        for path in self._directory.glob("started-*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                rank = rank_in(path)
                if rank in self._pids:
                    continue
                pid = int(path.read_text().split()[0])
                # The number may be that of a process on another host. Who has ended there, or by
                # now, is left to mpirun.
                if self._is_on_one_host or processes.has_run_directory(pid, self._directory):
                    self._pids[rank] = pid
                    self._deaths.watch(pid)


def rank_in(path: Path) -> int:
    """Of a file that is named so."""
    return int(path.name.partition("-")[2])


def is_lost(directory: Path, rank: int) -> bool:
    """Of a rank that has ended after it came to MPI_Init, by what it has left."""
    if not (directory / f"entered-{rank}").exists():
        return False
    part = part_in(directory / f"rank-{rank}.json")
    if (directory / f"exit-{rank}").exists():
        return not part.get("finalized", False)
    return not part.get("losses")


def words_of(directory: Path, rank: int) -> list[tuple[int, int]]:
    """The losses that it saw: ranks, and when."""
    with contextlib.suppress(KeyError, TypeError, ValueError):
        losses = part_in(directory / f"rank-{rank}.json").get("losses", [])
        return [(int(loss["rank"]), int(loss["detected_ns"])) for loss in losses]
    return []


def part_in(path: Path) -> dict[str, Any]:
    """A rank's part of the report; empty: there is none yet."""
    with contextlib.suppress(OSError, ValueError):
        part = json.loads(path.read_text())
        if isinstance(part, dict):
            return part
    return {}
