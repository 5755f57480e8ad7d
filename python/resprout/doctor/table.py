"""One table of all MPIs of this machine: what was tried on each, and what it bears."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.doctor.mpis import Found, find_all
from resprout.errors import UserError
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import Library, Mpi
from resprout.launch.shim import check_fits, shim_for
from resprout.report.ranks import read_parts

_PROGRAM = Path(__file__).with_name("barriers.py")
_BARRIERS = 200
_FAULT = "kill:rank=1,at=barrier#100"
_SECONDS_MAX = 60.0
_HEAD = ("MPI", "found by", "two ranks", "one killed", "bears", "where")


@dataclass(frozen=True)
class Row:
    """What came of it."""

    found: Found
    starts: str
    """Two ranks that are left in peace: `ok`, or what was seen."""
    loses: str
    """Two ranks of which one is killed, under Resprout."""
    bears: str

    def cells(self) -> Sequence[str]:
        mpi = self.found.mpi
        prefix = str(mpi.prefix)
        return (str(mpi), self.found.how, self.starts, self.loses, self.bears, prefix)

    def to_json(self) -> dict[str, str]:
        mpi = self.found.mpi
        return {
            "library": mpi.library.value,
            "version": mpi.version,
            "prefix": str(mpi.prefix),
            "found_by": self.found.how,
            "starts": self.starts,
            "loses": self.loses,
            "bears": self.bears,
        }


def rows(prefix: str | None, environment: Mapping[str, str]) -> Iterator[Row]:
    for found in find_all(prefix, environment):
        yield _try_out(found)


def _try_out(found: Found) -> Row:
    try:
        shim = shim_for(found.mpi)
        if shim is not None:
            check_fits(shim, found.mpi)
    except UserError:
        shim = None
    starts = _run(found, None, {})
    loses = "not tried"
    if starts == "ok" and shim is not None:
        loses = _run(found, shim, {"RESPROUT_INJECT": _FAULT})
    return Row(found, starts, loses, _borne(found.mpi, is_borne=loses == "ok"))


def _run(found: Found, shim: Path | None, variables: Mapping[str, str]) -> str:
    program = [sys.executable, "-I", "-S", str(_PROGRAM), str(found.library), str(_BARRIERS)]
    plan = Plan(found.mpi, 2, program, shim, variables)
    with job.run_directory() as directory, tempfile.TemporaryFile() as output:
        try:
            end = job.run(plan, directory, seconds_max=_SECONDS_MAX, output=output.fileno())
        except (OSError, UserError) as error:
            return str(error)
        output.seek(0)
        has_come_through = "ok" in output.read().decode(errors="replace").split()
        was_killed = 1 in read_parts(directory).injected
    if end.timed_out:
        return f"ended after {_SECONDS_MAX:.0f} s"
    is_well = has_come_through and was_killed == bool(variables)
    return "ok" if is_well else f"status {end.mpirun_status}"


def _borne(mpi: Mpi, is_borne: bool) -> str:
    """As docs/reference/mpi-libraries.md has it, of what was seen."""
    if not is_borne:
        return "no loss"
    if mpi.library is Library.OPEN_MPI:
        return "losses, replicas, lost hosts" if mpi.has_ulfm else "losses, in part"
    if mpi.library is Library.MPICH:
        return "losses, on several hosts too"
    return "losses, on one host"


def lines(of: Iterable[Row]) -> Iterator[str]:
    """Of the table, for people."""
    cells = [_HEAD, *(row.cells() for row in of)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(_HEAD))]
    for line in cells:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def show(of: Sequence[Row]) -> None:
    print("\nMPI libraries of this machine, as tried with `resprout run`:")
    for line in lines(of):
        print(f"      {line}")


def all_rows(prefix: str | None) -> Sequence[Row]:
    return [*rows(prefix, os.environ)]
