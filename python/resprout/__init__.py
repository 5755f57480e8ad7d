"""Resprout keeps MPI programs running when processes die: the command and what it is made of."""

from pathlib import Path

__version__ = "0.2.0"


def include_directory() -> str:
    """What a C compiler's -I has to name so that it finds <resprout/resprout.h>."""
    return str(Path(__file__).parent / "include")
