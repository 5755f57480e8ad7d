"""Resprout keeps MPI programs running when processes die: the command and what it is made of."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("resprout")
except PackageNotFoundError:  # run from the source tree, without having been installed
    __version__ = "unknown"
