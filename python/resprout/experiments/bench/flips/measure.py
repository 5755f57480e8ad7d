"""Runs jobs in which a bit of a process is flipped."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.flips.outcome import HUNG, Counts, classify
from resprout.experiments.bench.flips.plan import KERNELS, Run
from resprout.experiments.bench.replicated import NONE, Job, NoEndError, run_replicated
from resprout.experiments.bench.replication.kernels import compile_kernels, find_sources
from resprout.launch.mpi import find_mpi
from resprout.launch.shim import check_fits, find_shim

_DIGEST = re.compile(r"\bdigest=([0-9a-f]{16})\b")
_SECONDS_MAX = 90.0
_STRAGGLER_SECONDS = "5"


@dataclass(frozen=True)
class Outcome:
    run: Run
    counts: Counts


class Bench:
    """The kernels, compiled, and their results. A context: its folder goes with it."""

    def __init__(self, mpi: str | None, kernels: Path | None, ranks: int) -> None:
        self._prefix = mpi
        self._ranks = ranks
        self._sources = find_sources(kernels)
        self.mpi = find_mpi(mpi, os.environ)
        check_fits(find_shim(), self.mpi)
        self._folder = tempfile.TemporaryDirectory(prefix="resprout-bench-")
        self._digests: dict[str, str] = {}

    def __enter__(self) -> "Bench":
        compile_kernels(self.mpi, self._sources, list(KERNELS), Path(self._folder.name))
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def calls(self) -> Mapping[str, Mapping[str, int]]:
        """Of each kernel, how often each rank makes which call; learns their results."""
        return {kernel: self._calls_of(kernel) for kernel in KERNELS}

    def run(self, run: Run) -> Outcome:
        """One job. REQUIRES: `calls` was called."""
        variables = {"RESPROUT_STRAGGLER_WAIT": _STRAGGLER_SECONDS}
        words = self._words(run.kernel)
        job = Job(self._ranks, run.degree, run.method, words, (run.fault,), None, variables)
        try:
            ended = run_replicated(job, self._prefix, _SECONDS_MAX)
        except NoEndError:
            return Outcome(run, HUNG)
        is_right = _DIGEST.findall(ended.out) == [self._digests[run.kernel]]
        return Outcome(run, classify(ended.status, ended.report, is_right))

    def _words(self, kernel: str) -> list[str]:
        return [str(Path(self._folder.name) / kernel), *KERNELS[kernel]]

    def _calls_of(self, kernel: str) -> dict[str, int]:
        ended = run_replicated(Job(self._ranks, 2, NONE, self._words(kernel)), self._prefix)
        digests = _DIGEST.findall(ended.out)
        if ended.status != 0 or len(digests) != 1:
            raise UserError(f"{kernel}: no result without faults; it said: {ended.err[-2000:]}")
        self._digests[kernel] = digests[0]
        counts = {
            call: tally["calls"] // self._ranks
            for call, tally in ended.report["operations"].items()
        }
        return {call: count for call, count in counts.items() if count > 0}


def measure(bench: Bench, runs: Sequence[Run], step: Callable[[], None]) -> Iterator[Outcome]:
    for run in runs:
        yield bench.run(run)
        step()
