"""Runs jobs of real MPI processes and makes sure that nothing of them stays behind.

1. A job that does not end in time fails: what each of its processes was doing is printed, then each
   is ended by its id.
2. After every job: no process of it lives (all carry a mark in their environment), no file of it is
   in /dev/shm, and no folder of it is in the folder for temporary files.
3. A job answers for itself alone: what others leave in /dev/shm meanwhile is none of its business.
   Its files are those that its processes are seen to have mapped, and those named like them.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
PROGRAMS = BUILD / "tests" / "mpi" / "programs"
SHIM = BUILD / "lib" / "libresprout.so"
BIN = Path(sys.executable).parent
RESPROUT = BIN / "resprout"
MPIRUN = BIN / "mpirun"
# Far more than any job needs, also on a machine that is busy with other things.
WATCHDOG_SECONDS = 120.0
# How long the kernel may take to clear away what was killed.
SETTLE_SECONDS = 10.0
# How long a launcher may go on that has nothing left to launch.
ALONE_SECONDS = 20.0
# How often it is looked which shared files are a job's, until some are known.
LOOK_SECONDS = 0.1

_MARK = "JOB_UNDER_TEST"
_SHARED = Path("/dev/shm")
_MAPPED = re.compile(r" /dev/shm/([^/\s]+)")


@dataclass(frozen=True)
class Ended:
    """How a job ended, and what it said."""

    command: str
    status: int
    out: str
    err: str
    report: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """What it said of itself comes first: of a long text a reader may get the head only."""
        said = f"--- stderr\n{self.err}\n--- stdout\n{self.out}"
        return f"status {self.status} of\n{self.command}\n{said}"

    @property
    def lost(self) -> set[int]:
        """The ranks that the report calls lost."""
        return {loss["rank"] for loss in self.report["losses"]}

    def calls(self, name: str) -> int:
        """How often the surviving ranks called it, all together, as the report has it."""
        return int(self.report["operations"].get(name, {}).get("calls", 0))


class Job:
    """A job that runs; made by `started`."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], stdin: int) -> None:
        self.mark = uuid.uuid4().hex
        self.directory = Path(tempfile.mkdtemp(prefix="job-"))
        # Apart from TMPDIR, which must be empty in the end.
        self.temporary = self.directory / "t"
        self.temporary.mkdir()
        self.command = shlex.join([*(f"{k}={v}" for k, v in variables.items()), *command])
        self._shared: set[str] = set()
        self._alone_since: float | None = None
        self._out = (self.directory / "out").open("wb")
        self._err = (self.directory / "err").open("wb")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RESPROUT_")}
        environment |= {_MARK: self.mark, "TMPDIR": str(self.temporary)}
        # What was measured on the machine that tests is none of their business.
        environment |= {"RESPROUT_CALIBRATION": "none", **variables}
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=stdin,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    def processes(self) -> list[int]:
        """The ids of all processes of the job but the one that we started."""
        own = self.process.pid
        return [pid for pid in _marked(f"{_MARK}={self.mark}") if pid != own]

    def processes_by_rank(self) -> dict[int, int]:
        ranks = {pid: rank_of(pid) for pid in self.processes()}
        return {int(rank): pid for pid, rank in ranks.items() if rank is not None}

    def wait(self, seconds: float = WATCHDOG_SECONDS) -> Ended:
        """Its end; fails if that does not come in time, or if something of it stays behind."""
        status = self._wait_and_look(seconds)
        if status is None:
            seen = self.seen()
            self.end()
            pytest.fail(f"did not end in {seconds} s:\n{seen}", pytrace=False)
        ended = self.said(status)
        self._check_nothing_is_left(ended)
        return ended

    def _wait_and_look(self, seconds: float) -> int | None:
        """Its status, or None if it is not over in time."""
        deadline = time.monotonic() + seconds
        pause = LOOK_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            self.look_at_shared_memory()
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(min(left, pause))
            # One file tells how all of an MPI job are named; there may be several in one of ours.
            pause *= 2 if self._shared else 1
        return None

    def stands_still_alone(self) -> bool:
        """Whether the launcher goes on though none of its processes is left, for a while now: since
        this was first asked. Asked again and again."""
        now = time.monotonic()
        is_alone = self.process.poll() is None and not self.processes()
        self._alone_since = (self._alone_since or now) if is_alone else None
        return self._alone_since is not None and now - self._alone_since > ALONE_SECONDS

    def look_at_shared_memory(self) -> None:
        """Note which files there are the job's."""
        for pid in self.processes():
            self._shared |= mapped_files(pid)

    def said(self, status: int = -1) -> Ended:
        out = (self.directory / "out").read_text(errors="replace")
        err = (self.directory / "err").read_text(errors="replace")
        return Ended(self.command, status, out, err)

    def seen(self) -> str:
        """What it has said so far, and what its processes are doing."""
        states = self._describe_processes()
        return f"{self.said()}\n{states}"

    def end(self) -> None:
        """End every process of it by its id."""
        self.look_at_shared_memory()
        for pid in [*self.processes(), self.process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None or self.processes():
            self.end()
        self._clear_shared_memory()
        self._out.close()
        self._err.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _clear_shared_memory(self) -> None:
        """Who was ended has not cleared it away; what is left otherwise was said."""
        for path in (_SHARED / name for name in self.shared_left()):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _check_nothing_is_left(self, ended: Ended) -> None:
        if not becomes_true(lambda: not self.processes()):
            states = self._describe_processes()
            self.end()
            pytest.fail(f"processes are left behind: {ended}\n{states}", pytrace=False)
        if not becomes_true(lambda: not self.shared_left()):
            pytest.fail(f"shared memory is left behind: {self.shared_left()}\n{ended}")
        left = sorted(path.name for path in self.temporary.glob("resprout*"))
        assert not left, f"left in the folder for temporary files: {left}\n{ended}"

    def shared_left(self) -> set[str]:
        """Of one MPI job all segments are named alike, up to the rank that stands behind a dot.

        Not the semaphores of Open MPI's files: made and removed at once wherever one is opened, and
        left by who is killed in between (docs/reference/open-mpi.md).
        """
        known = {name for name in self._shared if not name.startswith("sem.")}
        families = {f"{name.rpartition('.')[0]}." for name in known if "." in name}
        return {
            path.name
            for path in _SHARED.glob("*")
            if path.name in known or path.name.startswith(tuple(families))
        }

    def _describe_processes(self) -> str:
        """What each of them is doing: what it says itself, the kernel, and the debugger."""
        lines = []
        for pid in self.processes():
            words = _read(pid, "stat").rpartition(")")[2].split()
            state = words[0] if words else "gone"
            rank = rank_of(pid)
            command = _read(pid, "cmdline").replace("\0", " ").strip()
            lines.append(f"--- {pid} rank {rank} state {state} in {_read(pid, 'wchan')}: {command}")
            if rank is None or state in "TZgone":
                continue
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR1)  # ranks answer on stderr
            lines.append(_backtrace(pid))
        time.sleep(0.5)
        lines.append(f"--- what the ranks say of themselves\n{self.said().err}")
        return "\n".join(lines)


@contextmanager
def started(
    command: Sequence[str | Path],
    variables: Mapping[str, str] | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[Job]:
    """A job that is ended, if need be, when the block is left."""
    job = Job([str(word) for word in command], variables or {}, stdin)
    try:
        yield job
    finally:
        job.close()


def run(
    command: Sequence[str | Path],
    variables: Mapping[str, str] | None = None,
    meanwhile: Callable[[Job], None] = lambda _: None,
) -> Ended:
    """A job from start to end; `meanwhile` is called as soon as it is started."""
    with started(command, variables) as job:
        meanwhile(job)
        return job.wait()


def resprout_run(
    ranks: int,
    program: Sequence[str | Path],
    options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    meanwhile: Callable[[Job], None] = lambda _: None,
    within: Sequence[str | Path] = (),
) -> Ended:
    """A job under `resprout run`, with its report; `within`: a command that runs the launcher."""
    with tempfile.TemporaryDirectory(prefix="report-") as directory:
        path = Path(directory) / "report.json"
        words = [RESPROUT, "run", "-n", str(ranks), "--report", path, *options, "--", *program]
        command = [*within, *words]
        ended = run(command, variables, meanwhile)
        report = json.loads(path.read_text()) if path.exists() and path.stat().st_size else {}
    return Ended(ended.command, ended.status, ended.out, ended.err, report)


def mpirun_run(
    ranks: int, program: Sequence[str | Path], variables: Mapping[str, str] | None = None
) -> Ended:
    """A job under the MPI's own launcher: the shim preloaded and all else set by hand.

    `variables` reach the ranks. The launcher itself may wait for ever when they exit at once
    (docs/reference/open-mpi.md): then it is started again.
    """
    ours = {"LD_PRELOAD": str(SHIM), **(variables or {})}
    words: list[str | Path] = ["env", *(f"{k}={v}" for k, v in by_hand().items())]
    words += [MPIRUN, "--with-ft", "ulfm", "--oversubscribe", "-n", str(ranks)]
    for name, value in ours.items():
        words += ["-x", f"{name}={value}"]
    for _ in range(2):
        with started([*words, *program]) as job:
            deadline = time.monotonic() + WATCHDOG_SECONDS
            while not job.stands_still_alone():
                job.look_at_shared_memory()
                if job.process.poll() is not None or time.monotonic() > deadline:
                    return job.wait()
                time.sleep(LOOK_SECONDS)
    return run([*words, *program])


def by_hand() -> dict[str, str]:
    """The variables that Open MPI needs if its launcher is called directly."""
    return {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_async_mpi_finalize": "1",
        "OMPI_MCA_mpi_preconnect_mpi": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_coll": "^han",
        "OMPI_MCA_btl_sm_free_list_max": "65536",
        "OMPI_MCA_btl": "^ofi,usnic",
    }


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def kill_together(pids: Iterable[int]) -> None:
    """With SIGKILL; the end of the first ones may be that of the job."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def rank_of(pid: int) -> str | None:
    """As its launcher has told it; nothing: it is no rank."""
    return variable(pid, "OMPI_COMM_WORLD_RANK") or variable(pid, "PMI_RANK")


def variable(pid: int, name: str) -> str | None:
    for entry in _read(pid, "environ").split("\0"):
        key, _, value = entry.partition("=")
        if key == name:
            return value
    return None


def command_of(pid: int) -> str:
    """Its words, with zero bytes in between."""
    return _read(pid, "cmdline")


def _marked(mark: str) -> list[int]:
    return [pid for pid in _pids() if mark in _read(pid, "environ")]


def mapped_files(pid: int) -> set[str]:
    """What a process has mapped of /dev/shm: names of files, or of folders with files."""
    return set(_MAPPED.findall(_read(pid, "maps")))


def becomes_true(condition: Callable[[], bool], seconds: float = SETTLE_SECONDS) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _backtrace(pid: int) -> str:
    if shutil.which("gdb") is None:
        return ""
    command = ["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all bt 12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return "(the debugger does not answer)"
    return "\n".join(line for line in done.stdout.splitlines() if line.startswith(("#", "Thread")))
