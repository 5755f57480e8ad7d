"""Ranks die while non-blocking and persistent collectives are under way, several on the same
communicator, which are waited for in any order by any call that waits or tests; what must hold of
the blocking forms holds of them.

Of each function at least three ranks die on entering it, and in other jobs ranks die at any moment.
Each case is chosen by its number alone.
"""

import random
from pathlib import Path

import covering
import jobs
import kills
import pytest
from kills import FAULT_US, Case

MIXED = ["allreduce", "barrier", "bcast", "reduce"]
BLOCKS = ["gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
          "alltoallv", "alltoallw", "scan", "exscan", "reduce_scatter",
          "reduce_scatter_block"]  # fmt: skip
FORMS = ["nonblocking", "persistent"]


def called(function: str, form: str) -> str:
    """Under which name the form is called."""
    return f"i{function}" if form == "nonblocking" else f"{function}_init"


def a_case(number: int, program: str, moments: list[str]) -> Case:
    """A victim for each moment; in every other case the first one is rank 0."""
    dice = random.Random(f"forms {number}")
    ranks = (8, 4, 12)[number % 3]
    victims = dice.sample(range(1, ranks), len(moments))
    if number % 2:
        victims[0] = 0
    faults = [f"kill:rank={rank},{moment}" for rank, moment in zip(victims, moments, strict=True)]
    transport = "tcp" if number % 4 > 1 else "auto"
    return Case(number, program, ranks, transport, tuple(faults), 2)


def on_entering(first_number: int, program: str, functions: list[str], form: str) -> list[Case]:
    """Three victims a job, and three kills a function."""
    cases = []
    for i in range(len(functions)):
        entered = [functions[(i + k) % len(functions)] for k in range(3)]
        dice = random.Random(f"entering forms {first_number + i}")
        moments = [f"at={called(name, form)}#{dice.randint(1, 4)}" for name in entered]
        cases.append(a_case(first_number + i, f"{program}_{form}", moments))
    return cases


def at_any_moment(first_number: int, program: str, jobs_wanted: int) -> list[Case]:
    """Of a call as well: between the start of a collective and its end, for one."""
    cases = []
    for number in range(first_number, first_number + jobs_wanted):
        dice = random.Random(f"moment of forms {number}")
        moments = [f"at={dice.randint(*FAULT_US)}us" for _ in range(2)]
        if number % 2:
            moments[1] = f"at={dice.choice(['waitall', 'waitany', 'testsome'])}#{1 + number % 9}"
        cases.append(a_case(number, f"{program}_{FORMS[number % 2]}", moments))
    return cases


CASES = [
    *on_entering(0, "mixed", MIXED, "nonblocking"),
    *on_entering(10, "mixed", MIXED, "persistent"),
    *on_entering(20, "blocks", BLOCKS, "nonblocking"),
    *on_entering(40, "blocks", BLOCKS, "persistent"),
    *at_any_moment(100, "mixed", 4),
    *at_any_moment(120, "blocks", 6),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_survivors_results_are_right(case: Case, tmp_path: Path) -> None:
    functions = ["all"] if case.program.startswith("blocks") else []
    program = [jobs.PROGRAMS / case.program, *case.arguments(tmp_path, *functions)]
    kills.run(case, program, tmp_path)


@pytest.mark.parametrize("number", covering.a_share(range(24), of_one=4))
def test_large_exchanges_are_whole_though_ranks_die_while_others_read_them(
    number: int, tmp_path: Path
) -> None:
    """Each rank reads its blocks out of the memory of the others."""
    dice = random.Random(f"read {number}")
    function = ["alltoall", "alltoallv", "alltoallw"][number % 3]
    ranks = dice.choice([3, 4, 6])
    faults = [
        f"kill:rank={rank},at={dice.randint(*FAULT_US)}us"
        for rank in dice.sample(range(ranks), dice.choice([1, 2]))
    ]
    transport = "tcp" if number % 4 > 1 else "auto"
    program = f"blocks_{dice.choice(FORMS)}"
    case = Case(300 + number, program, ranks, transport, tuple(faults), large_percent=60)
    kills.run(case, [jobs.PROGRAMS / program, *case.arguments(tmp_path, function)], tmp_path)
