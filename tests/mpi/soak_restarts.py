"""Stencils that are started again (--on-loss restart) while their ranks are killed at any moment.

Each run is a stencil in C, or in Python, with checkpoints in files of its own or in our memory,
with a number of ranks, and three or four blows, all drawn from its seed. A blow falls at any
moment, and may be one rank, two at once, one of a life that has just begun, or one while others are
in MPI_Init. Whatever falls, the result has the same bits as an undisturbed run, and nothing of any
life is left. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

import jobs
import soak_kinds

STENCIL = {
    "c": [jobs.BUILD / "examples" / "stencil" / "stencil"],
    "python": [sys.executable, jobs.ROOT / "examples" / "stencil" / "stencil.py"],
    "memory": [jobs.BUILD / "examples" / "stencil" / "memory"],
    "memory-python": [sys.executable, jobs.ROOT / "examples" / "stencil" / "memory.py"],
}
SIZE = {
    "c": ["1000", "20", "2000"],
    "python": ["400", "20", "0.005"],
    "memory": ["1000", "20", "2000"],
    "memory-python": ["400", "20", "0.005"],
}
BLOWS = ["one", "two", "in the restart", "in MPI_Init"]
OPTIONS = ["--on-loss", "restart", "--short-life", "0", "--max-restarts", "100"]
_results: dict[tuple[str, int], str] = {}


def program_of(kind: str, folder: str, size: list[str]) -> list[str | Path]:
    """`folder`: for those that write files."""
    is_in_memory = kind.startswith("memory")
    return [*STENCIL[kind], *([] if is_in_memory else [Path(folder)]), *size]


def result_of(kind: str, ranks: int) -> str:
    """Of an undisturbed run."""
    if (kind, ranks) not in _results:
        with tempfile.TemporaryDirectory(prefix="stencil-") as folder:
            size = [*SIZE[kind][:2], "0"]
            ended = jobs.resprout_run(ranks, program_of(kind, folder, size))
        _results[kind, ranks] = find_result(ended)
    return _results[kind, ranks]


def find_result(ended: jobs.Ended) -> str:
    """That of each life that came to it: the last rank may be killed behind the last line."""
    found = set(re.findall(r"after \d+ steps: .*", ended.out))
    assert ended.status == 0 and len(found) == 1, str(ended)
    return str(found.pop())


class Blows:
    """That fall on one job."""

    def __init__(self, draw: random.Random, ranks: int) -> None:
        self.killed = 0
        self._draw = draw
        self._ranks = ranks
        self._kinds = [draw.choice(BLOWS) for _ in range(draw.randint(3, 4))]

    def fall(self, job: jobs.Job) -> None:
        for kind in self._kinds:
            time.sleep(self._draw.random() * 1.5)
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

    def _kill(self, job: jobs.Job, ranks: list[int]) -> None:
        """Those of them that are there, in whatever state the job is."""
        pids = job.processes_by_rank()
        for rank in ranks:
            if rank in pids:
                with suppress(ProcessLookupError):
                    os.kill(pids[rank], signal.SIGKILL)
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
        jobs.becomes_true(lambda: condition() or job.process.poll() is not None, 5.0)


def run(kind: str, seed: int) -> int:
    draw = random.Random(f"{kind} {seed}")
    ranks = draw.choice([2, 4, 6])
    blows = Blows(draw, ranks)
    expected = result_of(kind, ranks)
    with tempfile.TemporaryDirectory(prefix="stencil-") as folder:
        program = program_of(kind, folder, SIZE[kind])
        ended = jobs.resprout_run(ranks, program, OPTIONS, meanwhile=blows.fall)
    assert find_result(ended) == expected, str(ended)
    lives = ended.report["lives"]
    for before, after in pairwise(lives):
        assert before["how"] == "lost" and before["ended_ns"] <= after["started_ns"], str(ended)
    assert len(lives) > 1 or blows.killed == 0, str(ended)
    return len(lives) - 1


KINDS = {kind: partial(run, kind) for kind in STENCIL}

if __name__ == "__main__":
    sys.exit(soak_kinds.main(sys.argv[1:], __doc__, KINDS, 30, "restarts"))
