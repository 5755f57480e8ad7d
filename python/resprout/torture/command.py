"""What `resprout torture` does."""

import json
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from resprout.errors import UserError
from resprout.progress import Bar, progress_bar
from resprout.torture.book import Book
from resprout.torture.points import Point, all_points, choose, choose_pairs
from resprout.torture.trial import Ended, Job, Outcome, Trial, judge

# Without --timeout: a loss may cost the time of the failure detector, and more than one.
_TIMEOUT_SECONDS_MIN = 20.0
_TIMEOUT_TIMES = 10.0
# Of a job that hangs it is said who waits for whom, if there is the time for it.
_CALL_TIMEOUT_SHARE = 0.4
_SHOWN_MAX = 20


@dataclass(frozen=True)
class Torture:
    """What the user asks for, unchecked."""

    job: Job
    points: int
    """At most so many jobs with one fault."""
    pairs: int
    kind: str
    seed: int
    timeout: float | None
    check: str | None
    state: Path | None
    jobs: int


def torture(asked: Torture, as_json: bool) -> int:
    """The exit status: 1 if something hung, went wrong, or killed others."""
    if asked.kind not in ("kill", "stop", "exit"):
        raise UserError(f"--kind: {asked.kind!r} is not valid; give kill, stop or exit")
    signal.signal(signal.SIGTERM, _end)
    plain = _run_plain(asked)
    seconds = asked.timeout or max(_TIMEOUT_SECONDS_MIN, _TIMEOUT_TIMES * plain.seconds)
    points = all_points(_calls_of(plain))
    chosen = choose(points, asked.points, asked.seed)
    if not as_json:
        places = f"{len(chosen)} of {len(points)} places where a rank can die"
        print(f"{places}, {asked.pairs} pairs of them; each job may take {seconds:.0f} s")
    what = [*asked.job.program, "-n", str(asked.job.ranks), *asked.job.options, asked.kind]
    bench = _Bench(asked, plain, seconds, Book(asked.state, [*what, str(asked.check)]))
    trials = bench.run([(point.fault(asked.kind),) for point in chosen], "places")
    bad = {trial.faults[0] for trial in trials if trial.outcome.is_failure}
    trials += bench.run(_pairs(asked, points, bad), "pairs")
    _show(trials, as_json)
    return 1 if any(trial.outcome.is_failure for trial in trials) else 0


def _end(number: int, _frame: object) -> None:
    """Jobs are ended on the way out."""
    sys.exit(128 + number)


def _pairs(asked: Torture, points: Sequence[Point], bad: set[str]) -> list[tuple[str, ...]]:
    """Without those that fail alone: what fails is the smallest that does."""
    pairs = choose_pairs(points, asked.pairs, asked.seed) if asked.pairs else []
    faults = [tuple(point.fault(asked.kind) for point in pair) for pair in pairs]
    return [pair for pair in faults if not bad.intersection(pair)]


def _run_plain(asked: Torture) -> Ended:
    plain = asked.job.run((), asked.timeout or 3600.0)
    if plain.status is None:
        raise UserError(f"without a fault the job takes longer than --timeout {asked.timeout:g}")
    if not plain.report:
        raise UserError(f"without a fault the job ends with status {plain.status}:\n{plain.err}")
    if asked.check is not None and judge((), plain, plain, asked.check).outcome is Outcome.WRONG:
        raise UserError("--check: the command says that the output without a fault is wrong")
    return plain


def _calls_of(plain: Ended) -> dict[int, dict[str, int]]:
    found = {int(rank): calls for rank, calls in plain.report["calls_of_ranks"].items()}
    if not found:
        raise UserError(
            "no rank of the program calls MPI with Resprout (docs/how-to/run.md, programs)"
        )
    return found


class _Bench:
    def __init__(self, asked: Torture, plain: Ended, seconds: float, book: Book) -> None:
        self._asked = asked
        self._plain = plain
        self._seconds = seconds
        self._book = book
        timeout = _CALL_TIMEOUT_SHARE * seconds
        self._job = asked.job
        if timeout >= 2 and not {"--call-timeout", "--replicas"} & {*asked.job.options}:
            options = (*asked.job.options, "--call-timeout", f"{timeout:.0f}")
            self._job = replace(asked.job, options=options)

    def run(self, all_faults: Sequence[tuple[str, ...]], name: str) -> list[Trial]:
        found = {faults: self._book.find(faults) for faults in all_faults}
        left = [faults for faults, trial in found.items() if trial is None]
        done = len(all_faults) - len(left)
        with progress_bar(work=len(all_faults), work_done=done, things=len(all_faults),
                          things_done=done, name=name, quiet_seconds=2.0) as bar:  # fmt: skip
            found |= self._try(left, bar)
        return [trial for trial in found.values() if trial is not None]

    def _try(self, left: Iterable[tuple[str, ...]], bar: Bar) -> dict[tuple[str, ...], Trial]:
        trials = {}
        with ThreadPoolExecutor(self._asked.jobs) as pool:
            futures = [pool.submit(self._try_one, faults) for faults in left]
            try:
                for future in as_completed(futures):
                    trial = future.result()
                    self._book.add(trial)
                    trials[trial.faults] = trial
                    bar.advance(1, 1)
            finally:
                self._asked.job.is_over.set()
                pool.shutdown(wait=True, cancel_futures=True)
                self._asked.job.is_over.clear()
        return trials

    def _try_one(self, faults: tuple[str, ...]) -> Trial:
        ended = self._job.run(faults, self._seconds)
        return judge(faults, ended, self._plain, self._asked.check)


def _show(trials: Sequence[Trial], as_json: bool) -> None:
    if as_json:
        print(json.dumps([trial.as_json() for trial in trials]))
        return
    counts = Counter(trial.outcome for trial in trials)
    for outcome in Outcome:
        if counts[outcome]:
            print(f"{counts[outcome]:7}  {outcome.value}")
    for outcome in reversed(Outcome):
        _show_all([t for t in trials if t.outcome is outcome], outcome)


def _show_all(trials: Sequence[Trial], outcome: Outcome) -> None:
    """The lines that show it, with what the jobs said."""
    if outcome in (Outcome.SAME, Outcome.RIGHT, Outcome.NOT_REACHED):
        return
    for trial in trials[:_SHOWN_MAX]:
        status = "" if trial.status is None else f" (status {trial.status})"
        faults = " ".join(f"--inject {fault}" for fault in trial.faults)
        print(f"{outcome.value}{status}: {faults}")
        if outcome.is_failure:
            for line in trial.words.splitlines():
                print(f"    {line}")
    if (more := len(trials) - _SHOWN_MAX) > 0:
        print(f"{outcome.value}: {more} more; --json has all", file=sys.stderr)
