"""What the user types or pipes in, for rank 0.

Open MPI 5 does not tell rank 0 that its input has ended, so that `cat` would wait for ever, and
repeats input that is longer than a pipe. So rank 0 gets a pipe of our own, in the run directory.
"""

import contextlib
import itertools
import os
import queue
import signal
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

NAME = "stdin"
NAME_OF_NONE = "no-stdin"
_CHUNK = 64 * 1024
_END = b""
# So far may one plane be ahead of another in its input.
_CHUNKS_MAX = 64
# So much is kept for those that may come later.
_KEPT_BYTES_MAX = 64 << 20


def is_readable() -> bool:
    """False where there is no input, or where reading from the terminal would stop us."""
    try:
        fd = sys.stdin.fileno()
        return not os.isatty(fd) or os.tcgetpgrp(fd) == os.getpgrp()
    except (AttributeError, OSError, ValueError):
        return False


class Input:
    """Ours, copied to rank 0 of each launch, on threads that live as long as we do."""

    def __init__(self, keeps: bool = False) -> None:
        """`keeps`: launches may come later, and want all of it."""
        self._keeps = keeps
        self._queues: list[queue.Queue[bytes]] = []
        self._changed = threading.Condition()
        # From the beginning on; nothing: it is not there any more.
        self._kept: list[bytes] | None = []
        self._kept_bytes = 0

    def serve(self, run_directories: Sequence[Path]) -> None:
        """Make a pipe in each, and copy into all. REQUIRES: called once."""
        if not run_directories:
            return
        for directory in run_directories:
            chunks: queue.Queue[bytes] = queue.Queue(_CHUNKS_MAX)
            self._queues.append(chunks)
            _serve(directory, iter(chunks.get, _END))
        threading.Thread(target=self._read, daemon=True).start()

    def serve_later(self, run_directory: Path) -> None:
        """The same for one that comes now: it gets all from the beginning, and holds nobody up. If
        that was too much to be kept, it finds the end."""
        with self._changed:
            is_there = self._kept is not None
        if is_there:
            _serve(run_directory, self._follow())
        else:
            leave_empty([run_directory])

    def _read(self) -> None:
        # Once we are in the background, reading from the terminal shall fail, and not stop the job.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN})
        chunk = b""
        with contextlib.suppress(OSError):
            while is_readable() and (chunk := os.read(sys.stdin.fileno(), _CHUNK)):
                self._give(chunk)
        self._give(_END)

    def _give(self, chunk: bytes) -> None:
        with self._changed:
            self._kept_bytes += len(chunk)
            if not self._keeps or self._kept_bytes > _KEPT_BYTES_MAX:
                self._kept = None
            elif self._kept is not None:
                self._kept.append(chunk)
            self._changed.notify_all()
        for each in self._queues:
            each.put(chunk)

    def _follow(self) -> Iterator[bytes]:
        for index in itertools.count():
            with self._changed:
                while self._kept is not None and len(self._kept) == index:
                    self._changed.wait()
                chunk = _END if self._kept is None else self._kept[index]
            if chunk == _END:
                return
            yield chunk


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


def _serve(run_directory: Path, chunks: Iterator[bytes]) -> None:
    os.mkfifo(run_directory / NAME, 0o600)
    arguments = (run_directory / NAME, chunks)
    threading.Thread(target=_write, args=arguments, daemon=True).start()


def _write(path: Path, chunks: Iterator[bytes]) -> None:
    # Rank 0 may go away at any time, or never come: then there is nobody to tell.
    with contextlib.suppress(OSError):
        pipe = os.open(path, os.O_WRONLY)
        try:
            for chunk in chunks:
                view = memoryview(chunk)
                while view:
                    view = view[os.write(pipe, view) :]
            return
        finally:
            os.close(pipe)
    for _ in chunks:
        pass


def close(run_directory: Path) -> None:
    """Its rank 0 is gone: nobody shall wait for it to read."""
    with contextlib.suppress(OSError):
        os.close(os.open(run_directory / NAME, os.O_RDONLY | os.O_NONBLOCK))
