"""A running job: starts mpirun, passes signals on, and ends whatever would be left behind.

A job of replicas is several launches of the MPI, one a plane; some may begin later than others. A
job that is started again is several, one after the other.

1. When `run` returns, no process of the job is alive on this host.
2. If this process is killed, the kernel tells mpirun to end, and that ends the ranks.
3. Signals wait in `sigtimedwait`, which is the main loop: there are no handlers and no races.
4. When `on_end` is told that one of several launches is over, none of its processes runs here.
5. Once a signal has asked the job to end, or we end it ourselves, no launch begins.
6. Where launches follow each other, no process of the last one runs here when the next begins; nor
   any rank of it, when one goes on that stood by. Their files are closed, unless the kernel keeps
   them from ending for half a second.
"""

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout import log
from resprout.errors import UserError
from resprout.launch import processes, stdin
from resprout.launch.command import Plan
from resprout.launch.early_end import StartWatch, expect_start
from resprout.launch.metrics import Sighting
from resprout.launch.owned_folder import owned_folder
from resprout.launch.protection import Watch
from resprout.report.launch_end import EarlyEnd, End

_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP}
_PASSED_ON = _ENDING | {signal.SIGUSR1, signal.SIGUSR2}
_WAITED_FOR = _PASSED_ON | {signal.SIGCHLD}

_LOOK_SECONDS = 0.25
# How long processes may take to end after the job has, and mpirun after its ranks.
_LEAVE_SECONDS = 2.0
_MPIRUN_LEAVES_SECONDS = 10.0
# How long others wait for one that runs no more, and has its files, and locks on them, until it has
# ended.
_ENDING_SECONDS = 0.5

# Three small files, each a block of its disk, as long as nobody has lost much.
_BYTES_OF_A_RANK = 12 << 10
_FROM_KERNEL = 0x80  # SI_KERNEL: the terminal sent it, to its whole foreground group


@dataclass(frozen=True)
class Start:
    """One launch of the MPI."""

    plan: Plan
    directory: Path
    stdout: int | None = None
    """A file descriptor that gets the stdout of all ranks; ours without it."""
    stderr: int | None = None
    has_lost: Callable[[], bool] = lambda: False
    """Whether it is known that the launch has lost somebody and therefore ends."""
    is_fed: bool = True
    """Rank 0 gets our input; if not, it finds stdin at its end."""
    cores: frozenset[int] | None = None
    """That it may use; those that we may without it."""
    judges_start: bool = True
    """A rank that ends before all are through MPI_Init ends the launch, by a line on stderr."""
    is_standing_by: Callable[[], bool] = lambda: False
    """It is started, and waits for its turn: it has no part in what is said to the job."""


@contextlib.contextmanager
def run_directory(parent: str | None = None, ranks: int = 0) -> Iterator[Path]:
    """A folder for the parts of the report, removed afterwards.

    Raises UserError if there is no room in it for what so many ranks leave.
    """
    where = parent or tempfile.gettempdir()
    with contextlib.ExitStack() as stack:
        try:
            # On a file system that many hosts share a lock may say nothing.
            folder = owned_folder(Path(where), clears=parent is None)
            directory = stack.enter_context(folder)
            trial = directory / "trial"
            trial.write_bytes(bytes(_BYTES_OF_A_RANK * ranks))
            trial.unlink()
        except OSError as error:
            raise UserError(
                f"--run-dir: {where} has no room for what {ranks} ranks report: {error.strerror}"
            ) from error
        yield directory


def run(
    plan: Plan,
    directory: Path,
    seconds_max: float | None = None,
    output: int | None = None,
    look: Callable[[], bool] = lambda: False,
) -> End:
    """Run the job to its end, or for so long. REQUIRES: the main thread.

    `output`: a file descriptor that gets stdout and stderr of all; ours without it. `look` is
    called several times a second and says whether the job is to be ended now.
    """
    start = Start(plan, directory, output, output)
    return _Job([start], seconds_max, look=lambda: [0] if look() else []).run()[0]


def run_all(
    starts: Sequence[Start],
    on_start: Callable[[], None],
    on_end: Callable[[int, End], bool],
    look: Callable[[], Sequence[int]] = tuple,
    more: Callable[[], Sequence[Start]] | None = None,
    on_signal: Callable[[], None] = lambda: None,
) -> list[End]:
    """Run several launches side by side, all to their ends. REQUIRES: the main thread.

    `on_start` is called when all are started: until then there may be no threads but such as only
    copy bytes. `on_end(i, end)` when launch i is over; if it says so, the others are ended. `look`
    is called several times a second and says which launches are to be ended now. `more`, called
    after it as long as anything runs, names further ones that are to begin; when they are started,
    `on_start` is called again. `on_signal` when a signal asks the job to end, before it is passed
    on.
    """
    return _Job(starts, None, on_start, on_end, look, more, on_signal).run()


@dataclass(frozen=True)
class Succession:
    """Launches that follow each other: what decides about them."""

    follow: Callable[[], Start | None]
    """Called when none runs: the next one, if there is one."""
    has_news: Callable[[], bool]
    """Whether to look now, and not only in a moment; asked when a SIGCHLD has come."""
    pause: Callable[[], float] = lambda: 0.0
    """For how many seconds the next one must not begin yet."""
    start_ahead: Callable[[], Sequence[Start]] = tuple
    """Called several times a second: those that are to stand by from now on."""
    hand_over: Callable[[int], None] = lambda _index: None
    """Called when no rank is left of a launch that was to be ended, if one stands by."""


def run_in_turn(
    first: Start,
    succession: Succession,
    on_end: Callable[[int, End], bool],
    look: Callable[[], Sequence[int]],
) -> list[End]:
    """Run one launch after the other, until none follows. REQUIRES: the main thread.

    `on_end` and `look` are those of `run_all`.
    """
    return _Job([first], None, on_end=on_end, look=look, succession=succession).run()


class _NotBegun:
    """In place of an mpirun that the system could not start."""

    pid = 0
    returncode = 126

    def poll(self) -> int:
        return self.returncode

    def kill(self) -> None:
        pass

    def wait(self) -> None:
        pass


class _Launch:
    """An mpirun and its ranks."""

    def __init__(
        self,
        start: Start,
        mask: set[signal.Signals | int],
        shares_group: bool,
        may_fail: bool = False,
    ) -> None:
        self.start = start
        self.end = End(0, time.time_ns(), 0)
        self.is_over = False
        self.had_ranks = False
        self.without_ranks_since: float | None = None
        self.all_stopped_since: float | None = None
        self.lost_since: float | None = None
        self.aborted_since: float | None = None
        is_local = not start.plan.is_on_several_hosts
        self.watch = StartWatch(start.directory, processes.is_running if is_local else None)
        expect_start(start.directory)
        self.protection = Watch(start.directory)

        def prepare() -> None:
            processes.end_with_parent(signal.SIGTERM)
            if start.cores is not None:
                # They may have been taken away meanwhile: then it has those that we have.
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(0, start.cores)
            if not shares_group:
                os.setpgid(0, 0)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        sys.stdout.flush()
        sys.stderr.flush()
        self.mpirun: subprocess.Popen[bytes] | _NotBegun
        try:
            self.mpirun = subprocess.Popen(
                start.plan.arguments(),
                env=start.plan.environment(start.directory),
                stdin=subprocess.DEVNULL if start.plan.relays_stdin else None,
                stdout=start.stdout,
                stderr=start.stderr,
                preexec_fn=prepare,  # noqa: PLW1509 - our only other threads just copy bytes
            )
        except OSError:
            if not may_fail:
                raise
            self.mpirun = _NotBegun()

    def note_end(self) -> None:
        status = self.mpirun.returncode
        self.end.mpirun_status = status if status >= 0 else 128 - status
        self.end.ended_ns = time.time_ns()
        self.is_over = True


class _Job:
    def __init__(
        self,
        starts: Sequence[Start],
        seconds_max: float | None,
        on_start: Callable[[], None] = lambda: None,
        on_end: Callable[[int, End], bool] = lambda _index, _end: False,
        look: Callable[[], Sequence[int]] = tuple,
        more: Callable[[], Sequence[Start]] | None = None,
        on_signal: Callable[[], None] = lambda: None,
        succession: Succession | None = None,
    ) -> None:
        self._starts = starts
        self._on_start = on_start
        self._on_end = on_end
        self._on_look = look
        self._more = more if succession is None else succession.start_ahead
        self._on_signal = on_signal
        self._succession = succession
        self._input = stdin.Input(keeps=more is not None or succession is not None)
        self._deadline = None if seconds_max is None else time.monotonic() + seconds_max
        # A job that owns the terminal's input has to be in the terminal's group.
        self._shares_group = os.isatty(0)
        self._segments: set[str] = set()
        self._signals: list[signal.Signals] = []
        self._is_ending = False
        self._launches: list[_Launch] = []

    def run(self) -> list[End]:
        processes.become_subreaper()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or its children's statuses get lost
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
        try:
            relayed = [s for s in self._starts if s.plan.relays_stdin]
            self._input.serve([s.directory for s in relayed if s.is_fed])
            stdin.leave_empty([s.directory for s in relayed if not s.is_fed])
            for start in self._starts:
                self._launches.append(_Launch(start, before, self._shares_group))
            self._on_start()
            while self._note_ends() or self._follow(before):
                self._wait(before)
            self._clean_up()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return [launch.end for launch in self._launches]

    def _note_ends(self) -> bool:
        """Whether any launch still runs."""
        for index, launch in enumerate(self._launches):
            if launch.is_over or launch.mpirun.poll() is None:
                continue
            if len(self._launches) > 1 or self._succession is not None:
                self._sweep(launch)
            launch.note_end()
            launch.end.signals = self._signals
            is_judged = launch.start.judges_start and not self._is_ending
            early_end = launch.watch.at_end() if is_judged else None
            if launch.end.early_end is None and early_end is not None:
                self._note_early_end(launch, early_end)
            if self._on_end(index, launch.end):
                self._kill()
        return not all(launch.is_over for launch in self._launches)

    def _wait(self, mask: set[signal.Signals | int]) -> None:
        """Until a signal comes, or it is time to look at the job again."""
        info = signal.sigtimedwait(_WAITED_FOR, _LOOK_SECONDS)
        if info is not None and info.si_signo in _PASSED_ON:
            self._pass_on(signal.Signals(info.si_signo), info.si_code == _FROM_KERNEL)
        elif info is None or (self._succession is not None and self._succession.has_news()):
            self._look()
            self._begin_more(mask)

    def _follow(self, mask: set[signal.Signals | int]) -> bool:
        """Whether another launch has begun."""
        if self._succession is None:
            return False
        while True:
            pause = 0.0 if self._is_ending else self._succession.pause()
            info = signal.sigtimedwait(_PASSED_ON, pause)
            if info is not None:
                self._pass_on(signal.Signals(info.si_signo), info.si_code == _FROM_KERNEL)
            elif pause <= 0:
                break
        start = None if self._is_ending else self._succession.follow()
        if start is None:
            return False
        self._begin_late(start, mask)
        return True

    def _begin_more(self, mask: set[signal.Signals | int]) -> None:
        if self._more is None or self._is_ending or all(one.is_over for one in self._launches):
            return
        starts = self._more()
        for start in starts:
            self._begin_late(start, mask)
        if starts:
            self._on_start()

    def _begin_late(self, start: Start, mask: set[signal.Signals | int]) -> None:
        if start.plan.relays_stdin and start.is_fed:
            self._input.serve_later(start.directory)
        elif start.plan.relays_stdin:
            stdin.leave_empty([start.directory])
        # Others can go on without it, or its end is that of the job.
        self._launches.append(_Launch(start, mask, self._shares_group, may_fail=True))

    def _pass_on(self, what: signal.Signals, is_from_terminal: bool) -> None:
        if what in _ENDING:
            self._is_ending = True
            self._on_signal()
            self._signals.append(what)
            if len(self._signals) > 1:
                self._kill()
                return
        if what is signal.SIGQUIT:
            # Launchers do not pass this one on, and ranks have process groups of their own.
            for process in self._ranks():
                processes.send(process.pid, what)
        elif not (is_from_terminal and self._shares_group):
            for launch in self._launches:
                if not launch.is_over and (what in _ENDING or not launch.start.is_standing_by()):
                    processes.send(launch.mpirun.pid, what)

    def _ranks(self) -> list[processes.Process]:
        """All processes of the job on this host but mpirun."""
        mpiruns = {launch.mpirun.pid for launch in self._launches}
        return [p for p in processes.descendants() if p.is_alive and p.pid not in mpiruns]

    def _ranks_of(
        self, launch: _Launch, ranks: list[processes.Process] | None = None
    ) -> list[processes.Process]:
        """`ranks`: those of all launches, if that is known already."""
        ranks = self._ranks() if ranks is None else ranks
        is_alone = sum(not one.is_over for one in self._launches) == 1
        if len(self._launches) == 1 or (self._succession is not None and is_alone):
            return ranks
        own = [p for p in ranks if processes.has_run_directory(p.pid, launch.start.directory)]
        # Who ends has no environment any more.
        if ending := {p.pid: p for p in ranks if not p.runs and p not in own}:
            own += [ending[pid] for pid in _started_by(launch) if pid in ending]
        return own

    def _look(self) -> None:
        """End what nobody else can end any more."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            for launch in self._launches:
                launch.end.timed_out = True
            self._kill()
            return
        if self._succession is not None:  # before anything that takes time
            self._kill_launches([self._launches[index] for index in self._on_look()])
        self._show_how_it_stands()
        ranks = self._ranks()
        for launch in self._launches:
            if not launch.is_over:
                self._look_at(launch, ranks)
                self._look_for_unprotected(launch)
        if self._succession is None:
            self._kill_launches([self._launches[index] for index in self._on_look()])

    def _show_how_it_stands(self) -> None:
        watcher = self._starts[0].plan.watcher
        if watcher is not None and not self._is_ending:
            watcher([Sighting(one.start.directory, one.start.plan.replica, one.is_over)
                     for one in self._launches if not one.start.is_standing_by()])  # fmt: skip

    def _look_at(self, launch: _Launch, ranks: list[processes.Process]) -> None:
        if launch.start.has_lost():
            # An mpirun that speaks to a host that is cut off waits for its answer for minutes.
            launch.lost_since = launch.lost_since or time.monotonic()
            if time.monotonic() - launch.lost_since > _MPIRUN_LEAVES_SECONDS:
                self._end_mpirun(launch)
                return
        if (launch.start.directory / "abort.json").exists():
            # Who aborts ends mpirun and all ranks; but another who does so too may end it first.
            launch.aborted_since = launch.aborted_since or time.monotonic()
            if time.monotonic() - launch.aborted_since > _LEAVE_SECONDS:
                self._kill_launches([launch])
                return
        if launch.start.judges_start and (early_end := launch.watch()):
            self._note_early_end(launch, early_end)
            processes.send(launch.mpirun.pid, signal.SIGTERM)
            self._end_mpirun(launch)
            return
        alive = self._ranks_of(launch, ranks)
        if alive:
            launch.had_ranks = True
            launch.without_ranks_since = None
            # A stopped rank is ended by its peers; but here all peers have come to their end.
            has_ended = any(launch.start.directory.glob("rank-*.json"))
            if not (has_ended and all(process.state == "T" for process in alive)):
                launch.all_stopped_since = None
                return
            # Somebody may only look at them.
            launch.all_stopped_since = launch.all_stopped_since or time.monotonic()
            if time.monotonic() - launch.all_stopped_since < _LEAVE_SECONDS:
                return
            launch.end.ended_hung += len(alive)
            for process in alive:
                processes.send(process.pid, signal.SIGKILL)
        elif launch.had_ranks:
            now = time.monotonic()
            launch.without_ranks_since = launch.without_ranks_since or now
            if now - launch.without_ranks_since > _MPIRUN_LEAVES_SECONDS:
                self._end_mpirun(launch)

    @staticmethod
    def _note_early_end(launch: _Launch, early_end: EarlyEnd) -> None:
        launch.end.early_end = early_end
        log.error(str(early_end))

    @staticmethod
    def _look_for_unprotected(launch: _Launch) -> None:
        plan = launch.start.plan
        if plan.shim is None or plan.unprotected is not None:
            return
        found = launch.protection.look()
        for program in set(found.values()):
            ranks = sorted(rank for rank, one in found.items() if one == program)
            named = f"rank{'' if len(ranks) == 1 else 's'} {', '.join(map(str, ranks))}"
            runs = "runs" if len(ranks) == 1 else "run"
            log.warn(program.describe(f"{named} {runs}"))
        launch.end.unprotected |= found.keys()

    def _kill(self) -> None:
        """Ranks first, so that mpirun can clean up after them; then mpirun, if it does not end."""
        self._is_ending = True
        self._kill_all(self._ranks())
        for launch in self._launches:
            if not launch.is_over and launch.mpirun.poll() is None:
                self._end_mpirun(launch)

    def _kill_launches(self, launches: Sequence[_Launch]) -> None:
        """All their ranks first: none is to go on because another one has ended."""
        for launch in launches:
            if not self._has_handed_over(launch):
                self._kill_all(self._ranks_of(launch))
        for launch in launches:
            if not launch.is_over and launch.mpirun.poll() is None:
                if launch.start.is_standing_by():  # it has to end those on other hosts
                    processes.send(launch.mpirun.pid, signal.SIGTERM)
                self._end_mpirun(launch)

    def _has_handed_over(self, launch: _Launch) -> bool:
        """Whether one that stood by went on, who needs no end of mpirun, only that of the ranks."""
        if self._succession is None or self._is_ending:
            return False
        if not any(not one.is_over and one.start.is_standing_by() for one in self._launches):
            return False
        if not self._end_ranks(launch, _LEAVE_SECONDS):
            return False
        self._succession.hand_over(self._launches.index(launch))
        return True

    def _end_ranks(self, launch: _Launch, seconds: float) -> bool:
        """Whether none runs any more; in so much time."""
        began = time.monotonic()
        while ranks := self._ranks_of(launch):
            waited = time.monotonic() - began
            if waited > _ENDING_SECONDS and not any(rank.runs for rank in ranks):
                return True
            if waited > seconds:
                return False
            self._kill_all(ranks)
            self._reap()
            time.sleep(0.001 if waited < _ENDING_SECONDS else 0.01)
        return True

    def _kill_all(self, ranks: Sequence[processes.Process]) -> None:
        for process in ranks:
            self._segments |= processes.segments_of(process.pid)
            processes.send(process.pid, signal.SIGKILL)

    @staticmethod
    def _end_mpirun(launch: _Launch) -> None:
        if not processes.wait_for(lambda: launch.mpirun.poll() is not None, _LEAVE_SECONDS):
            launch.mpirun.kill()
            launch.mpirun.wait()

    def _sweep(self, launch: _Launch) -> None:
        """Its mpirun is gone: its ranks have no future."""
        self._end_ranks(launch, math.inf)
        self._reap()

    def _clean_up(self) -> None:
        processes.wait_for(self._has_left, _LEAVE_SECONDS)
        while not self._has_left():
            self._kill_all(self._ranks())
            time.sleep(0.01)
        started = [pid for launch in self._launches for pid in _started_by(launch)]
        left = [path for pid in started for path in processes.left_by(pid)]
        for path in [*map(Path, self._segments), *left]:
            path.unlink(missing_ok=True)

    def _reap(self) -> None:
        processes.reap(except_for={launch.mpirun.pid for launch in self._launches})

    def _has_left(self) -> bool:
        self._reap()
        return not self._ranks()


def _started_by(launch: _Launch) -> Iterator[int]:
    """The ids that its ranks have had, as they say themselves (command.py)."""
    for path in launch.start.directory.glob("started-*"):
        with contextlib.suppress(OSError, ValueError):
            yield int(path.read_text())
