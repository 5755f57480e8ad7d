"""MPICH and Intel MPI as `make test` fetches them (requirements-mpich.txt)."""

import subprocess
from functools import cache
from pathlib import Path

import jobs
import pytest

FOLDER = jobs.ROOT / ".venv" / "mpis"
MPICH = FOLDER / "mpich"
INTEL_MPI = FOLDER / "impi-rt"
PREFIXES = {"MPICH": MPICH, "Intel MPI": INTEL_MPI}
_SOURCES = jobs.ROOT / "tests" / "mpi" / "other"
_OF_OPEN_MPI = jobs.ROOT / "tests" / "mpi" / "programs"


def need(prefix: Path) -> None:
    """Skips the test where this MPI is absent."""
    if not (prefix / "lib" / "libmpi.so.12").exists():
        pytest.skip(f"there is no {prefix.relative_to(jobs.ROOT)}; `make .venv/mpis.stamp` gets it")


def program(name: str, wrapper: str = "mpicc") -> Path:
    """One of the tests', compiled."""
    source = _SOURCES / f"{name}.c"
    if not source.exists():  # what Open MPI is tried with, too
        source = _OF_OPEN_MPI / f"{name}.c"
    return compiled(source, wrapper)


@cache
def compiled(source: Path, wrapper: str = "mpicc") -> Path:
    """Built by MPICH's compiler wrapper. What it makes runs on Intel MPI, too."""
    need(MPICH)
    folder = jobs.BUILD / "tests" / "mpi" / "other"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{source.stem}-{wrapper}"
    command = [MPICH / "bin" / wrapper, "-O1", "-w", "-I", jobs.ROOT / "include"]
    subprocess.run([*command, "-o", made, source, "-lpthread", "-lm"], check=True)
    return made


def options(prefix: Path) -> list[str]:
    """For a program that `program` has made: Intel MPI has to be named."""
    return [] if prefix == MPICH else ["--mpi", str(prefix)]
