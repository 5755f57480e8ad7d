"""What the user types or pipes in, for rank 0.

Open MPI 5 does not tell rank 0 that its input has ended, so that `cat` would wait for ever, and
repeats input that is longer than a pipe. So rank 0 gets a pipe of our own, in the run directory.
"""

import contextlib
import os
import queue
import signal
import stat
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

NAME = "stdin"
NAME_OF_NONE = "no-stdin"
_CHUNK = 64 * 1024
_END = b""
# So far may one plane be ahead of another in its input.
_CHUNKS_MAX = 64


def is_readable() -> bool:
    """False where there is no input, or where reading from the terminal would stop us."""
    try:
        fd = sys.stdin.fileno()
        return not os.isatty(fd) or os.tcgetpgrp(fd) == os.getpgrp()
    except (AttributeError, OSError, ValueError):
        return False


def serve(run_directories: Sequence[Path]) -> None:
    """Make a pipe in each and copy our input into all, on threads that live as long as we do."""
    if not run_directories:
        return
    chunks: list[queue.Queue[bytes]] = []
    for directory in run_directories:
        os.mkfifo(directory / NAME, 0o600)
        chunks.append(queue.Queue(_CHUNKS_MAX))
        arguments = (directory / NAME, chunks[-1])
        threading.Thread(target=_write, args=arguments, daemon=True).start()
    threading.Thread(target=_read, args=(chunks,), daemon=True).start()


def leave_empty(run_directories: Sequence[Path]) -> None:
    """Have their ranks 0 find the input at its end: a pipe of this host reaches no other one."""
    for directory in run_directories:
        (directory / NAME_OF_NONE).touch()


def is_given() -> bool:
    """Whether somebody pipes in something, or may."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _read(chunks: Sequence["queue.Queue[bytes]"]) -> None:
    # Once we are in the background, reading from the terminal shall fail, and not stop the job.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN})
    chunk = b""
    with contextlib.suppress(OSError):
        while is_readable() and (chunk := os.read(sys.stdin.fileno(), _CHUNK)):
            for each in chunks:
                each.put(chunk)
    for each in chunks:
        each.put(_END)


def _write(path: Path, chunks: "queue.Queue[bytes]") -> None:
    # Rank 0 may go away at any time, or never come: then there is nobody to tell.
    with contextlib.suppress(OSError):
        pipe = os.open(path, os.O_WRONLY)
        try:
            while chunk := chunks.get():
                view = memoryview(chunk)
                while view:
                    view = view[os.write(pipe, view) :]
            return
        finally:
            os.close(pipe)
    while chunks.get():
        pass


def close(run_directory: Path) -> None:
    """Its rank 0 is gone: nobody shall wait for it to read."""
    with contextlib.suppress(OSError):
        os.close(os.open(run_directory / NAME, os.O_RDONLY | os.O_NONBLOCK))
