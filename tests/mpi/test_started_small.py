"""Small collectives that are started, several on one communicator, over slots that all share.

They are completed in any order and by any call, blocking ones among them. What a rank has given
before it died counts at all alike, and what it has not given counts nowhere.
"""

import random

import covering
import jobs
import pytest

CARRIERS = ["auto", "resprout"]


PROGRAMS = {
    form: jobs.PROGRAMS / f"{form}_small"
    for form in ("started", "persistent")  # the latter may be started in any order, too
}


@pytest.mark.parametrize("form", PROGRAMS)
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_any_mixture_gives_what_all_have_given(ranks: int, form: str) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAMS[form], ranks, 150, -1])
    assert ended.status == 0, str(ended)
    _check_results(ended, list(range(ranks)))


@pytest.mark.parametrize("form", PROGRAMS)
@pytest.mark.parametrize("seed", covering.a_share(range(40), of_one=10))
def test_what_a_rank_gave_before_it_died_counts_at_all_alike(seed: int, form: str) -> None:
    dice = random.Random(f"{form} {seed}")
    ranks = dice.choice([2, 3, 4, 5, 8])
    victim = dice.randrange(ranks)
    rounds = dice.choice([0, 1, 5, 20, 60])
    ended = jobs.resprout_run(
        ranks, [PROGRAMS[form], seed, rounds, victim], ["--collectives", CARRIERS[seed % 2]]
    )
    assert ended.status == 0, str(ended)
    _check_results(ended, [rank for rank in range(ranks) if rank != victim])
    assert [loss["rank"] for loss in ended.report["losses"]] == [victim]


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_exchanges_of_little_and_of_much_by_turns_are_right_before_and_after_a_loss(
    ranks: int,
) -> None:
    victim = ranks - 1
    program = jobs.PROGRAMS / "uneven_exchanges"
    ended = jobs.resprout_run(ranks, [program, ranks, 400, victim])
    assert ended.status == 0, str(ended)
    _check_results(ended, list(range(victim)))


@pytest.mark.parametrize("options", [(), ("--on-loss", "error"), ("--collectives", "resprout")])
def test_what_waits_for_a_rank_that_never_comes_ends_when_it_revokes(
    options: tuple[str, ...],
) -> None:
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "revoked_small"], options)
    assert (ended.status, ended.out) == (0, "wrong: 0\n"), ended


def _check_results(ended: jobs.Ended, ranks: list[int]) -> None:
    assert sorted(ended.out.splitlines()) == sorted(
        f"rank {rank} has 0 wrong results" for rank in ranks
    )
