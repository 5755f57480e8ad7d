"""Blows that fall on a job which is started again (--on-loss restart): ranks of it are killed.

A blow may be one rank at any moment, two at once, one that is writing its part of a checkpoint in
memory, one of a life that has just begun, or one while others are in MPI_Init.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import jobs

BLOWS = ["one", "two", "in a checkpoint", "in the restart", "in MPI_Init"]
# Until a moment is given up that does not come.
_SECONDS = 5.0


class Blows:
    """That fall on one job."""

    def __init__(self, draw: random.Random, ranks: int) -> None:
        self.killed = 0
        self.in_checkpoints = 0
        self._draw = draw
        self._ranks = ranks
        self._kinds = [draw.choice(BLOWS) for _ in range(draw.randint(3, 4))]

    def fall(self, job: jobs.Job) -> None:
        for kind in self._kinds:
            time.sleep(self._draw.random() * 1.5)
            if kind == "in a checkpoint":
                self._kill_in_checkpoint(job, self._draw.randrange(self._ranks))
                continue
            self._kill(job, self._draw.sample(range(self._ranks), 2 if kind == "two" else 1))
            if kind in ("one", "two"):
                continue
            life = self._newest(job)
            if kind == "in MPI_Init":
                self._wait(job, partial(self._is_in_init, job, life))
            else:
                self._wait(job, partial(self._is_newer, job, life))
                time.sleep(self._draw.random() * 0.3)
            self._kill(job, [self._draw.randrange(self._ranks)])

    def _kill_in_checkpoint(self, job: jobs.Job, rank: int) -> None:
        """While it writes its part; at any moment, if it is never met there."""
        until = time.monotonic() + _SECONDS
        while time.monotonic() < until and job.process.poll() is None:
            for pid in _ranks(job).get(rank, []):
                for _ in range(50):
                    if _dies_in_checkpoint(pid, rank):
                        self.killed += 1
                        self.in_checkpoints += 1
                        return
                    time.sleep(self._draw.random() * 0.004)
        self._kill(job, [rank])

    def _kill(self, job: jobs.Job, ranks: list[int]) -> None:
        """Those of them that are there, in whatever state the job is."""
        found = _ranks(job)
        for rank in ranks:
            if rank in found:
                with suppress(ProcessLookupError):
                    # There are two of it, if the next life stands by.
                    os.kill(self._draw.choice(found[rank]), signal.SIGKILL)
                    self.killed += 1

    @staticmethod
    def _newest(job: jobs.Job) -> int:
        lives = job.temporary.glob("resprout-*/life-*")
        return max((int(path.name.partition("-")[2]) for path in lives), default=-1)

    @staticmethod
    def _is_newer(job: jobs.Job, than: int) -> bool:
        return Blows._newest(job) > than

    @staticmethod
    def _is_in_init(job: jobs.Job, after: int) -> bool:
        """Of a later life some ranks, and not all, are in MPI_Init."""
        newest = Blows._newest(job)
        folders = list(job.temporary.glob(f"resprout-*/life-{newest}")) if newest > after else []
        return any(
            (folder / "starting").exists() and any(folder.glob("entered-*")) for folder in folders
        )

    @staticmethod
    def _wait(job: jobs.Job, condition: Callable[[], bool]) -> None:
        """Until it is so, or the job is over, or the moment has passed unseen."""
        jobs.becomes_true(lambda: condition() or job.process.poll() is not None, _SECONDS)


def _ranks(job: jobs.Job) -> dict[int, list[int]]:
    """The processes of each rank: one of each life."""
    found: dict[int, list[int]] = {}
    for pid in sorted(job.processes()):
        if (number := jobs.rank_of(pid)) is not None:
            found.setdefault(int(number), []).append(pid)
    return found


def _dies_in_checkpoint(pid: int, rank: int) -> bool:
    """It is killed if it is writing its part; else it goes on. It is stopped for the look."""
    folder = jobs.variable(pid, "RESPROUT_CHECKPOINT_MEMORY")
    parts = [Path(folder or "", f"rank-{rank}-{which}") for which in "ab"]
    # Before its first checkpoint it may be in whatever bears no stop.
    if folder is None or not any(part.exists() for part in parts):
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        jobs.becomes_true(lambda: _is_stopped(pid), 1.0)
        if is_writing := any(_is_half_written(part) for part in parts):
            os.kill(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGCONT)
        return is_writing
    return False


def _is_stopped(pid: int) -> bool:
    try:
        return ") T " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def _is_half_written(part: Path) -> bool:
    """What it begins with is written last (src/runtime/checkpoints/image.cpp)."""
    try:
        with part.open("rb") as file:
            return file.read(8) == bytes(8)
    except OSError:
        return False
