"""Without any loss, results are byte for byte those of the MPI library itself."""

from collections.abc import Sequence

import covering
import jobs
import pytest

EQUALITY = jobs.PROGRAMS / "equality"
BLOCKS = jobs.PROGRAMS / "equality_blocks"
BLOCK_FUNCTIONS = ["gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
                   "alltoall", "alltoallv", "alltoallw", "scan", "exscan", "reduce_scatter",
                   "reduce_scatter_block"]  # fmt: skip
MEBIBYTE = 1 << 20


def check(ranks: int, *arguments: str, checks_min: int, options: Sequence[str] = ()) -> None:
    # Each transport at half of the rank counts; every program runs at both.
    transport = "tcp" if ranks % 2 else "auto"
    ended = jobs.resprout_run(ranks, [EQUALITY, *arguments], ["--transport", transport, *options])
    assert ended.status == 0 and ended.lost == set(), str(ended)
    assert int(ended.out.split()[0]) >= checks_min, str(ended)
    # It was not the MPI library that was compared with itself.
    assert ended.calls("allreduce") >= checks_min * ranks / 10, str(ended)


# Powers of two and their neighbors.
RANKS = range(1, 17) if covering.is_every_case_wanted() else [1, 2, 3, 4, 7, 8, 9, 16]


@pytest.mark.parametrize("ranks", RANKS)
def test_all_operators_with_all_datatypes_give_the_native_result(ranks: int) -> None:
    check(ranks, "operators", checks_min=4000)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 11, 16])
def test_derived_datatypes_and_own_operators_give_the_native_result(ranks: int) -> None:
    check(ranks, "layouts", checks_min=150)


@pytest.mark.parametrize(
    ("ranks", "bytes_max"),
    [(1, 64 * MEBIBYTE), (2, 64 * MEBIBYTE), (3, 16 * MEBIBYTE), (8, 2 * MEBIBYTE),
     (16, 2 * MEBIBYTE), (13, 2 * MEBIBYTE)],
)  # fmt: skip
def test_every_size_gives_the_native_result(ranks: int, bytes_max: int) -> None:
    check(ranks, "sizes", str(bytes_max), checks_min=50)


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_gossip_gives_the_native_result(ranks: int) -> None:
    options = ["--bcast", "corrected-gossip:rounds=3,correction=optimized-opportunistic,d=1"]
    check(ranks, "sizes", str(2 * MEBIBYTE), checks_min=50, options=options)


@pytest.mark.parametrize("ranks", [1, *covering.a_share([2, 3, 5, 8, 4, 6, 7], of_one=2)])
def test_gathers_scatters_exchanges_and_scans_give_the_native_result(ranks: int) -> None:
    transport = "tcp" if ranks % 2 else "auto"
    ended = jobs.resprout_run(ranks, [BLOCKS, "40"], ["--transport", transport])
    assert ended.status == 0 and ended.out == "40 rounds\n", str(ended)
    # It was not the MPI library that was compared with itself.
    assert {ended.calls(name) for name in BLOCK_FUNCTIONS} == {40 * ranks}, str(ended)
