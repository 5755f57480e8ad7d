"""What is said on stderr is for whoever reads it. That nobody can hear it, as the disk is full or
the pipe is closed, ends no command, and least of all a job.
"""

import io
import os
import sys
from contextlib import suppress

_STDERR = 2


class UnfailingWriter(io.TextIOWrapper):
    """Text to a file descriptor, at once; what cannot be written is dropped."""

    def __init__(self, fd: int) -> None:
        raw = io.FileIO(fd, "w", closefd=False)
        # Nothing is held back, so nothing is left over that fails later.
        super().__init__(raw, errors="backslashreplace", write_through=True)

    def write(self, text: str) -> int:
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def make_unfailing() -> None:
    """For the process's own stderr; one that somebody else has put there stays."""
    if sys.stderr is not sys.__stderr__:
        return
    if sys.stderr is None:
        # It is closed. What is opened next must not be taken for it.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != _STDERR:
            os.dup2(nowhere, _STDERR)
    sys.stderr = UnfailingWriter(_STDERR)
