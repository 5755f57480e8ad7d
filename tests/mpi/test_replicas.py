"""`resprout run --replicas`: planes of real processes, real kills of replicas."""

import os
import signal
import sys
from pathlib import Path

import jobs
import pytest

KERNELS = jobs.BUILD / "examples" / "kernels"

# Each rank says what it has computed, step by step.
_STEPS = """
from array import array
from mpi4py import MPI
import sys
world = MPI.COMM_WORLD
total = 0
for step in range(int(sys.argv[1])):
    everybodys = array("q", [0])
    world.Allreduce(array("q", [step * (world.rank + 1)]), everybodys)
    total += everybodys[0]
    print(f"rank {world.rank} step {step} total {total}", flush=True)
"""
STEPS = 60
RANKS = 3


def expected_lines() -> list[str]:
    lines, total = [], 0
    for step in range(STEPS):
        total += step * sum(range(1, RANKS + 1))
        lines += [f"rank {rank} step {step} total {total}" for rank in range(RANKS)]
    return lines


def steps(replicas: int, *options: str) -> jobs.Ended:
    program = [sys.executable, "-c", _STEPS, str(STEPS)]
    return jobs.resprout_run(RANKS, program, ["--replicas", str(replicas), *options])


def check_output(ended: jobs.Ended) -> None:
    """Every line once, and those of each rank in order."""
    assert ended.status == 0, str(ended)
    lines = ended.out.splitlines()
    assert sorted(lines) == sorted(expected_lines()), str(ended)
    for rank in range(RANKS):
        own = [line for line in lines if line.startswith(f"rank {rank} ")]
        assert own == [line for line in expected_lines() if line.startswith(f"rank {rank} ")]


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


@pytest.mark.parametrize("replicas", [2, 3])
def test_the_program_sees_its_ranks_once_and_says_everything_once(replicas: int) -> None:
    ended = steps(replicas)
    check_output(ended)
    assert how(ended) == ["whole"] * replicas
    assert ended.report["ranks"] == RANKS


@pytest.mark.parametrize("replica", [0, 1])
@pytest.mark.parametrize("kind", ["kill", "stop", "exit"])
def test_a_lost_replica_is_not_seen_in_the_output(kind: str, replica: int) -> None:
    ended = steps(2, "--inject", f"{kind}:rank=1,replica={replica},at=allreduce#30")
    check_output(ended)
    expected = ["whole", "whole"]
    expected[replica] = "lost"
    assert how(ended) == expected, str(ended)
    lost = ended.report["planes"][replica]["losses"]
    assert [loss["rank"] for loss in lost] == [1]
    assert "1 plane was left" in ended.err


def test_a_job_outlives_all_planes_but_one() -> None:
    faults = ["kill:rank=0,replica=0,at=allreduce#20", "kill:rank=2,replica=1,at=allreduce#40"]
    ended = steps(3, *(word for fault in faults for word in ("--inject", fault)))
    check_output(ended)
    assert how(ended) == ["lost", "lost", "whole"]


def test_a_job_of_which_every_plane_is_lost_fails() -> None:
    faults = ["kill:rank=0,replica=0,at=allreduce#20", "kill:rank=2,replica=1,at=allreduce#40"]
    ended = steps(2, *(word for fault in faults for word in ("--inject", fault)))
    assert ended.status not in (0, 3), str(ended)
    assert how(ended) == ["lost", "lost"]


def test_strict_gives_3_if_a_plane_was_lost() -> None:
    assert steps(2, "--strict", "--inject", "kill:rank=1,at=allreduce#30").status == 3
    assert steps(2, "--strict").status == 0


def test_a_launcher_of_a_plane_that_is_killed_takes_its_ranks_along_and_nobody_else_s() -> None:
    def kill_one(job: jobs.Job) -> None:
        def is_launcher(pid: int) -> bool:
            return Path(jobs.command_of(pid).partition("\0")[0]).name in ("mpirun", "prterun")

        said = "step 5 "
        assert jobs.becomes_true(lambda: said in job.said().out, jobs.WATCHDOG_SECONDS)
        os.kill(next(filter(is_launcher, job.processes())), signal.SIGKILL)

    slow = _STEPS.replace("    print", "    import time; time.sleep(0.02)\n    print")
    program = [sys.executable, "-c", slow, str(STEPS)]
    ended = jobs.resprout_run(RANKS, program, ["--replicas", "2"], meanwhile=kill_one)
    check_output(ended)
    assert sorted(how(ended)) == ["lost", "whole"], str(ended)


def test_all_planes_read_the_same_input() -> None:
    count = "import sys; from mpi4py import MPI; print(len(sys.stdin.read()))"
    fault = "kill:rank=0,at=finalize#1"
    command = [jobs.RESPROUT, "run", "-n", "1", "--replicas", "2", "--inject", fault]
    words = ["sh", "-c", 'head -c 200000 /dev/zero | "$@"', "sh", *command, "--"]
    ended = jobs.run([*words, sys.executable, "-c", count])
    assert (ended.status, ended.out) == (0, "200000\n"), str(ended)


def test_a_plane_that_ends_differently_is_named() -> None:
    odd = "import os, sys; from mpi4py import MPI; sys.exit(int(os.environ['RESPROUT_REPLICA']))"
    ended = jobs.resprout_run(2, [sys.executable, "-c", odd], ["--replicas", "2"])
    assert ended.status == 0, str(ended)
    assert "plane 1 ended differently: whole, with status 1" in ended.err


def test_planes_share_a_secret_and_see_who_is_over() -> None:
    # Plane 1 goes on until the launcher says that plane 0 is over.
    see = (
        'cd "$RESPROUT_RUN_DIR/.." && stat -c "%a %s" secret && '
        '[ "$RESPROUT_REPLICA" = 0 ] || while [ ! -e ended-0 ]; do sleep 0.01; done'
    )
    ended = jobs.resprout_run(1, ["sh", "-c", see], ["--replicas", "2"])
    assert (ended.status, ended.out) == (0, "600 32\n"), str(ended)
    assert how(ended) == ["whole", "whole"]


@pytest.mark.parametrize("what", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_all_planes(what: signal.Signals) -> None:
    wait = "import time; from mpi4py import MPI; print('here', flush=True); time.sleep(600)"
    command = [jobs.RESPROUT, "run", "-n", "2", "--replicas", "2", "--"]
    with jobs.started([*command, sys.executable, "-c", wait]) as job:
        both = lambda: job.said().out.count("here") == 2  # noqa: E731
        assert jobs.becomes_true(both, jobs.WATCHDOG_SECONDS)
        job.process.send_signal(what)
        assert job.wait().status == 128 + what


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("name", ["cg", "ft", "lu"])
def test_kernels_verify_in_planes_though_one_is_lost(name: str, replicas: int) -> None:
    options = ["--replicas", str(replicas), "--inject", "kill:rank=1,at=allreduce#2"]
    ended = jobs.resprout_run(4, [KERNELS / name, "S", "3"], options)
    assert ended.status == 0, str(ended)
    (line,) = ended.out.splitlines()
    assert line.endswith("verified"), str(ended)


def test_what_a_rank_said_that_dies_on_leaving_is_said_by_the_other_plane() -> None:
    ended = jobs.resprout_run(2, [jobs.PROGRAMS / "dies_on_leaving"], ["--replicas", "2"])
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == ["rank 0", "rank 1"], str(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["lost", "whole"], str(ended)
