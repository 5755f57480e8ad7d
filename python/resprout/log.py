"""Lines on stderr for people, each of a level. What is less important than --log-level is not said.

A line that cannot be written is dropped: nobody's job ends for that.
"""

import contextlib
import sys
from enum import IntEnum


class Level(IntEnum):
    error = 0
    """What ends a job or a command."""
    warning = 1
    """And losses, what follows from them, and what is not as one may think."""
    info = 2
    """And what is started and set, and the report in any case."""
    debug = 3
    """And the command line and the variables of the MPI's launcher."""


_level = Level.warning


def set_level(level: Level) -> None:
    global _level  # noqa: PLW0603 - of the process, as stderr is
    _level = level


def says(level: Level) -> bool:
    """Whether lines of this level are said."""
    return level <= _level


def say(level: Level, text: str) -> None:
    if says(level):
        with contextlib.suppress(OSError):
            print(f"resprout: {text}", file=sys.stderr, flush=True)


def error(text: str) -> None:
    say(Level.error, text)


def warn(text: str) -> None:
    say(Level.warning, text)


def info(text: str) -> None:
    say(Level.info, text)


def debug(text: str) -> None:
    say(Level.debug, text)
