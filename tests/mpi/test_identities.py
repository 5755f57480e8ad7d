"""Communicators that the MPI library has made without Resprout: all ranks mean the same by each."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "identities"


@pytest.mark.parametrize(
    ("ranks", "options"),
    [(4, ()), (5, ("--collectives", "resprout", "--transport", "tcp"))],
)
def test_two_of_the_same_ranks_are_told_apart_in_whatever_order_each_uses_them(
    ranks: int, options: tuple[str, ...]
) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM], options)
    assert (ended.status, ended.out, ended.lost) == (0, "told apart\n", set()), str(ended)
