"""Scans, other protocols, silence and noise at the ports of a running job change nothing.

On one host a job listens for data only if it is told to use TCP, and its lifelines on the loopback;
test_hosts.py has the ports between hosts.
"""

import os
import signal
import time
from pathlib import Path

import garbage
import jobs
import logs
import pytest

RANKS = 4


@pytest.mark.parametrize("victims", [set(), {0}], ids=["none", "kill"])
def test_garbage_at_its_ports_is_rejected_and_counted(victims: set[int], tmp_path: Path) -> None:
    addresses: list[garbage.Address] = []
    thrown = 0

    def disturb(job: jobs.Job) -> None:
        nonlocal thrown
        logs.wait_for_work(tmp_path, RANKS, job)
        pids = job.processes_by_rank()
        for pid in pids.values():
            addresses.extend(garbage.listening(pid))
        if addresses:
            thrown = throw_for(0.5, addresses)
            for rank in victims:
                os.kill(pids[rank], signal.SIGKILL)
            thrown += throw_for(1.0, addresses)
        logs.say_enough(tmp_path)

    program = [jobs.PROGRAMS / "mixed", str(tmp_path), "5", "0", "2"]
    ended = jobs.resprout_run(RANKS, program, ["--transport", "tcp"], meanwhile=disturb)
    # A lifeline's and a data port each.
    assert len(addresses) == 2 * RANKS and thrown > 0, f"{thrown} at {addresses}"
    assert ended.status == 0 and ended.lost == victims, str(ended)
    assert not list(logs.problems(logs.read_logs(tmp_path, RANKS), set(range(RANKS)) - victims))
    rejected = ended.report["transport"]["rejected_connections"]
    assert 0 < rejected <= thrown, f"{rejected} of {thrown}"


def throw_for(seconds: float, addresses: list[garbage.Address]) -> int:
    until = time.monotonic() + seconds
    return garbage.throw(addresses, lambda: time.monotonic() > until)


def test_a_job_on_one_host_listens_for_itself_alone(tmp_path: Path) -> None:
    """For the messages of views, after a loss."""
    addresses: list[garbage.Address] = []

    def look(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        for pid in job.processes_by_rank().values():
            addresses.extend(garbage.listening(pid))
        logs.say_enough(tmp_path)

    program = [jobs.PROGRAMS / "mixed", str(tmp_path), "5", "0", "2"]
    assert jobs.resprout_run(RANKS, program, meanwhile=look).status == 0
    assert [host for host, _ in addresses] == RANKS * ["127.0.0.1"]
