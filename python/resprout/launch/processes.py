"""Processes by their ids: who descends from us, and how they end.

The launcher is a subreaper: processes whose parent ends become its own children, so that its
descendants are all processes of the job on this host, mpirun or not.
"""

import contextlib
import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# What MPI libraries and Resprout leave in shared memory if nobody is alive to clean up.
_SEGMENT = re.compile(
    r"(/dev/shm/[^\s/]*(?:sm_segment|vader_segment|mpich|Intel_MPI|resprout)[^\s/]*)$"
)

_PROC = "/proc"
_EXITING = 0x4  # PF_EXITING of the kernel: this thread runs no more of its program

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    state: str
    """As in /proc: R, S, D, T (stopped), Z (ended, not yet waited for)."""
    runs: bool
    """Some thread of it may still run its program. Else it ends by itself, maybe after seconds: the
    kernel waits for locks that processes of others have, for which there is no core."""

    @property
    def is_alive(self) -> bool:
        return self.state not in "ZX"


def become_subreaper() -> None:
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent(how: signal.Signals) -> None:
    """Have the kernel send this process `how` when its parent ends, however that comes."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(how), 0, 0, 0)


def descendants() -> list[Process]:
    """The processes that descend from this one."""
    everybody = [process for process in map(_look_at, _pids()) if process is not None]
    family = {os.getpid()}
    found: list[Process] = []
    while True:
        more = [p for p in everybody if p.parent in family and p.pid not in family]
        if not more:
            return found
        found += more
        family.update(process.pid for process in more)


def _pids() -> list[int]:
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]


def _read(path: str) -> bytes:
    """A file of /proc, by as few calls as there can be: the launcher shares cores with the job."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(file, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)


def _look_at(pid: int) -> Process | None:
    first = _look_at_thread(f"{_PROC}/{pid}")
    if first is None:
        return None
    state, parent, flags, threads = first
    if not flags & _EXITING or (state in "ZX" and threads <= 1):
        return Process(pid, parent, state, runs=state not in "ZX")
    # The first thread may have ended while others run the program.
    left = [thread for thread in _threads_of(pid) if thread[0] not in "ZX"]
    runs = any(not flags & _EXITING for _, _, flags, _ in left)
    return Process(pid, parent, left[0][0] if left else state, runs)


def _threads_of(pid: int) -> Iterator[tuple[str, int, int, int]]:
    with contextlib.suppress(OSError):
        for folder in Path(f"{_PROC}/{pid}/task").iterdir():
            if thread := _look_at_thread(str(folder)):
                yield thread


def _look_at_thread(folder: str) -> tuple[str, int, int, int] | None:
    """Its state, its parent, its flags, and how many threads its process has."""
    try:
        stat = _read(f"{folder}/stat")
    except OSError:
        return None
    # The name, in parentheses, may itself have blanks and parentheses.
    fields = stat[stat.rindex(b")") + 2 :].split(None, 18)
    return fields[0].decode(), int(fields[1]), int(fields[6]), int(fields[17])


def is_running(pid: int) -> bool:
    process = _look_at(pid)
    return process is not None and process.runs


def send(pid: int, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, what)


def has_run_directory(pid: int, directory: Path) -> bool:
    """Whether it is a rank of this run, or what a rank has started (process/environment.cpp)."""
    try:
        entries = _read(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False
    names = (b"RESPROUT_RUN_DIR=", b"PLANE_OF_RESPROUT_RUN=")
    return any(name + os.fsencode(directory) in entries for name in names)


def reap(except_for: Set[int]) -> None:
    """Take leave of children that have ended, but for those that somebody else waits for."""
    for process in descendants():
        if process.is_alive or process.parent != os.getpid():
            continue
        if process.pid not in except_for:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def segments_of(pid: int) -> set[str]:
    """Names of shared-memory files that a process has mapped."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return set()
    return {match[1] for line in maps.splitlines() if (match := _SEGMENT.search(line))}


def left_by(pid: int, folder: Path = Path("/dev/shm")) -> list[Path]:
    """What Open MPI was about to share as a window when the process of this id was killed, which is
    in its name. None if such a process lives."""
    if _look_at(pid) is not None:
        return []
    return sorted(folder.glob(f"osc_rdma.*.{pid}"))


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
