"""Small gathers, reductions and scans over slots that are read on demand: a rank gives and goes on.

What a rank has given before it died counts at all who look, however late; what it has not given
counts nowhere.
"""

import random

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "on_demand"
CARRIERS = ["auto", "resprout"]


@pytest.mark.parametrize("ranks", [2, 5])
def test_who_gives_does_not_wait_for_the_root(ranks: int) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, "ahead"])
    assert ended.status == 0, str(ended)
    _check_results(ended, list(range(ranks)))


@pytest.mark.parametrize("seed", covering.a_share(range(24), of_one=6))
def test_what_a_rank_gave_before_it_died_counts_and_nothing_else(seed: int) -> None:
    draw = random.Random(seed)
    ranks = draw.choice([2, 3, 4, 6, 9])
    victim = draw.randrange(ranks)
    rounds = draw.choice([0, 1, 20, 63, 64, 90, 130])
    ended = jobs.resprout_run(
        ranks, [PROGRAM, rounds, victim], ["--collectives", CARRIERS[seed % 2]]
    )
    assert ended.status == 0, str(ended)
    _check_results(ended, [rank for rank in range(ranks) if rank != victim])
    assert [loss["rank"] for loss in ended.report["losses"]] == [victim]


def test_with_errors_wanted_who_misses_a_rank_is_told() -> None:
    ended = jobs.resprout_run(4, [PROGRAM, 20, 2, "error"], ["--on-loss", "error"])
    assert ended.status == 0 and ended.lost == {2}, str(ended)
    _check_results(ended, [0, 1, 3])


def _check_results(ended: jobs.Ended, ranks: list[int]) -> None:
    assert sorted(ended.out.splitlines()) == sorted(
        f"rank {rank} has 0 wrong results" for rank in ranks
    )
