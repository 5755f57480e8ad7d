"""`resprout reproduce corrected-trees --against PROGRAM`: the authors' simulator, and ours.

The program is the user's own build of it. It is called, once a case, with the same processes dead,
and three numbers are compared: when the last activity ended, messages, and live processes that were
not reached. Gossip has no counterpart here, since it draws its own random numbers.
"""

import json
import random
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout import native
from resprout.errors import UserError
from resprout.progress import progress_bar

LATENCY, OVERHEAD = 2, 1
_SIZES = (8, 100, 1024)
_SHARES = (0.0, 0.01, 0.04, 0.1)
_DRAWS = 2
_SEED = 2019
_SECONDS_MAX = 120
_COLUMNS = ("TotalRuntime", "MsgTask", "UnreachedNodes")
"""Of theirs, in the order of Measured."""

_TREES = ("binomial", "kary", "lame", "optimal")
_ORDERED = ("kary", "lame")


@dataclass(frozen=True)
class Measured:
    quiescence: int
    messages: int
    uncolored: int


@dataclass(frozen=True)
class Case:
    collective: str
    spec: str
    k: int
    procs: int
    faults: tuple[int, ...]

    def command(self, program: Path) -> list[str]:
        """Theirs. `--parallelism 2`: a process sends and receives at the same time."""
        faults = ",".join(map(str, self.faults)) or "none"
        return [
            str(program),
            *("-P", str(self.procs), "-L", str(LATENCY), "-o", str(OVERHEAD), "-g", str(OVERHEAD)),
            *("--parallelism", "2", "--coll", self.collective, "-k", str(self.k)),
            *("--faults", faults),
            *("--results-format", "csv-columns", "--header", ",".join(_COLUMNS)),
        ]

    def own_command(self) -> str:
        faults = ",".join(map(str, self.faults))
        words = f"resprout sim {self.spec} --procs {self.procs}"
        return f"{words} --faults {faults}," if faults else words


@dataclass(frozen=True)
class Compared:
    case: Case
    ours: Measured
    theirs: Measured

    @property
    def is_equal(self) -> bool:
        return self.ours == self.theirs


def collectives() -> Iterator[tuple[str, str, int]]:
    """Their names, our specs, and k. docs/how-to/reproduce.md has the same as a table."""
    for tree in _TREES:
        for k in (2, 4) if tree in _ORDERED else (2,):
            own = f"tree={tree},k={k}" if tree in _ORDERED else f"tree={tree}"
            yield f"{tree}_bcast", f"corrected-tree:{own},correction=none", k
            yield f"ack_{tree}_bcast", f"acknowledged-tree:{own}", k
            checked = f"corrected-tree:{own},correction=checked,start=synchronized"
            yield f"phased_checked_corrected_{tree}_bcast", checked, k
            if tree in ("binomial", "kary"):
                name = f"phased_checked_corrected_{tree}_inorder_bcast"
                yield name, f"{checked},numbering=in-order", k


def cases() -> list[Case]:
    """The same ones each time."""
    generator = random.Random(_SEED)
    found = []
    for collective, spec, k in collectives():
        for procs in _SIZES:
            for count in sorted({round(share * procs) for share in _SHARES}):
                for _ in range(_DRAWS if count else 1):
                    faults = tuple(sorted(generator.sample(range(1, procs), count)))
                    found.append(Case(collective, spec, k, procs, faults))
    return found


def ours(case: Case) -> Measured:
    simulation = native.Simulation(
        case.spec, procs=case.procs, latency=LATENCY, overhead=OVERHEAD, digest=False
    )
    faults = "".join(f"{rank}," for rank in case.faults) or "none"
    run = simulation.run(faults=faults)
    return Measured(run["quiescence_latency"], run["messages"], run["uncolored"])


def theirs(case: Case, program: Path) -> Measured:
    """Refuses a program that does not answer as their simulator does."""
    command = case.command(program)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX
        )
    except OSError as error:
        raise UserError(f"--against: {program} cannot be run: {error.strerror}") from error
    except (subprocess.TimeoutExpired, UnicodeError) as error:
        what = "gave no text" if isinstance(error, UnicodeError) else f"took {_SECONDS_MAX} s"
        raise UserError(f"--against: `{shlex.join(command)}` {what}") from error
    lines = done.stdout.split()
    cells = lines[1].split(",") if len(lines) == 2 and lines[0] == ",".join(_COLUMNS) else []
    if done.returncode != 0 or not all(cell.isdecimal() for cell in cells) or len(cells) != 3:
        raise UserError(
            f"--against: `{shlex.join(command)}` did not answer with a row of {','.join(_COLUMNS)}"
        )
    return Measured(*map(int, cells))


def compare(program: Path, chosen: Sequence[Case]) -> Iterator[Compared]:
    with progress_bar(work=len(chosen), things=len(chosen), name="cases") as bar:
        for case in chosen:
            yield Compared(case, ours(case), theirs(case, program))
            bar.advance(1, 1)


def against(program: Path, format: str) -> int:
    """0: all cases are equal; 1: some are not."""
    results = []
    for compared in compare(program, cases()):
        if format == "json":
            print(json.dumps(_as_json(compared, program)))
        results.append(compared)
    if format != "json":
        _show(results, program)
    return 0 if all(compared.is_equal for compared in results) else 1


def _as_json(compared: Compared, program: Path) -> dict[str, object]:
    return {
        "collective": compared.case.collective,
        "spec": compared.case.spec,
        "procs": compared.case.procs,
        "faults": list(compared.case.faults),
        "equal": compared.is_equal,
        "ours": vars(compared.ours),
        "theirs": vars(compared.theirs),
        "command": shlex.join(compared.case.command(program)),
    }


def _show(results: Sequence[Compared], program: Path) -> None:
    """A line for each collective; of what differs, how to see the first one again."""
    by_name: dict[str, list[Compared]] = {}
    for compared in results:
        by_name.setdefault(f"{compared.case.collective}, k = {compared.case.k}", []).append(
            compared
        )
    width = max(map(len, by_name))
    for name, own in by_name.items():
        equal = sum(compared.is_equal for compared in own)
        print(f"{name:{width}}  {equal} of {len(own)} cases equal")
    print(f"\n{sum(one.is_equal for one in results)} of {len(results)} cases are equal")
    for compared in [one for one in results if not one.is_equal][:1]:
        print(f"the first that differs: ours {compared.ours}, theirs {compared.theirs}")
        print(f"  {compared.case.own_command()}")
        print(f"  {shlex.join(compared.case.command(program))}")
