"""Compiles programs in Fortran, where there is a compiler.

The MPI of the tests has nothing for Fortran: tests/fortran has a small mpif.h (mpif.inc), a module
mpi_f08, and a library that plays Open MPI's.
"""

import shlex
import shutil
import subprocess
from pathlib import Path

import jobs
import pytest

SOURCES = jobs.ROOT / "tests" / "fortran"
LIBRARIES = jobs.BUILD / "tests" / "fortran"
COMPILER = shutil.which("gfortran")
needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="no gfortran in the PATH: programs in Fortran are not compiled"
)


def compiled(source: Path, folder: Path, uses_resprout: bool = False) -> Path:
    """A program made of one source; `folder` takes it, and modules. `uses_resprout`: it has `use
    resprout`."""
    assert COMPILER is not None
    asked = subprocess.run(
        [jobs.BIN / "mpicc", "--showme:link"], capture_output=True, text=True, check=True
    )
    program = folder / source.stem
    shutil.copy(SOURCES / "mpif.inc", folder / "mpif.h")
    libraries = jobs.BUILD / "lib"
    modules = [jobs.ROOT / "include" / "resprout" / "resprout.f90"] if uses_resprout else []
    ours = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lresprout"] if uses_resprout else []
    subprocess.run(
        [
            *[COMPILER, "-O2", "-fwrapv", "-fallow-argument-mismatch", "-w"],
            *[f"-J{folder}", f"-I{folder}", SOURCES / "mpi_f08.f90", *modules, source],
            *["-o", program, *ours],
            *[f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-lmpifh"],
            *shlex.split(asked.stdout),
        ],
        check=True,
    )
    return program
