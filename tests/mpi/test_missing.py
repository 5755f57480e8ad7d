"""What stands in for the contributions of the lost: nothing, a value, the last, a callback."""

from collections.abc import Callable, Iterable
from pathlib import Path

import jobs
import pytest

RANKS, ROUNDS, FATAL_ROUND = 5, 6, 3

StandIn = Callable[[int, int], int | None]
"""By rank and operation (two a round, from 0)."""


def contribution(rank: int, round_: int) -> int:
    return 100 * round_ + rank + 1


def expected(victims: set[int], stand_in: StandIn) -> Iterable[tuple[int, int, int]]:
    """Round, sum, first of all. The victims die when they should enter an allreduce."""
    for round_ in range(1, ROUNDS + 1):

        def given(operation: int, round_: int = round_) -> list[int]:
            values = [
                stand_in(rank, operation)
                if rank in victims and round_ >= FATAL_ROUND
                else contribution(rank, round_)
                for rank in range(RANKS)
            ]
            return [value for value in values if value is not None]

        yield round_, sum(given(2 * round_)), given(2 * round_ + 1)[0]


def run(folder: Path, victims: set[int], options: list[str], *arguments: str) -> None:
    program = [jobs.PROGRAMS / "missing", folder, str(ROUNDS), *arguments]
    kills = [f"--inject=kill:rank={rank},at=allreduce#{FATAL_ROUND}" for rank in victims]
    ended = jobs.resprout_run(RANKS, program, [*options, *kills])
    assert ended.status == 0 and ended.lost == victims, str(ended)


def check(folder: Path, victims: set[int], stand_in: StandIn) -> None:
    for rank in set(range(RANKS)) - victims:
        lines = (folder / f"missing-{rank}").read_text().splitlines()
        got = [tuple(map(int, line.split())) for line in lines]
        wanted = [(n, s, first if rank == 1 else -1) for n, s, first in expected(victims, stand_in)]
        assert got == wanted, f"rank {rank}"


CASES: list[tuple[list[str], list[str], StandIn]] = [
    ([], [], lambda rank, operation: None),
    (["--missing", "7"], [], lambda rank, operation: 7),
    (["--missing", "last"], [], lambda rank, operation: contribution(rank, FATAL_ROUND - 1)),
    (["--missing", "mean"], [], lambda rank, operation: 150 + rank + 1),
    (["--missing", "linear"], [], lambda rank, operation: contribution(rank, operation // 2)),
    (["--missing", "7"], ["callback"], lambda rank, operation: 1000 * (rank + 1) if rank else None),
]  # fmt: skip


@pytest.mark.parametrize("victims", [{4}, {0, 2}], ids=["4", "0-2"])
@pytest.mark.parametrize(("options", "arguments", "stand_in"), CASES,
                         ids=["nothing", "value", "last", "mean", "linear", "asked"])  # fmt: skip
def test_stand_ins_take_the_places_of_the_lost(
    options: list[str], arguments: list[str], stand_in: StandIn, victims: set[int], tmp_path: Path
) -> None:
    run(tmp_path, victims, options, *arguments)
    check(tmp_path, victims, stand_in)


@pytest.mark.parametrize("mode", ["nothing", "last", "callback"])
def test_stand_ins_take_those_places_in_all_forms_of_reductions(mode: str) -> None:
    options = ["--missing", "last"] if mode == "last" else []
    ended = jobs.resprout_run(6, [jobs.PROGRAMS / "missing_forms", mode], options)
    assert ended.status == 0 and ended.lost == {1, 5}, str(ended)


def test_what_was_given_to_a_freed_operator_or_datatype_stands_in_for_nothing() -> None:
    program = [jobs.PROGRAMS / "missing_handles", "freed"]
    ended = jobs.resprout_run(4, program, ["--missing", "last"])
    assert ended.status == 0 and ended.lost == {1}, str(ended)


def test_what_is_said_of_stand_ins_is_for_reductions_that_begin_later() -> None:
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "missing_handles", "pending"])
    assert ended.status == 0 and ended.lost == {1}, str(ended)


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("nothing", []),
        ("value", ["--missing", "1000"]),
        ("last", ["--missing", "last"]),
        ("callback", []),
    ],
    ids=["nothing", "value", "last", "callback"],
)
def test_stand_ins_are_in_reduce_scatters_scans_and_gathers(mode: str, options: list[str]) -> None:
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "missing_elsewhere", mode], options)
    assert (ended.status, ended.out) == (0, "") and ended.lost == {1}, str(ended)
