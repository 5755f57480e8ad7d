"""Jobs that are chosen by a number alone: what is called in which form, by how many ranks, over
what, and who is lost when.

Every collective is called, in its blocking, non-blocking or persistent form; ranks are killed,
stopped or exit before the first of them, inside of any, at any moment, and on leaving.
"""

import random
import sys
from pathlib import Path

import jobs
from kills import FAULT_US, Case

MIXED = ["allreduce", "barrier", "bcast", "reduce"]
BLOCKS = ["gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
          "alltoallv", "alltoallw", "scan", "exscan", "reduce_scatter",
          "reduce_scatter_block"]  # fmt: skip
# What programs in Python do not call.
NOT_IN_MPI4PY = {"alltoallw", "reduce_scatter_block"}
FORMS = ["", "_nonblocking", "_persistent"]
# The first microseconds after MPI_Init: nobody has called anything yet.
BEFORE_US = (1, 200)
RANKS = (2, 16)
VICTIMS_MAX = 3


def a_case(number: int) -> Case:
    """The job with this number; the same one every time."""
    dice = random.Random(f"soak {number}")
    ranks = dice.randint(*RANKS)
    form = dice.choice(FORMS)
    program = dice.choice(["mixed", "blocks"]) + form
    if not form and dice.random() < 0.2:
        program += ".py"
    # One job in eight loses nobody.
    count = dice.choice([0, 1, 1, 1, 2, 2, 2, VICTIMS_MAX])
    victims = dice.sample(range(ranks), min(count, ranks - 1))
    # Faults by the clock, by the calls, or by signals from outside.
    clock = dice.choice(["at", "at", "after", ""])
    faults = tuple(f"{_kind(dice)}:rank={rank},{moment(dice, program, clock)}" for rank in victims)
    return Case(
        number,
        program,
        ranks,
        dice.choice(["shm", "tcp"]),
        # A signal from outside can kill or stop, not make a rank exit.
        tuple(fault.replace("exit", "kill") if "after" in fault else fault for fault in faults),
        dice.choice((2, 2, 2, 30)) if ranks <= 8 else 2,
        dice.choice(["auto", "native", "resprout", "trees"]),
        f".venv/bin/python tests/mpi/soak.py --job {number}",
    )


def program_of(case: Case, folder: Path, only: str = "all") -> list[str | Path]:
    functions = [only] if case.program.startswith("blocks") else []
    if case.program.endswith(".py"):
        script = Path(__file__).parent / "programs" / case.program
        return [sys.executable, script, *case.arguments(folder)]
    return [jobs.PROGRAMS / case.program, *case.arguments(folder, *functions)]


def _kind(dice: random.Random) -> str:
    return dice.choice(["kill", "kill", "kill", "stop", "exit"])


def moment(dice: random.Random, program: str, clock: str) -> str:
    if clock == "after":
        return f"after={dice.randint(*FAULT_US)}us"
    if clock == "at" and dice.random() < 0.5:
        return f"at={dice.randint(*dice.choice([BEFORE_US, FAULT_US, FAULT_US]))}us"
    if dice.random() < 0.1:
        return "at=finalize#1"
    names = MIXED if program.startswith("mixed") else BLOCKS
    if program.endswith(".py"):
        names = [name for name in names if name not in NOT_IN_MPI4PY]
    name = dice.choice(names)
    if program.endswith("_nonblocking"):
        name = f"i{name}"
    elif program.endswith("_persistent"):
        name = f"{name}_init"
    return f"at={name}#{dice.randint(1, 4)}"
