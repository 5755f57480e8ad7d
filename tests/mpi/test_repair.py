"""Programs that repair their communicators themselves, in ULFM's way, while ranks are killed."""

import re

import covering
import jobs
import pytest
from kills import check_none_else_lost, kills_at_any_moment, kills_at_calls

CARRIERS = [[], ["--collectives", "native"], ["--collectives", "trees"], ["--transport", "tcp"]]


def repaired(ranks: int, faults: str, carrier: list[str], rounds: int = 3000) -> jobs.Ended:
    """What is left of a job of `ranks`; all that it reports lost is gone from its communicator."""
    program = [jobs.PROGRAMS / "repair", str(rounds)]
    ended = jobs.resprout_run(
        ranks, program, ["--on-loss", "error", *carrier], {"RESPROUT_INJECT": faults}
    )
    left = re.fullmatch(r"(\d+) are left after (\d+) repairs\n", ended.out)
    check_none_else_lost(ended, faults)
    assert left, str(ended)
    assert int(left[1]) >= ranks - len(ended.lost), str(ended)
    return ended


@pytest.mark.parametrize("seed", covering.a_share(range(8), of_one=4))
def test_whoever_is_killed_the_others_shrink_and_do_the_rounds_again(seed: int) -> None:
    ranks = (4, 8, 3, 16)[seed % 4]
    calls = ["sendrecv", "allreduce", "bcast", "barrier", "comm_agree"]
    victims = kills_at_calls(seed, min(ranks - 1, 1 + seed % 3), ranks, calls, 250)
    ended = repaired(ranks, victims, CARRIERS[seed % len(CARRIERS)])
    assert len(ended.lost) == victims.count("kill:"), str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(8), of_one=4))
def test_they_do_at_whatever_moment_it_is_killed(seed: int) -> None:
    ranks = (5, 8, 2, 12)[seed % 4]
    victims = kills_at_any_moment(seed, min(ranks - 1, 1 + seed % 3), ranks, 0.3)
    repaired(ranks, victims, CARRIERS[seed % len(CARRIERS)])


@pytest.mark.parametrize("call", ["comm_shrink", "comm_agree", "comm_revoke"])
@pytest.mark.parametrize("victim", [0, 3])
def test_a_rank_that_dies_in_the_repair_is_left_out_too(call: str, victim: int) -> None:
    number = 2 if call == "comm_agree" else 1
    faults = f"kill:rank=1,at=allreduce#30;kill:rank={victim},at={call}#{number}"
    ended = repaired(5, faults, CARRIERS[victim % len(CARRIERS)])
    assert ended.lost == {1, victim}, str(ended)


def test_a_rank_that_hangs_is_ended_and_left_out() -> None:
    ended = repaired(4, "stop:rank=2,at=allreduce#50", [])
    assert ended.lost == {2}, str(ended)


@pytest.mark.parametrize("ranks", [2, 5])
def test_mpi4py_finds_its_names(ranks: int) -> None:
    program = [jobs.BIN / "python", jobs.ROOT / "tests" / "mpi" / "programs" / "repair.py"]
    ended = jobs.resprout_run(ranks, program, ["--on-loss", "error"])
    assert ended.status == 0 and ended.out == f"{ranks - 1} are left\n", str(ended)
