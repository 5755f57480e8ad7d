"""Jobs that are started again: real ranks that wait at gates until a test has done what it wants.

The program is programs/lives.c.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import jobs

PROGRAM = jobs.PROGRAMS / "lives"


class Scene:
    """One job, and the folder in which its ranks say where they are."""

    def __init__(self, folder: Path, job: jobs.Job) -> None:
        self.folder = folder
        self.job = job

    def wait_for(self, place: str, life: int, ranks: Sequence[int]) -> None:
        """All of them have said that they are there."""
        self.wait_until(lambda: all(self._is_at(place, life, rank) for rank in ranks))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        assert jobs.becomes_true(condition, jobs.WATCHDOG_SECONDS), self.job.seen()

    def kill(self, life: int, *ranks: int) -> None:
        jobs.kill_together([self.find(life, rank)[0] for rank in ranks])

    def stop(self, life: int, rank: int) -> None:
        os.kill(self.find(life, rank)[0], signal.SIGSTOP)

    def find(self, life: int, rank: int) -> tuple[int, str]:
        """The process, and its host."""
        pid, host = (self.folder / f"pid-{life}-{rank}").read_text().split()
        return int(pid), host

    def open(self, place: str, life: int, *ranks: int) -> None:
        for rank in ranks:
            (self.folder / f"gate-{place}-{life}-{rank}").unlink()

    def end(self) -> jobs.Ended:
        """Whatever came, no two lives were there at one time."""
        ended = self.job.wait()
        assert not list(self.folder.glob("overlap-*")), str(ended)
        report = self.folder / "report.json"
        return replace(ended, report=json.loads(report.read_text()) if report.exists() else {})

    def _is_at(self, place: str, life: int, rank: int) -> bool:
        path = self.folder / f"{place}-{life}-{rank}"
        return path.exists() and path.read_text().endswith("\n")


def close(folder: Path, place: str, life: int, *ranks: int) -> None:
    for rank in ranks:
        (folder / f"gate-{place}-{life}-{rank}").touch()


def ranks_of(job: jobs.Job, life: int) -> dict[int, int]:
    """The processes of this life."""
    found = {}
    for pid in job.processes():
        rank = jobs.rank_of(pid)
        if rank is not None and jobs.variable(pid, "RESPROUT_RESTART") == str(life):
            found[int(rank)] = pid
    return found


def wait_for_standby(job: jobs.Job, life: int, ranks: int, parent: Path | None = None) -> None:
    """All of them are behind what MPI_Init does, and wait there. `parent`: --run-dir, if given."""

    def is_there() -> bool:
        folders = list((parent or job.temporary).glob(f"resprout-*/life-{life}"))
        return any(
            len(list(folder.glob("entered-*"))) == ranks and not (folder / "starting").exists()
            for folder in folders
        )

    assert jobs.becomes_true(is_there, jobs.WATCHDOG_SECONDS), job.seen()


@contextmanager
def playing(
    folder: Path,
    ranks: int,
    options: Sequence[str] = (),
    words: Sequence[str] = (),
    stdin: int = subprocess.DEVNULL,
    program: Path = PROGRAM,
) -> Iterator[Scene]:
    command = [jobs.RESPROUT, "run", "-n", str(ranks), "--on-loss", "restart"]
    command += ["--report", folder / "report.json", *options, "--", program, folder, *words]
    with jobs.started(command, stdin=stdin) as job:
        yield Scene(folder, job)
