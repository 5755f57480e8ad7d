"""Jobs over three hosts, which are network namespaces of this one: needs root and iproute2.

Ranks are placed two a host, in order: 0 and 1 on the first.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import garbage
import jobs
import logs
import pytest

# The tool that makes the hosts is kept beside the work tree.
HOSTS = jobs.ROOT.parent / "shared" / "tools" / "hosts"
RANKS = 6
NETWORK = "10.77.0.0/24"


@pytest.fixture(scope="module", autouse=True)
def three_hosts() -> Iterator[None]:
    if not HOSTS.exists():
        pytest.skip(f"{HOSTS} is not there")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making hosts needs root and iproute2")
    if "rsw" in subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("somebody else's hosts are up")
    with pytest.MonkeyPatch.context() as patch:
        state = Path("/tmp") / f"hosts-{os.getpid()}"
        patch.setenv("HOSTS_STATE", str(state))
        subprocess.run([HOSTS, "up", "3"], check=True)
        try:
            yield
        finally:
            subprocess.run([HOSTS, "down"], check=True)


def mpirun(program: Sequence[str | Path], folder: Path, variables: dict[str, str]) -> list:
    ours = jobs.by_hand() | variables
    ours |= {"LD_PRELOAD": str(jobs.SHIM), "RESPROUT_NETWORK": NETWORK}
    ours |= {"RESPROUT_RUN_DIR": str(folder)}
    words: list[str | Path] = [HOSTS, "mpirun", jobs.BIN.parent, "--with-ft", "ulfm"]
    for name, value in ours.items():
        words += ["-x", f"{name}={value}"]
    return ["env", *(f"{k}={v}" for k, v in jobs.by_hand().items()), *words, *program]


def mixed(folder: Path, work_ms: int = 0) -> list[str | Path]:
    return [jobs.PROGRAMS / "mixed", str(folder), "11", str(work_ms), "5"]


def part_of(folder: Path, rank: int) -> dict:
    """What a rank reports of itself."""
    return json.loads((folder / f"rank-{rank}.json").read_text())


def check(folder: Path, victims: set[int], ended: jobs.Ended) -> None:
    survivors = set(range(RANKS)) - victims
    wrong = list(logs.problems(logs.read_logs(folder, RANKS), survivors))
    assert not wrong, "\n".join([*wrong[:10], str(ended)])
    for rank in survivors:
        part = part_of(folder, rank)
        assert {loss["rank"] for loss in part["losses"]} == victims, f"rank {rank}: {part}\n{ended}"


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
        command = [HOSTS, "in", "A", sys.executable, Path(garbage.__file__)]
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
