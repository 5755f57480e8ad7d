"""Replicas on several hosts, which are network namespaces (tests/namespaces.py), and whole hosts
that are lost: killed with all that runs there, or cut off.

The launcher is on A, planes on B, C and D: with two of them, plane 0 on B and D, plane 1 on C.
"""

import json
import os
import signal
import subprocess
import sys
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import jobs
import namespaces
import pytest
from covering import with_every_value
from whole_hosts import HOSTS, cut, heal, kill, variables

RANKS = 4
STEPS = 30
GATE = 10
VERIFY = ["none", "msg-plus-hash"]
LOST = "could not be reached any more"

# In the middle all wait for a file. A second argument is a file to write through MPI.
_STEPS = f"""
import os, socket, sys, time
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
folder = sys.argv[1]
name = f"placed-{{os.environ['RESPROUT_REPLICA']}}-{{world.rank}}"
with open(os.path.join(folder, name), "w") as file:
    file.write(socket.gethostname())
total = 0
data = len(sys.argv) > 2 and MPI.File.Open(world, sys.argv[2], MPI.MODE_CREATE | MPI.MODE_WRONLY)
for step in range({STEPS}):
    while step == {GATE} and not os.path.exists(os.path.join(folder, "go")):
        time.sleep(0.01)
    sums, other = array("q", [0]), array("q", [0])
    world.Allreduce(array("q", [step * (world.rank + 1)]), sums)
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    world.Sendrecv(sums, right, 0, other, left, 0)
    total += other[0]
    if data:
        data.Write_at_all((step * world.size + world.rank) * 8, array("q", [total]))
    print(f"rank {{world.rank}} step {{step}} total {{total}}", flush=True)
if data:
    data.Close()
"""
# Steps from checkpoint to checkpoint; the third waits for a file.
_CHECKPOINTS = """
import os, sys, time
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect
world = MPI.COMM_WORLD
step, total = numpy.zeros(1, dtype=int), numpy.zeros(1, dtype=int)
protect(step)
protect(total)
while True:
    checkpoint()
    if step[0] == 6:
        break
    while step[0] == 3 and not os.path.exists(os.path.join(sys.argv[1], "go")):
        time.sleep(0.01)
    mine = step * world.size + world.rank
    other = numpy.zeros(1, dtype=int)
    world.Sendrecv(mine, (world.rank + 1) % world.size, 0, other)
    total += other
    step += 1
    print("rank", world.rank, "step", step[0], "total", total[0], flush=True)
"""

# Sums on each host, then among hosts, and back.
_NODES = """
from array import array
from mpi4py import MPI
world = MPI.COMM_WORLD
node = world.Split_type(MPI.COMM_TYPE_SHARED, world.rank)
leaders = world.Split(0 if node.rank == 0 else MPI.UNDEFINED, world.rank)
total = 0
for step in range(20):
    part, whole = array("q", [0]), array("q", [0])
    node.Reduce(array("q", [(step + 1) * (world.rank + 1)]), part, root=0)
    if node.rank == 0:
        leaders.Allreduce(part, whole)
    node.Bcast(whole, root=0)
    total += whole[0]
print(f"rank {world.rank} is one of {node.size} with {total}", flush=True)
"""


pytestmark = pytest.mark.usefixtures("four_hosts")


def command(
    folder: Path, hosts: Sequence[str], *options: str, file: Path | None = None
) -> list[str | Path]:
    hostfile = folder / "hosts"
    hostfile.write_text("".join(f"{host} slots=2\n" for host in hosts))
    words: list[str | Path] = [jobs.RESPROUT, "run", "-n", str(RANKS), "--hostfile", hostfile]
    words += ["--run-dir", folder, "--report", folder / "report.json", *options]
    words += ["--", sys.executable, "-c", _STEPS, folder, *([file] if file else [])]
    return [namespaces.TOOL, "in", "A", *words]


def run(
    folder: Path,
    *options: str,
    fault: Callable[[], None] = lambda: None,
    hosts: Sequence[str] = ("nodeB", "nodeC", "nodeD"),
    file: Path | None = None,
) -> jobs.Ended:
    """The job, into which `fault` falls when all ranks wait; then links are healed, and all is
    gone that was cut off."""
    with jobs.started(command(folder, hosts, *options, file=file), variables(folder)) as job:
        waits = f"step {GATE - 1} "
        jobs.becomes_true(
            lambda: job.said().out.count(waits) == RANKS or job.process.poll() is not None,
            jobs.WATCHDOG_SECONDS,
        )
        fault()
        (folder / "go").touch()
        with suppress(subprocess.TimeoutExpired):
            job.process.wait(jobs.WATCHDOG_SECONDS)
            for host in HOSTS:
                heal(host)
            jobs.becomes_true(lambda: not job.processes(), jobs.WATCHDOG_SECONDS)
        ended = job.wait(1)
    report = folder / "report.json"
    text = report.read_text() if report.exists() else ""
    return replace(ended, report=json.loads(text or "{}"))


def expected_lines(rank: int) -> list[str]:
    total, lines = 0, []
    for step in range(STEPS):
        total += step * sum(range(1, RANKS + 1))
        lines.append(f"rank {rank} step {step} total {total}")
    return lines


def check_output(ended: jobs.Ended) -> None:
    """Every line of every rank once, in order."""
    assert ended.status == 0, str(ended)
    lines = ended.out.splitlines()
    assert len(lines) == RANKS * STEPS, str(ended)
    for rank in range(RANKS):
        own = [line for line in lines if line.startswith(f"rank {rank} ")]
        assert own == expected_lines(rank), str(ended)


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def hosts_of(folder: Path, rank: int, replicas: int) -> list[str]:
    return [(folder / f"placed-{replica}-{rank}").read_text() for replica in range(replicas)]


@pytest.mark.parametrize(("replicas", "verify"), with_every_value([2, 3], VERIFY))
def test_replicas_of_a_rank_are_never_on_one_host(folder: Path, replicas: int, verify: str) -> None:
    # Else a host has the same name for all replicas.
    own = () if verify == "none" else ("--system", "own")
    ended = run(folder, "--replicas", str(replicas), "--verify", verify, *own)
    check_output(ended)
    assert how(ended) == ["whole"] * replicas
    placed = [hosts_of(folder, rank, replicas) for rank in range(RANKS)]
    assert all(len(set(hosts)) == replicas for hosts in placed), str(placed)
    assert {host for hosts in placed for host in hosts} == {"nodeB", "nodeC", "nodeD"}


@pytest.mark.parametrize(("place", "verify"), with_every_value([("D", 0), ("C", 1)], VERIFY))
def test_a_host_that_dies_costs_its_plane_and_nothing_of_the_output(
    folder: Path, place: tuple[str, int], verify: str
) -> None:
    host, plane = place
    ended = run(folder, "--replicas", "2", "--verify", verify, fault=lambda: kill(host))
    check_output(ended)
    assert how(ended)[plane] == "lost" and how(ended)[1 - plane] == "whole", str(ended)
    assert "1 plane was left at the end: a further loss would have ended the job" in ended.err


@pytest.mark.parametrize(("place", "verify"), with_every_value([("C", 1), ("B", 0)], VERIFY))
def test_a_host_that_is_cut_off_costs_its_plane_and_nothing_of_the_output(
    folder: Path, place: tuple[str, int], verify: str
) -> None:
    host, plane = place
    ended = run(folder, "--replicas", "2", "--verify", verify, fault=lambda: cut(host))
    check_output(ended)
    assert how(ended)[plane] == "lost" and how(ended)[1 - plane] == "whole", str(ended)
    assert "1 plane was left at the end: a further loss would have ended the job" in ended.err


@pytest.mark.parametrize(("place", "lose"), with_every_value([("C", 1), ("B", 0)], [kill, cut]))
def test_what_is_written_through_mpi_is_that_of_a_plane_that_lives(
    folder: Path, place: tuple[str, int], lose: Callable[[str], None]
) -> None:
    host, plane = place
    data = folder / "data"
    data.mkdir()
    ended = run(folder, "--replicas", "2", fault=lambda: lose(host), file=data / "out")
    check_output(ended)
    assert how(ended)[plane] == "lost"
    totals = [int(line.split()[-1]) for line in expected_lines(0)]
    expected = array("q", [total for total in totals for _ in range(RANKS)])
    assert (data / "out").read_bytes() == expected.tobytes()
    # A plane 0 that is killed leaves Open MPI's lock, as any job does: out-<job>-<number>.lock
    left = {path.name for path in data.iterdir() if not path.name.startswith("out-")}
    assert left == {"out"}, str(ended)


def test_of_three_planes_one_outlives_the_hosts_of_the_others(folder: Path) -> None:
    def kill_one_and_cut_one_off() -> None:
        kill("B")
        cut("C")

    ended = run(folder, "--replicas", "3", fault=kill_one_and_cut_one_off)
    check_output(ended)
    assert how(ended) == ["lost", "lost", "whole"], str(ended)
    assert ended.report["planes"][0]["lost_host"] == "nodeB"
    assert f"plane 1 was lost: host nodeC {LOST}" in ended.err


@pytest.mark.parametrize("method", ["async", "none"])
def test_a_plane_that_has_lost_a_process_comes_back_on_its_hosts(folder: Path, method: str) -> None:
    words = command(folder, ["nodeB", "nodeC", "nodeD"], "--replicas", "2", "--verify", method)
    words[words.index("-c") + 1 :] = [_CHECKPOINTS, folder]
    with jobs.started(words, variables(folder)) as job:

        def wait_until(condition: Callable[[], bool]) -> None:
            if not jobs.becomes_true(condition, jobs.WATCHDOG_SECONDS):
                pytest.fail(job.seen(), pytrace=False)

        wait_until(lambda: job.said().out.count("step 3 ") == RANKS)
        (started,) = folder.glob("resprout-*/plane-0/started-1")
        os.kill(int(started.read_text().split()[0]), signal.SIGKILL)
        wait_until(lambda: any(folder.glob("resprout-*/return-1/addresses-0")))
        (folder / "go").touch()
        ended = job.wait()
    assert ended.status == 0, str(ended)
    expected = [
        f"rank {rank} step {step} total {sum(s * RANKS + (rank - 1) % RANKS for s in range(step))}"
        for rank in range(RANKS)
        for step in range(1, 7)
    ]
    assert sorted(ended.out.splitlines()) == sorted(expected), str(ended)
    report = json.loads((folder / "report.json").read_text())
    assert [plane["how"] for plane in report["planes"]] == ["whole", "whole"]
    assert report["planes"][0]["returns"][0]["checkpoint"] == 5, str(ended)


STAND_IN = ("--on-replica-loss", "stand-in")


def kill_process(folder: Path, plane: int, rank: int) -> None:
    (started,) = folder.glob(f"resprout-*/plane-{plane}/started-{rank}")
    os.kill(int(started.read_text().split()[0]), signal.SIGKILL)


@pytest.mark.parametrize("method", VERIFY)
def test_siblings_on_other_hosts_stand_in_for_processes_that_die(folder: Path, method: str) -> None:
    def kill_some() -> None:
        kill_process(folder, 0, 1)
        kill_process(folder, 1, 2)
        kill_process(folder, 0, 3)

    ended = run(folder, "--replicas", "2", *STAND_IN, "--verify", method, fault=kill_some)
    check_output(ended)
    assert how(ended) == ["gaps", "gaps"], str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    assert ended.report["replicas_left"] == [2, 1, 1, 1], str(ended)


@pytest.mark.parametrize("lose", [kill, cut])
def test_a_plane_with_a_gap_outlives_the_host_of_another_one(
    folder: Path, lose: Callable[[str], None]
) -> None:
    def lose_some() -> None:
        kill_process(folder, 0, 1)
        lose("C")
        kill_process(folder, 2, 2)

    ended = run(folder, "--replicas", "3", *STAND_IN, fault=lose_some)
    check_output(ended)
    assert how(ended) == ["gaps", "lost", "gaps"], str(ended)
    assert ended.report["planes"][1]["lost_host"] == "nodeC"
    assert ended.report["replicas_left"] == [2, 1, 1, 2]


def test_of_a_plane_on_two_hosts_one_of_which_is_cut_off_the_rest_is_lost_with_it(
    folder: Path,
) -> None:
    def lose_half_of_plane_0() -> None:
        kill_process(folder, 0, 0)
        cut("D")

    ended = run(folder, "--replicas", "2", *STAND_IN, fault=lose_half_of_plane_0)
    check_output(ended)
    assert how(ended) == ["lost", "whole"], str(ended)
    assert ended.report["replicas_left"] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("options", "how_planes_end"),
    [
        (("--verify", "msg-plus-hash"), "whole"),
        (
            (
                *STAND_IN,
                *("--inject", "kill:rank=1,replica=0,at=bcast#5"),
                *("--inject", "kill:rank=2,replica=1,at=bcast#7"),
            ),
            "gaps",
        ),
    ],
)
def test_all_planes_have_the_same_ranks_share_hosts(
    folder: Path, options: tuple[str, ...], how_planes_end: str
) -> None:
    """Plane 0 is on two hosts, plane 1 on one."""
    words = command(folder, ["nodeB", "nodeC", "nodeD"], "--replicas", "2", *options)
    words[words.index("-c") + 1 :] = [_NODES]
    ended = jobs.run(words, variables(folder))
    assert ended.status == 0, str(ended)
    total = sum((step + 1) * sum(range(1, RANKS + 1)) for step in range(20))
    expected = [f"rank {rank} is one of 2 with {total}" for rank in range(RANKS)]
    assert sorted(ended.out.splitlines()) == expected, str(ended)
    report = json.loads((folder / "report.json").read_text())
    assert [plane["how"] for plane in report["planes"]] == [how_planes_end] * 2, str(ended)


def test_fewer_hosts_than_replicas_are_refused_or_shared(folder: Path) -> None:
    refused = run(folder, "--replicas", "2", hosts=["nodeB"])
    assert refused.status == 2 and not refused.out, str(refused)
    assert "--replicas 2 needs 2 hosts" in refused.err
    assert "--replica-hosts shared" in refused.err
    shared = run(folder, "--replicas", "2", "--replica-hosts", "shared", hosts=["nodeB"])
    check_output(shared)
    assert hosts_of(folder, 0, 2) == ["nodeB", "nodeB"]
    assert "nodeB: they protect from the loss of processes there" in shared.err


def test_two_names_of_one_host_are_found_out(folder: Path) -> None:
    etc_hosts = Path(os.environ["HOSTS_STATE"], "etc-hosts")
    with etc_hosts.open("a") as file:
        file.write("10.78.0.2 nodeB-ib\n")
    refused = run(folder, "--replicas", "2", hosts=["nodeB", "nodeB-ib"])
    assert refused.status == 2 and not refused.out, str(refused)
    assert "one host, which would have several replicas" in refused.err
    assert not list(folder.glob("placed-*"))


def test_a_run_directory_that_other_hosts_do_not_see_is_refused(folder: Path) -> None:
    own = folder / "own"
    own.mkdir()
    words = command(folder, ["nodeB", "nodeC"], "--replicas", "2", "--run-dir", str(own))
    mounted = [*words[:3], "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', own, *words[3:]]
    ended = jobs.run(mounted, variables(folder))
    assert ended.status == 2 and not ended.out, str(ended)
    assert f"cannot see {own}" in ended.err and "--run-dir" in ended.err
    assert not list(folder.glob("placed-*"))


def test_a_host_that_does_not_answer_is_named_before_anything_starts(folder: Path) -> None:
    ended = run(folder, "--replicas", "2", hosts=["nodeB", "nodeZ"])
    assert ended.status == 2 and not ended.out, str(ended)
    assert "nodeZ" in ended.err
    assert not list(folder.glob("placed-*"))


def test_input_is_not_for_replicas_on_several_hosts(folder: Path) -> None:
    words = command(folder, ["nodeB", "nodeC"], "--replicas", "2")
    read = "import sys; from mpi4py import MPI; print(len(sys.stdin.read()))"
    piped = ["sh", "-c", 'echo something | "$@"', "sh", *words[: words.index("--") + 1]]
    ended = jobs.run([*piped, sys.executable, "-c", read], variables(folder))
    assert (ended.status, ended.out) == (0, "0\n" * RANKS), str(ended)
    assert "get no input" in ended.err
