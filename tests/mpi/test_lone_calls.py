"""Calls that only the MPI library can carry, into which a loss falls: where siblings stand in, who
is inside of one ends, and the job goes on without."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "lone_calls"
RANKS = 4


def run(what: str, *options: str) -> jobs.Ended:
    words = ["--replicas", "2", "--on-replica-loss", "stand-in", *options]
    return jobs.resprout_run(RANKS, [PROGRAM, what], words)


def check(ended: jobs.Ended) -> None:
    assert ended.status == 0, str(ended)
    done = [f"rank {rank} is done" for rank in range(RANKS)]
    assert sorted(ended.out.splitlines()) == done, str(ended)


@pytest.mark.parametrize("what", ["dup", "win", "access", "requests", "polling"])
def test_they_are_carried_while_nobody_is_lost(what: str) -> None:
    ended = run(what)
    check(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "whole"]


@pytest.mark.parametrize("number", [1, 7])
def test_who_is_inside_when_one_is_lost_ends(number: int) -> None:
    ended = run("dup", "--inject", f"kill:rank=2,replica=1,at=comm_dup#{number}")
    check(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "lost"], str(ended)


@pytest.mark.parametrize("number", [1, 7])
def test_windows_with_fences_are_made_by_the_living(number: int) -> None:
    ended = run("win", "--inject", f"kill:rank=2,replica=1,at=win_create#{number}")
    check(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "gaps"], str(ended)


@pytest.mark.parametrize("victim", [0, 3])
def test_so_it_does_wherever_the_loss_falls(victim: int) -> None:
    for what, moment in (
        ("dup", "0.13s"),
        ("win", "0.13s"),
        ("win", "0.15s"),
        ("access", "0.2s"),
        ("access", "0.3s"),
        ("requests", "0.2s"),
        ("requests", "0.3s"),
        ("polling", "0.1s"),
        ("polling", "0.2s"),
    ):
        check(run(what, "--inject", f"kill:rank={victim},replica=0,at={moment}"))
