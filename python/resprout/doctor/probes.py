"""Small programs that are really run, and one of whose processes is really killed."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from resprout.doctor.check import Check, Verdict
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import Mpi
from resprout.report.launch_end import End
from resprout.report.ranks import Parts, read_parts

SECONDS_MAX = 60.0
_SOURCE = Path(__file__).with_name("probe.c")
_START = "start"
_ALONE = "loss, MPI alone"
_WITH_RESPROUT = "loss, with Resprout"
_FAULT = "kill:rank=2,at=allreduce#100"


def check_by_trying(mpi: Mpi, shim: Path | None) -> Iterator[Check]:
    """After the first that makes the others pointless, these are not tried."""
    with tempfile.TemporaryDirectory(prefix="resprout-doctor-") as folder:
        program = Path(folder) / "probe"
        compiled = _compile(mpi, program)
        yield compiled
        if compiled.verdict is not Verdict.GOOD:
            yield from _not_tried("no program can be compiled", _START, _ALONE, _WITH_RESPROUT)
            return
        started = _start(mpi, program)
        yield started
        if started.verdict is not Verdict.GOOD:
            yield from _not_tried("no ranks can be started", _ALONE, _WITH_RESPROUT)
            return
        yield _lose(mpi, program)
        if shim is not None:
            yield _resprout(mpi, program, shim)
        else:
            yield from _not_tried("no library of Resprout fits this MPI", _WITH_RESPROUT)


def _not_tried(why: str, *names: str) -> Iterator[Check]:
    for name in names:
        yield Check(name, Verdict.NOT_TRIED, why)


def _compile(mpi: Mpi, program: Path) -> Check:
    name = "compiler"
    mpicc = shutil.which(mpi.mpicc)
    if mpicc is None:
        text = f"{mpi.mpicc} is missing"
        return Check(name, Verdict.DOUBTFUL, text)
    command = [mpicc, "-o", str(program), str(_SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        return Check(name, Verdict.DOUBTFUL, f"{mpicc} fails: {why}")
    return Check(name, Verdict.GOOD, f"{mpicc} works{without_fortran(Path(mpicc))}")


def without_fortran(mpicc: Path) -> str:
    """What is to be said behind a compiler for C if its MPI has none for Fortran."""
    has_fortran = mpicc.with_name("mpifort").exists()
    return "" if has_fortran else "; there is no mpifort beside it (docs/how-to/fortran.md)"


def _start(mpi: Mpi, program: Path) -> Check:
    end, said, _ = _try(Plan(mpi, 2, [str(program), "start"], shim=None))
    if said == "ok" and end.mpirun_status == 0:
        return Check(_START, Verdict.GOOD, "two ranks start and end")
    return Check(_START, Verdict.BAD, f"two ranks cannot be started: {_describe(end, said)}")


def _lose(mpi: Mpi, program: Path) -> Check:
    name = _ALONE
    end, said, _ = _try(Plan(mpi, 3, [str(program), "lose"], shim=None))
    if said == "ok" and not end.timed_out:
        text = "a rank was killed: the others went on sending and ended well"
        return Check(name, Verdict.GOOD, text)
    text = f"a rank was killed: the others did not come to a good end ({_describe(end, said)})"
    return Check(name, Verdict.DOUBTFUL, text)


def _resprout(mpi: Mpi, program: Path, shim: Path) -> Check:
    name = _WITH_RESPROUT
    variables = {"RESPROUT_INJECT": _FAULT}
    end, said, parts = _try(Plan(mpi, 3, [str(program), "allreduce"], shim, variables))
    statuses = [parts.ranks[r].exit_status if r in parts.ranks else None for r in (0, 1)]
    if said == "ok" and statuses == [0, 0] and 2 in parts.injected:
        return Check(name, Verdict.GOOD, "a rank was killed: allreduces went on without it")
    text = f"a rank was killed: the job did not survive ({_describe(end, said)})"
    return Check(name, Verdict.BAD, text)


def _try(plan: Plan) -> tuple[End, str, Parts]:
    with job.run_directory() as directory, tempfile.TemporaryFile() as output:
        end = job.run(plan, directory, seconds_max=SECONDS_MAX, output=output.fileno())
        output.seek(0)
        lines = output.read().decode(errors="replace").split("\n")
        return end, _telling_line(lines), read_parts(directory)


def _telling_line(lines: Sequence[str]) -> str:
    """`ok`, or what was said first that is no frame around a message."""
    texts = [line.strip() for line in lines if line.strip().strip("-=")]
    return "ok" if "ok" in texts else (texts or ["nothing was said"])[0]


def _describe(end: End, said: str) -> str:
    if end.timed_out:
        return f"it had to be ended after {SECONDS_MAX:.0f} s"
    return f"status {end.mpirun_status}; {said}"
