"""Resprout keeps MPI programs running when processes die: the command and what it is made of."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    __version__ = version("resprout")
except PackageNotFoundError:  # run from the source tree, without having been installed
    __version__ = "unknown"


def include_directory() -> str:
    """What a C compiler's -I has to name so that it finds <resprout/resprout.h>."""
    return str(Path(__file__).parent / "include")
