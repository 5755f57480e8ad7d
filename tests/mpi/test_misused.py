"""Wrong arguments and misused handles get the error that the MPI library gives, and nobody dies."""

import covering
import misused
import pytest

EVERY = sorted(set(misused.OPTIONS))
SEEDS = range(1, 31) if covering.is_every_case_wanted() else (2, 5, 8)
# They ended a rank: a degree below 0, and a graph without lists.
GRAPHS = [
    f"{call},{wrong},0"
    for call in ("Dist_graph_create_adjacent", "Dist_graph_create", "Graph_create", "Cart_create")
    for wrong in ("count", "ranks", "dims_below", "dims", "nothing")
]


def compare(steps: list[str], options: tuple[str, ...]) -> None:
    one = misused.Misused(2, "return", tuple(steps), options)
    assert misused.compare_both(one, "each of them") == 0


@pytest.mark.parametrize("options", covering.a_share(EVERY, 2), ids=str)
def test_whoever_misuses_a_handle_gets_the_librarys_error(options: tuple[str, ...]) -> None:
    compare([one for one in misused.HANDLES if one not in misused.DEADLY_HANDLES], options)


@pytest.mark.parametrize("options", covering.a_share(EVERY, 2), ids=str)
def test_graphs_that_are_none_get_the_librarys_error(options: tuple[str, ...]) -> None:
    compare(GRAPHS, options)


def test_what_goes_to_nobody_may_be_no_buffer() -> None:
    compare(["Sendrecv_replace,in_place_both,0", "Send,in,0", "Sendrecv,in,0"], ())


@pytest.mark.parametrize("seed", SEEDS)
def test_random_mistakes_end_as_under_the_library(seed: int) -> None:
    misused.compare(seed)
