"""Scans, other protocols, silence and noise at the ports of a running job change nothing.

On one host a job listens only if it is told to use TCP; test_hosts.py has the ports between hosts.
"""

import time
from pathlib import Path

import garbage
import jobs
import logs
import pytest

RANKS = 4


@pytest.mark.parametrize("faults", [(), ("kill:rank=0,at=allreduce#200",)], ids=["none", "kill"])
def test_garbage_at_its_ports_is_rejected_and_counted(
    faults: tuple[str, ...], tmp_path: Path
) -> None:
    victims = {0} if faults else set()
    addresses: list[garbage.Address] = []
    thrown = 0

    def disturb(job: jobs.Job) -> None:
        nonlocal thrown
        logs.wait_for_work(tmp_path, RANKS, job)
        for pid in job.processes_by_rank().values():
            addresses.extend(garbage.listening(pid))
        until = time.monotonic() + 1.5
        if addresses:
            thrown = garbage.throw(addresses, lambda: time.monotonic() > until)
        logs.say_enough(tmp_path)

    program = [jobs.PROGRAMS / "mixed", str(tmp_path), "5", "0", "2"]
    options = ["--transport", "tcp", *(f"--inject={fault}" for fault in faults)]
    ended = jobs.resprout_run(RANKS, program, options, meanwhile=disturb)
    assert len(addresses) == RANKS and thrown > 0, f"{thrown} at {addresses}"
    assert ended.status == 0 and ended.lost == victims, str(ended)
    assert not list(logs.problems(logs.read_logs(tmp_path, RANKS), set(range(RANKS)) - victims))
    rejected = ended.report["transport"]["rejected_connections"]
    assert 0 < rejected <= thrown, f"{rejected} of {thrown}"


def test_a_job_on_one_host_listens_nowhere(tmp_path: Path) -> None:
    addresses = []

    def look(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        for pid in job.processes_by_rank().values():
            addresses.extend(garbage.listening(pid))
        logs.say_enough(tmp_path)

    program = [jobs.PROGRAMS / "mixed", str(tmp_path), "5", "0", "2"]
    assert jobs.resprout_run(RANKS, program, meanwhile=look).status == 0
    assert addresses == []
