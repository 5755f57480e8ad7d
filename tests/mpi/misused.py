"""Programs that call MPI with wrong arguments or misuse handles: scripts for programs/misused.c.

All ranks do the same, so that each mistake is known where it is made. Everybody gets the error that
the MPI library gives, and whoever goes on finds all as it was.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import erroneous
import jobs

SOURCES = jobs.ROOT / "tests" / "mpi" / "programs"
PROGRAM = jobs.PROGRAMS / "misused"
MATRIX = (SOURCES / "misused.c").read_text()
# Calls that are right would open epochs, which other steps have not expected.
EPOCHS = {
    name: ["win", "target", "target_below"] for name in ("Win_lock", "Win_unlock", "Win_flush")
} | {
    "Win_start": ["win", "group"], "Win_post": ["win", "group"],
    "Win_complete": ["win"], "Win_wait": ["win"],
}  # fmt: skip
CALLS = sorted(set(re.findall(r"(?:(?:CALL|TALK|MAKE)\(|IS\(\")([A-Z][a-z_]+)", MATRIX)) - {"Name"})
MISTAKES: list[str] = re.findall(r'WRONG\("(\w+)"', MATRIX)
# The library may end the program itself, and nothing is learned of the other steps.
DEADLY = {"in", "out", "alias", "comm_freed", "info_freed"}
HANDLES_TEXT = (SOURCES / "misused_handles.h").read_text()
HANDLES: list[str] = re.findall(r'MISUSE\("(\w+)"', HANDLES_TEXT)
DEADLY_HANDLES = {"comm_free_used", "same_twice", "test_copy"}
# What only the root of these finds out, or nobody: the others go on with the next call.
ROOTED = {"Bcast", "Gather", "Gatherv", "Reduce", "Scatter", "Scatterv"}
OF_ROOTS = {"in", "out", "in_place_out", "in_place_both", "alias", "counts_last"}
# What an epoch allows is not the same in both: here it is only asked that nobody dies of it.
ONE_SIDED = {
    "Accumulate", "Compare_and_swap", "Fetch_and_op", "Get", "Get_accumulate", "Put", "Rput",
    *EPOCHS, *re.findall(r'MISUSE\("(\w+)"', HANDLES_TEXT.partition("use_windows")[2]),
}  # fmt: skip
OPTIONS = [
    (), (), ("--collectives", "resprout"), ("--collectives", "native"), ("--on-loss", "error"),
    ("--transport", "tcp"),
]  # fmt: skip


@dataclass(frozen=True)
class Misused:
    """A random program of several mistakes."""

    ranks: int
    handler: str
    steps: tuple[str, ...]
    options: tuple[str, ...]

    def words(self, program: str | Path) -> list[str]:
        return [str(program), self.handler, *self.steps]


def drawn(seed: int) -> Misused:
    dice = random.Random(seed)
    handler = "fatal" if dice.random() < 0.1 else "return"
    is_deadly = dice.random() < 0.2
    steps = [_step(dice, may_be_deadly=False) for _ in range(3 if handler == "fatal" else 24)]
    if is_deadly:
        steps = [*steps[:5], _step(dice, may_be_deadly=True)]
    return Misused(dice.choice([2, 2, 3, 4]), handler, tuple(steps), dice.choice(OPTIONS))


def _step(dice: random.Random, may_be_deadly: bool) -> str:
    if dice.random() < 0.4:
        return dice.choice([one for one in HANDLES if may_be_deadly or one not in DEADLY_HANDLES])
    call = dice.choice(CALLS)
    mistakes = [one for one in MISTAKES if may_be_deadly or one not in DEADLY]
    if call in ROOTED:
        mistakes = [one for one in mistakes if one not in OF_ROOTS]
    wrong = dice.choice(EPOCHS.get(call, ["nothing", *mistakes]))
    return f"{call},{wrong},{dice.choice([0, 0, 1, 2])}"


def given(ended: jobs.Ended) -> list[str]:
    """What its ranks say of each step."""
    lines = [line for line in ended.out.splitlines() if line.startswith("rank ")]
    return sorted(line for line in lines if line.split()[2].split(",")[0] not in ONE_SIDED)


def compare(seed: int, program: str | Path = PROGRAM) -> int:
    return compare_both(drawn(seed), f"seed {seed}", program)


def compare_both(one: Misused, about: str, program: str | Path = PROGRAM) -> int:
    """Run it both ways; 1: the library alone ends it by a signal, or hangs."""
    alone = erroneous.under_the_library(one.words(program), one.ranks)
    here = erroneous.under_us(one.words(program), one.ranks, one.options, alone is not None)
    about = f"{about}: {one}"
    if alone is None or alone.status >= erroneous.DIED:
        return 1
    assert not isinstance(here, str), f"{about} hangs: {here}"
    erroneous.check(here)
    dead = "SIG(SEGV|BUS|ABRT|FPE|ILL)" if alone.status else " died"  # one may end all others
    assert not re.search(dead, here.err), f"{about}: {here}"
    assert (here.status == 0) == (alone.status == 0), f"{about}, alone {alone}: {here}"
    if alone.status == 0:
        there, ours = given(alone), given(here)
        odd = [f"- {one}" for one in there if one not in ours]
        odd += [f"+ {one}" for one in ours if one not in there]
        assert there == ours, f"{about}: {odd}: {here}"
    return 0


KINDS: dict[str, Callable[[int], int]] = {
    "misused": compare,
    "misused, with the address sanitizer": lambda seed: compare(
        seed, erroneous.sanitized("misused")
    ),
}
