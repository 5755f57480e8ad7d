"""Programs whose ranks do not call the same: scripts for programs/erroneous.c, and how they end."""

import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import jobs

PROGRAM = jobs.PROGRAMS / "erroneous"
INT, DOUBLE, CHAR, PAIR, GAPS = range(5)
SUM, MAX, BAND, PROD, OF_PROGRAM = range(5)
REDUCTIONS = [
    "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block",
]  # fmt: skip
EXCHANGES = [
    "Bcast", "Gather", "Gatherv", "Allgather", "Allgatherv", "Scatter", "Scatterv", "Alltoall",
    "Alltoallv", "Alltoallw",
]  # fmt: skip
# Calls of which what a rank says chooses the way of its messages: others wait on another one.
WAYS = {
    "counts": ["Bcast", "Allreduce", "Alltoall", "Scan", "Exscan"],
    "type": ["Bcast", "Allreduce", "Alltoall", "Scan", "Exscan"],
    "operator": ["Reduce", "Allreduce"],
}
# What neither ends nor fails in so many seconds hangs.
PATIENCE = 20.0
# Exit statuses from here on are signals: the library itself has written where it must not.
DIED = 128
# What a program leaves unfreed is its own business.
_SANITIZER = [f"ASAN_OPTIONS=detect_leaks=0:exitcode={DIED}"]
CALLS = [*REDUCTIONS, *EXCHANGES, "Barrier", "Sendrecv"]


@dataclass(frozen=True)
class Call:
    """What one rank calls; reductions have the first count alone."""

    name: str
    gives: int = 4
    takes: int = 4
    type: int = INT
    op: int = SUM
    root: int = 0
    is_nonblocking: bool = False
    is_persistent: bool = False

    def __str__(self) -> str:
        form = 2 if self.is_persistent else int(self.is_nonblocking)
        words = [self.gives, self.takes, self.type, self.op, self.root, form]
        return ",".join([self.name, *map(str, words)])


def step(*calls: Call) -> str:
    """What each rank calls; all behind the last one as that."""
    return "|".join(map(str, calls))


def check(ended: jobs.Ended) -> None:
    """What holds however wrong the program is."""
    for word in ("WRONG", "defect of Resprout", "AddressSanitizer", "runtime error"):
        assert word not in ended.err + ended.out, ended


@dataclass(frozen=True)
class Erroneous:
    """A random program that is wrong in one place, or in none."""

    ranks: int
    handler: str
    steps: tuple[str, ...]
    options: tuple[str, ...]
    about: str
    may_hang: bool  # as docs/reference/calls.md says, though the library may end it

    def words(self, program: str | Path = PROGRAM) -> list[str]:
        return [str(program), self.handler, *self.steps]


def drawn(seed: int) -> Erroneous:
    dice = random.Random(seed)
    ranks = dice.choice([2, 3, 4, 4, 5])
    steps = [_right(dice, ranks) for _ in range(dice.randint(1, 3))]
    at = dice.randrange(len(steps))
    kind = dice.choice(["counts", "counts", "counts", "type", "root", "operator", "call", "order"])
    wrong = dice.randrange(ranks)
    calls = [[one] * ranks for one in steps]
    if kind == "order":
        calls.append([_right(dice, ranks)] * ranks)
        calls[at][wrong], calls[-1][wrong] = calls[-1][wrong], calls[at][wrong]
    else:
        calls[at][wrong] = _changed(dice, ranks, calls[at][wrong], kind)
    calls.append([Call("Allreduce", 1, 1)] * ranks)
    handler = dice.choice(["fatal", "fatal", "return"])
    handler += "-made" if seed % 3 == 2 else ""
    carrier = dice.choice(["auto", "auto", "resprout", "native"])
    about = f"seed {seed}: {kind} of rank {wrong} of {ranks} in step {at}, {handler}, {carrier}"
    steps_of_all = tuple(step(*each) for each in calls)
    may_hang = kind in ("root", "call", "order") or steps[at].name in WAYS[kind]
    return Erroneous(ranks, handler, steps_of_all, ("--collectives", carrier), about, may_hang)


def _elements(dice: random.Random) -> int:
    return dice.choice([0, 1, 2, 3, 7, 30, 100, 1000, 5000, 20_000, 70_000, 300_000])


def _right(dice: random.Random, ranks: int) -> Call:
    name = dice.choice(CALLS)
    count = _elements(dice)
    if name.startswith(("All", "Reduce_")):
        count = min(count, 20_000)
    kind = dice.choice([INT, INT, DOUBLE, CHAR, PAIR, GAPS])
    op = dice.choice([SUM, MAX])
    if name in REDUCTIONS and kind >= CHAR:
        op = OF_PROGRAM
    root, form = dice.randrange(ranks), dice.random()
    return Call(name, count, count, kind, op, root, form < 0.3, 0.3 <= form < 0.5)


def _changed(dice: random.Random, ranks: int, call: Call, kind: str) -> Call:
    if kind == "counts":
        return _counted_differently(dice, call)
    if kind == "type":
        return replace(call, type=dice.choice([INT, DOUBLE, CHAR, PAIR, GAPS]))
    if kind == "root":
        return replace(call, root=dice.randrange(ranks))
    if kind == "operator":
        return replace(call, op=dice.choice([SUM, MAX, BAND, PROD, OF_PROGRAM]))
    other_call = _right(dice, ranks)
    return replace(other_call, gives=min(call.gives, 20_000), takes=min(call.takes, 20_000))


def _counted_differently(dice: random.Random, call: Call) -> Call:
    other = dice.choice([call.gives // 2, call.gives + 1, 2 * call.gives, _elements(dice)])
    if call.name.startswith(("All", "Reduce_")):
        other = min(other, 20_000)
    return dice.choice([
        replace(call, gives=other, takes=other), replace(call, gives=other),
        replace(call, takes=other),
    ])  # fmt: skip


def under_the_library(words: Sequence[str], ranks: int) -> jobs.Ended | None:
    """How it ends under plain Open MPI; None: it hangs."""
    environment = [f"{name}={value}" for name, value in jobs.by_hand().items()]
    command = ["env", *environment, *_SANITIZER, str(jobs.MPIRUN), "--oversubscribe", "-n"]
    with jobs.started([*command, str(ranks), *words]) as job:
        try:
            return job.said(job.process.wait(PATIENCE))
        except subprocess.TimeoutExpired:
            return None


def under_us(
    words: Sequence[str], ranks: int, options: Sequence[str], has_to_end: bool
) -> jobs.Ended | str:
    """How it ends; of what hangs, and has to end, what its processes are doing."""
    command = ["env", *_SANITIZER, str(jobs.RESPROUT), "run", "-n", str(ranks), *options, "--"]
    with jobs.started([*command, *words]) as job:
        try:
            return job.said(job.process.wait(PATIENCE))
        except subprocess.TimeoutExpired:
            return job.seen() if has_to_end else "it hangs"


def compare(seed: int, program: str | Path = PROGRAM) -> int:
    """Run it both ways; 1: it hangs, and ends under the library."""
    one = drawn(seed)
    ended = under_the_library(one.words(program), one.ranks)
    alone = None if ended is None else ended.status
    here = under_us(one.words(program), one.ranks, one.options, alone is not None)
    if isinstance(here, str):
        is_worse = alone is not None
        about = f"{one.about} hangs, and under the library has status {alone}: {here}"
        assert one.may_hang or not is_worse, about
        return int(is_worse)
    check(here)
    if alone is None or alone >= DIED:
        return 0
    assert " died" not in here.err, f"{one.about}: {here}"
    if alone != 0:
        assert here.status != 0, f"{one.about} has status {alone} under the library: {here}"
    return 0


@cache
def sanitized(name: str = "erroneous") -> Path:
    """The program, built with the address sanitizer."""
    program = jobs.BUILD / "sanitized" / f"{name}_address"
    program.parent.mkdir(exist_ok=True)
    source = jobs.ROOT / "tests" / "mpi" / "programs" / f"{name}.c"
    words = ["-O1", "-g", "-fsanitize=address", "-o", str(program), str(source)]
    subprocess.run([str(jobs.BIN / "mpicc"), *words], check=True)
    return program


KINDS: dict[str, Callable[[int], int]] = {
    "plain": compare,
    "with the address sanitizer": lambda seed: compare(seed, sanitized()),
}
