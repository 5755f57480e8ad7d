"""Every MPI library that is to be found here, and how it was found.

Looked at are, in this order: the prefix that was named, $MPICC, the wheel beside this Python,
variables that modules set, and the folders of PATH and LD_LIBRARY_PATH. What two of them lead to
stands once.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from resprout.errors import UserError
from resprout.launch.linked import CLASSIC, OPEN_MPI, STANDARD
from resprout.launch.mpi import Mpi, find_mpi, own_prefix

# What environment modules of MPIs set: their own, those of Cray and Spack, and EasyBuild's.
_OF_MODULES = (
    "MPI_HOME",
    "MPI_ROOT",
    "MPI_DIR",
    "OPENMPI_ROOT",
    "OMPI_HOME",
    "MPICH_ROOT",
    "MPICH_DIR",
    "MPICH_HOME",
    "I_MPI_ROOT",
    "EBROOTOPENMPI",
    "EBROOTMPICH",
    "EBROOTIMPI",
)
_LIBRARIES = (OPEN_MPI, CLASSIC, STANDARD)


@dataclass(frozen=True)
class Found:
    """An MPI library of this machine."""

    mpi: Mpi
    library: Path
    """The file that its programs load."""
    how: str
    """By what it was found."""


def find_all(prefix: str | None, environment: Mapping[str, str]) -> Iterator[Found]:
    """Those that cannot be asked what they are do not count."""
    seen = set()
    for folder, how in _prefixes(prefix, environment):
        library = _library_in(folder)
        if library is None or library.resolve() in seen:
            continue
        seen.add(library.resolve())
        try:
            mpi = find_mpi(str(folder), environment)
            # The program that tries it is not linked with it.
            preloaded = library if mpi.is_started_by_us else None
            yield Found(replace(mpi, preloaded=preloaded), library, how)
        except UserError:
            continue


def _library_in(prefix: Path) -> Path | None:
    """The first that `resprout run` can start ranks with."""
    folders = (prefix / "lib", prefix / "lib64", prefix / "lib" / "release")
    paths = (folder / name for name in _LIBRARIES for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def _prefixes(prefix: str | None, environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if prefix is not None:
        yield Path(prefix), "--mpi"
    mpicc = environment.get("MPICC", "").split()
    if mpicc and os.sep in mpicc[0]:
        yield Path(mpicc[0]).parent.parent, "MPICC"
    yield own_prefix(), "wheel"
    for name in _OF_MODULES:
        if environment.get(name):
            yield Path(environment[name]), name
    for name in ("PATH", "LD_LIBRARY_PATH"):
        for folder in filter(None, environment.get(name, "").split(os.pathsep)):
            yield Path(folder).absolute().parent, name
