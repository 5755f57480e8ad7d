"""A running job: starts mpirun, passes signals on, and ends whatever would be left behind.

1. When `run` returns, no process of the job is alive on this host.
2. If this process is killed, the kernel tells mpirun to end, and that ends the ranks.
3. Signals wait in `sigtimedwait`, which is the main loop: there are no handlers and no races.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from resprout.errors import UserError
from resprout.launch import processes, stdin
from resprout.launch.command import Plan

_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP}
_PASSED_ON = _ENDING | {signal.SIGUSR1, signal.SIGUSR2}
_WAITED_FOR = _PASSED_ON | {signal.SIGCHLD}

_LOOK_SECONDS = 0.25
# How long processes may take to end after the job has, and mpirun after its ranks.
_LEAVE_SECONDS = 2.0
_MPIRUN_LEAVES_SECONDS = 10.0

# Three small files, each a block of its disk, as long as nobody has lost much.
_BYTES_OF_A_RANK = 12 << 10
_FROM_KERNEL = 0x80  # SI_KERNEL: the terminal sent it, to its whole foreground group


@dataclass
class End:
    """How a job ended."""

    mpirun_status: int
    """As a shell has it: 128 + the signal, if one ended it."""
    started_ns: int
    ended_ns: int
    signals: list[signal.Signals] = field(default_factory=list)
    """Those that asked the job to end, in order."""
    ended_hung: int = 0
    """Stopped processes that we ended because nobody else was left to do it."""
    timed_out: bool = False


@contextlib.contextmanager
def run_directory(parent: str | None = None, ranks: int = 0) -> Iterator[Path]:
    """A folder for the parts of the report, removed afterwards.

    Raises UserError if there is no room in it for what so many ranks leave.
    """
    where = parent or tempfile.gettempdir()
    with contextlib.ExitStack() as stack:
        try:
            folder = tempfile.TemporaryDirectory(
                prefix="resprout-", dir=where, ignore_cleanup_errors=True
            )
            directory = Path(stack.enter_context(folder))
            trial = directory / "trial"
            trial.write_bytes(bytes(_BYTES_OF_A_RANK * ranks))
            trial.unlink()
        except OSError as error:
            raise UserError(
                f"--run-dir: {where} has no room for what {ranks} ranks report: {error.strerror}"
            ) from error
        yield directory


def run(
    plan: Plan, directory: Path, seconds_max: float | None = None, output: int | None = None
) -> End:
    """Run the job to its end, or for so long. REQUIRES: the main thread.

    `output`: a file descriptor that gets stdout and stderr of all; ours without it.
    """
    return _Job(plan, directory, seconds_max, output).run()


class _Job:
    def __init__(
        self, plan: Plan, directory: Path, seconds_max: float | None, output: int | None
    ) -> None:
        self._plan = plan
        self._output = output
        self._directory = directory
        self._deadline = None if seconds_max is None else time.monotonic() + seconds_max
        # A job that owns the terminal's input has to be in the terminal's group.
        self._shares_group = os.isatty(0)
        self._segments: set[str] = set()
        self._had_ranks = False
        self._without_ranks_since: float | None = None
        self._end = End(0, time.time_ns(), 0)

    def run(self) -> End:
        processes.become_subreaper()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or its children's statuses get lost
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
        try:
            if self._plan.relays_stdin:
                stdin.serve(self._directory)
            self._mpirun = self._start(before)
            while self._mpirun.poll() is None:
                self._wait()
            self._clean_up()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        status = self._mpirun.returncode
        self._end.mpirun_status = status if status >= 0 else 128 - status
        self._end.ended_ns = time.time_ns()
        return self._end

    def _start(self, mask: set[signal.Signals | int]) -> subprocess.Popen[bytes]:
        def prepare() -> None:
            processes.end_with_parent(signal.SIGTERM)
            if not self._shares_group:
                os.setpgid(0, 0)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.Popen(
            self._plan.arguments(),
            env=self._plan.environment(self._directory),
            stdin=subprocess.DEVNULL if self._plan.relays_stdin else None,
            stdout=self._output,
            stderr=self._output,
            preexec_fn=prepare,  # noqa: PLW1509 - our only other thread just copies bytes
        )

    def _wait(self) -> None:
        """Until a signal comes, or it is time to look at the job again."""
        info = signal.sigtimedwait(_WAITED_FOR, _LOOK_SECONDS)
        if info is not None and info.si_signo in _PASSED_ON:
            self._pass_on(signal.Signals(info.si_signo), info.si_code == _FROM_KERNEL)
        elif info is None:
            self._look()

    def _pass_on(self, what: signal.Signals, is_from_terminal: bool) -> None:
        if what in _ENDING:
            self._end.signals.append(what)
            if len(self._end.signals) > 1:
                self._kill()
                return
        if what is signal.SIGQUIT:
            # Launchers do not pass this one on, and ranks have process groups of their own.
            for pid in self._ranks():
                processes.send(pid, what)
        elif not (is_from_terminal and self._shares_group):
            processes.send(self._mpirun.pid, what)

    def _ranks(self) -> list[int]:
        """All processes of the job on this host but mpirun."""
        alive = (p for p in processes.descendants() if p.is_alive)
        return [process.pid for process in alive if process.pid != self._mpirun.pid]

    def _look(self) -> None:
        """End what nobody else can end any more."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            self._end.timed_out = True
            self._kill()
            return
        alive = [p for p in processes.descendants() if p.is_alive and p.pid != self._mpirun.pid]
        if alive:
            self._had_ranks = True
            self._without_ranks_since = None
            # A stopped rank is ended by its peers; but here all peers have come to their end.
            if all(p.state == "T" for p in alive) and any(self._directory.glob("rank-*.json")):
                self._end.ended_hung += len(alive)
                for process in alive:
                    processes.send(process.pid, signal.SIGKILL)
        elif self._had_ranks:
            now = time.monotonic()
            self._without_ranks_since = self._without_ranks_since or now
            if now - self._without_ranks_since > _MPIRUN_LEAVES_SECONDS:
                self._kill()

    def _kill(self) -> None:
        """Ranks first, so that mpirun can clean up after them; then mpirun, if it does not end."""
        for pid in self._ranks():
            self._segments |= processes.segments_of(pid)
            processes.send(pid, signal.SIGKILL)
        if not processes.wait_for(lambda: self._mpirun.poll() is not None, _LEAVE_SECONDS):
            self._mpirun.kill()
            self._mpirun.wait()

    def _clean_up(self) -> None:
        processes.wait_for(self._has_left, _LEAVE_SECONDS)
        while not self._has_left():
            for pid in self._ranks():
                self._segments |= processes.segments_of(pid)
                processes.send(pid, signal.SIGKILL)
            time.sleep(0.01)
        for name in self._segments:
            Path(name).unlink(missing_ok=True)

    def _has_left(self) -> bool:
        processes.reap(except_for=self._mpirun.pid)
        return not self._ranks()
