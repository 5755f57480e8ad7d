"""Jobs over three hosts, two ranks on each (hosts.py)."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import garbage
import hosts
import jobs
import logs
import namespaces
import pytest
from hosts import mpirun, part_of

RANKS = 6


@pytest.fixture(scope="module", autouse=True)
def three_hosts() -> Iterator[None]:
    with namespaces.up(3):
        yield


def mixed(folder: Path, work_ms: int = 0) -> list[str | Path]:
    return [jobs.PROGRAMS / "mixed", str(folder), "11", str(work_ms), "5"]


def check(folder: Path, victims: set[int], ended: jobs.Ended) -> None:
    hosts.check(folder, RANKS, victims, ended)


def test_reproducible_sums_have_the_bits_that_one_host_gives(tmp_path: Path) -> None:
    folders = [tmp_path / "apart", tmp_path / "together"]
    for folder in folders:
        folder.mkdir()
    program = [[str(jobs.PROGRAMS / "sums"), str(folder), "all"] for folder in folders]
    apart = jobs.run(mpirun(program[0], tmp_path, {"RESPROUT_SUM": "reproducible"}))
    together = jobs.resprout_run(RANKS, program[1], ["--sum", "reproducible"])
    assert apart.status == 0 and together.status == 0, f"{apart}{together}"
    for rank in range(RANKS):
        bits = [(folder / f"sums-{rank}").read_bytes() for folder in folders]
        assert bits[0] and bits[0] == bits[1], f"rank {rank}"


def test_without_a_loss_every_result_contains_everybody(tmp_path: Path) -> None:
    ended = jobs.run(mpirun(mixed(tmp_path, 300), tmp_path, {}))
    assert ended.status == 0, str(ended)
    check(tmp_path, set(), ended)
    assert len({part_of(tmp_path, rank)["host"] for rank in range(RANKS)}) == RANKS / 2


@pytest.mark.parametrize(
    "victims", [{0}, {3}, {5, 1}, {2, 3}, {0, 1}], ids=lambda v: "-".join(map(str, sorted(v)))
)
def test_survivors_on_other_hosts_go_on(victims: set[int], tmp_path: Path) -> None:
    """One rank, ranks of several hosts, all ranks of a host."""

    def kill(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        processes = job.processes_by_rank()
        for rank in victims:
            os.kill(processes[rank], 9)
        time.sleep(0.3)
        logs.say_enough(tmp_path)

    check(tmp_path, victims, jobs.run(mpirun(mixed(tmp_path), tmp_path, {}), meanwhile=kill))


@pytest.mark.parametrize("fault", ["kill:rank=4,at=allreduce#20", "stop:rank=2,at=bcast#5"])
def test_faults_inside_operations_between_hosts_are_survived(fault: str, tmp_path: Path) -> None:
    ended = jobs.run(mpirun(mixed(tmp_path, 300), tmp_path, {"RESPROUT_INJECT": fault}))
    check(tmp_path, {int(fault.split("rank=")[1][0])}, ended)


def test_garbage_at_the_ports_between_hosts_is_rejected_and_counted(tmp_path: Path) -> None:
    thrown = 0

    def disturb(job: jobs.Job) -> None:
        nonlocal thrown
        logs.wait_for_work(tmp_path, RANKS, job)
        found = [a for pid in job.processes_by_rank().values() for a in garbage.listening(pid)]
        assert len(found) == 2 * RANKS, f"a lifeline and a data port each: {found}"
        command = [namespaces.TOOL, "in", "A", sys.executable, Path(garbage.__file__)]
        command += [f"{host}:{port}" for host, port in found]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as thrower:
            time.sleep(1.5)
            thrown = int(thrower.communicate()[0])
        logs.say_enough(tmp_path)

    ended = jobs.run(mpirun(mixed(tmp_path), tmp_path, {}), meanwhile=disturb)
    assert ended.status == 0, str(ended)
    check(tmp_path, set(), ended)
    parts = [part_of(tmp_path, rank) for rank in range(RANKS)]
    rejected = sum(part["transport"]["rejected_connections"] for part in parts)
    assert 0 < rejected <= thrown, f"{rejected} of {thrown}"
