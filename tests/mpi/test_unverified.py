"""What is left when replicas are lost that others were compared with; output that they vote on."""

import sys

import jobs
import pytest

RANKS = 3
STANDING = [jobs.PROGRAMS / "standing_still", "nowhere", "9"]
KILL = ["--inject", "kill:rank=1,replica=0,at=sendrecv#20"]
# One rank of one plane says another line than its replicas.
SAYING = """
import os, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
for step in range(5):
    is_wrong = os.environ["RESPROUT_REPLICA"] == sys.argv[1] and step == 2 and world.rank == 1
    print("rank", world.rank, "says", -1 if is_wrong else step, flush=True)
    world.Barrier()
"""


def run(*options: str) -> jobs.Ended:
    chosen = ["--replicas", "2", "--verify", "msg-plus-hash"]
    return jobs.resprout_run(RANKS, STANDING, [*chosen, *KILL, *options])


@pytest.mark.parametrize(
    ("options", "status"), [((), 0), (("--strict",), 3), (("--on-replica-loss", "stand-in"), 0)]
)
def test_a_loss_after_which_nothing_is_compared_is_said_and_counted(
    options: tuple[str, ...], status: int
) -> None:
    ended = run(*options)
    assert ended.status == status, str(ended)
    who = "rank 1" if "stand-in" in options else "plane 1"
    is_said = f"nothing that {who} says is compared any more" in ended.err
    # The job may be over before its launcher knows of the loss.
    assert is_said or "messages and collectives were not compared" in ended.err, str(ended)
    done = ended.report["verification"]
    assert 0 < done["share"] < 1, str(ended)
    assert done["total"] == done["verified"] + done["unverified"], str(ended)


@pytest.mark.parametrize("on_loss", ["end-plane", "stand-in"])
def test_a_job_that_is_not_to_go_on_unverified_ends(on_loss: str) -> None:
    ended = run("--on-unverified", "abort", "--on-replica-loss", on_loss)
    assert ended.status == 6, str(ended)
    assert "status 6 (--on-unverified abort)" in ended.err, str(ended)


def say(replicas: int, plane: int, *options: str) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", "async-hash", "--commit-output", "voted"]
    program = [sys.executable, "-c", SAYING, str(plane)]
    return jobs.resprout_run(RANKS, program, [*chosen, *options])


RIGHT = sorted(f"rank {rank} says {step}" for rank in range(RANKS) for step in range(5))


@pytest.mark.parametrize("on_loss", ["end-plane", "stand-in"])
def test_a_line_is_what_two_of_three_say(on_loss: str) -> None:
    ended = say(3, 0, "--on-replica-loss", on_loss)
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == RIGHT, str(ended)
    (found,) = ended.report["corruptions"]
    assert (found["of"], found["rank"], found["number"]) == ("output", 1, 3), str(ended)
    assert (found["wrong_replicas"], found["replaced"]) == ([0], True), str(ended)
    assert "stdout" not in ended.report["verification"]["not_compared"]


def test_where_two_differ_the_line_is_not_shown_and_the_job_ends_or_it_is_reported() -> None:
    ended = say(2, 1)
    assert ended.status == 4, str(ended)
    assert "says -1" not in ended.out
    assert "rank 1 says 2" not in ended.out
    assert "line 3 of rank 1 on stdout" in ended.err, str(ended)
    ended = say(2, 1, "--on-corruption", "report")
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == RIGHT, str(ended)
    assert [one["end"] for one in ended.report["corruptions"]] == ["undecided"], str(ended)
