"""One-sided access to ranks that wait in collectives, which have the MPI library make progress."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "one_sided"


@pytest.mark.parametrize(
    ("ranks", "options"),
    [
        (2, ()),
        (4, ("--collectives", "trees")),
        (3, ("--collectives", "native")),
        (2, ("--replicas", "2")),
    ],
)
def test_what_waits_in_a_collective_is_reached(ranks: int, options: tuple[str, ...]) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM, 30], options)
    assert (ended.status, ended.out) == (0, "right\n"), str(ended)
