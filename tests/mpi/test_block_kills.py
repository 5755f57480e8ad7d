"""Ranks die in gathers, scatters, exchanges, scans: the survivors agree whose blocks are missing;
all other blocks are right, and where blocks are missing the buffers are untouched.

Of each function at least three ranks die on entering a call of it, and two more at any moment of a
job that calls nothing else. Each case is chosen by its number alone.
"""

import random
import sys
from pathlib import Path

import jobs
import kills
import pytest
from kills import FAULT_US, Case

FUNCTIONS = ["gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
             "alltoallv", "alltoallw", "scan", "exscan", "reduce_scatter",
             "reduce_scatter_block"]  # fmt: skip
NOT_IN_MPI4PY = {"alltoallw", "reduce_scatter_block"}


def a_case(number: int, program: str, moments: list[str]) -> Case:
    """A victim for each moment; in every other case the first one is rank 0."""
    dice = random.Random(f"blocks {number}")
    ranks = (8, 12, 16)[number % 3]
    victims = dice.sample(range(1, ranks), len(moments))
    if number % 2:
        victims[0] = 0
    faults = [f"kill:rank={rank},{moment}" for rank, moment in zip(victims, moments, strict=True)]
    transport = "tcp" if number % 4 > 1 else "auto"
    large_percent = 5 if ranks == 16 else 30
    collectives = dice.choice(["auto", "native", "resprout", "trees"])
    return Case(number, program, ranks, transport, tuple(faults), large_percent, collectives)


def on_entering(first_number: int, program: str, functions: list[str]) -> list[Case]:
    """Three victims a job, and three kills a function."""
    cases = []
    for i in range(len(functions)):
        entered = [functions[(i + k) % len(functions)] for k in range(3)]
        dice = random.Random(f"entering {first_number + i}")
        moments = [f"at={name}#{dice.randint(1, 4)}" for name in entered]
        cases.append(a_case(first_number + i, program, moments))
    return cases


def at_any_moment() -> list[tuple[str, Case]]:
    """Two victims a function."""
    cases = []
    for number, function in enumerate(FUNCTIONS, 100):
        dice = random.Random(f"moment {number}")
        moments = [f"at={dice.randint(*FAULT_US)}us" for _ in range(2)]
        cases.append((function, a_case(number, "c", moments)))
    return cases


def program_of(case: Case, folder: Path, functions: str = "all") -> list[str | Path]:
    if case.program == "c":
        return [jobs.PROGRAMS / "blocks", *case.arguments(folder, functions)]
    script = Path(__file__).parent / "programs" / "blocks.py"
    return [sys.executable, script, *case.arguments(folder)]


CASES = [
    *on_entering(0, "c", FUNCTIONS),
    *on_entering(50, "mpi4py", [name for name in FUNCTIONS if name not in NOT_IN_MPI4PY][::2]),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_blocks_of_survivors_are_right_if_ranks_die_on_entering(case: Case, tmp_path: Path) -> None:
    kills.run(case, program_of(case, tmp_path), tmp_path)


@pytest.mark.parametrize(("function", "case"), at_any_moment(), ids=str)
def test_blocks_of_survivors_are_right_if_ranks_die_at_any_moment(
    function: str, case: Case, tmp_path: Path
) -> None:
    kills.run(case, program_of(case, tmp_path, function), tmp_path)


@pytest.mark.parametrize("program", ["c", "mpi4py"])
@pytest.mark.parametrize("ranks", [1, 3, 16])
def test_without_a_loss_everybody_gets_all_blocks(program: str, ranks: int, tmp_path: Path) -> None:
    case = Case(200 + ranks, program, ranks, "auto", ())
    kills.run(case, program_of(case, tmp_path), tmp_path)
