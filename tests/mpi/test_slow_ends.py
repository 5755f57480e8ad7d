"""Ranks that are killed and cannot end: the kernel keeps them, as it does where it waits for a lock
that a process without a core has. The job does not wait for them.
"""

import sys
from pathlib import Path

import held_files
import jobs
import pytest
from lives import ranks_of, wait_for_standby

_PROGRAM = """
import os, sys
from mpi4py import MPI
life = os.environ["RESPROUT_RESTART"]
if life == "0":
    held = open(sys.argv[1]) if MPI.COMM_WORLD.rank == 1 else None
    print("rank", MPI.COMM_WORLD.rank, "computes", flush=True)
    while True:
        MPI.COMM_WORLD.allreduce(1)
if MPI.COMM_WORLD.rank == 0:
    print("life", life, flush=True)
"""
RANKS = 3


def says(job: jobs.Job, what: str, times: int = 1) -> None:
    said = jobs.becomes_true(lambda: job.said().out.count(what) == times, jobs.WATCHDOG_SECONDS)
    assert said, job.seen()


@pytest.mark.parametrize("options", [[], ["--standby"]], ids=["anew", "standby"])
def test_a_job_starts_again_while_the_kernel_keeps_a_killed_rank(
    options: list[str], tmp_path: Path
) -> None:
    command = [jobs.RESPROUT, "run", "-n", str(RANKS), "--on-loss", "restart", *options, "--"]
    program = [sys.executable, "-c", _PROGRAM, tmp_path / held_files.NAME]
    with held_files.mounted(tmp_path) as held, jobs.started([*command, *program]) as job:
        says(job, "computes", RANKS)
        if options:
            wait_for_standby(job, 1, RANKS)
        victim = ranks_of(job, 0)[1]
        jobs.kill_together([victim])
        says(job, "life 1")
        assert held.is_asked and Path(f"/proc/{victim}").exists(), job.seen()
        held.let_go()
        ended = job.wait()
    assert ended.status == 0, str(ended)
