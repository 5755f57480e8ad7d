"""What the user types or pipes in, for rank 0.

Open MPI 5 does not tell rank 0 that its input has ended, so that `cat` would wait for ever, and
repeats input that is longer than a pipe. So rank 0 gets a pipe of our own, in the run directory.
"""

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

NAME = "stdin"
_CHUNK = 64 * 1024


def is_readable() -> bool:
    """False where there is no input, or where reading from the terminal would stop us."""
    try:
        fd = sys.stdin.fileno()
        return not os.isatty(fd) or os.tcgetpgrp(fd) == os.getpgrp()
    except (AttributeError, OSError, ValueError):
        return False


def serve(run_directory: Path) -> None:
    """Make the pipe and copy our input into it, on a thread that lives as long as we do."""
    path = run_directory / NAME
    os.mkfifo(path, 0o600)
    threading.Thread(target=_copy, args=(path,), daemon=True).start()


def _copy(path: Path) -> None:
    # Once we are in the background, reading from the terminal shall fail, and not stop the job.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN})
    # Rank 0 may go away at any time, or never come: then there is nobody to tell.
    with contextlib.suppress(OSError):
        pipe = os.open(path, os.O_WRONLY)
        try:
            if is_readable():
                while chunk := os.read(sys.stdin.fileno(), _CHUNK):
                    view = memoryview(chunk)
                    while view:
                        view = view[os.write(pipe, view) :]
        finally:
            os.close(pipe)
