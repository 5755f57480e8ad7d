"""Runs jobs in which bits are flipped, and asks their reports what became of that."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.injection.classify import Found, classify
from resprout.experiments.bench.injection.plan import EXCHANGE, KERNELS, STEPS, Run, arguments_of
from resprout.experiments.bench.program import compile_program
from resprout.experiments.bench.replicated import Job, run_replicated
from resprout.experiments.bench.replication.kernels import compile_kernels, find_sources
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import find_mpi
from resprout.launch.shim import check_fits, find_shim

_OWN = {name: Path(__file__).with_name(f"{name}.c") for name in (EXCHANGE, STEPS)}
_DIGEST = re.compile(r"\bdigest=([0-9a-f]{16})\b")
_SECONDS_MAX = 120.0


@dataclass(frozen=True)
class Outcome:
    run: Run
    found: Found


class Bench:
    """The programs, compiled, and their results. A context: its folder goes with it."""

    def __init__(self, mpi: str | None, kernels: Path | None, ranks: int) -> None:
        self._prefix = mpi
        self._ranks = ranks
        self._sources = find_sources(kernels)
        self.mpi = find_mpi(mpi, os.environ)
        check_fits(find_shim(), self.mpi)
        self._folder = tempfile.TemporaryDirectory(prefix="resprout-bench-")
        self._digests: dict[str, str] = {}

    def __enter__(self) -> "Bench":
        folder = Path(self._folder.name)
        for name, source in _OWN.items():
            compile_program(self.mpi, source, folder / name)
        compile_kernels(self.mpi, self._sources, list(KERNELS), folder)
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def run(self, run: Run) -> Outcome:
        """One job. A UserError if it leaves no report."""
        right = self._right_digest(run.program)
        replicated = Job(
            self._ranks, run.degree, run.method, self._words(run.program), run.faults, "report"
        )
        ended = run_replicated(replicated, self._prefix)
        for name in ("corruptions", "verification"):
            if ended.report.get(name) is None:
                raise UserError(f"{replicated}: its report has no {name}; it said: {ended.err}")
        is_right = ended.status == 0 and _DIGEST.findall(ended.out) == [right]
        return Outcome(run, classify(ended.report, is_right))

    def _words(self, program: str) -> list[str]:
        return [str(Path(self._folder.name) / program), *arguments_of(program)]

    def _right_digest(self, program: str) -> str:
        """What it says under the MPI's own launcher, without Resprout."""
        if program not in self._digests:
            plan = Plan(self.mpi, self._ranks, self._words(program), None)
            with job.run_directory() as directory, tempfile.TemporaryFile() as output:
                end = job.run(plan, directory, seconds_max=_SECONDS_MAX, output=output.fileno())
                output.seek(0)
                said = output.read().decode(errors="replace")
            if end.signals:
                raise KeyboardInterrupt
            digests = _DIGEST.findall(said)
            if len(digests) != 1:
                raise UserError(f"{program}: no result without faults; it said: {said[-2000:]}")
            self._digests[program] = digests[0]
        return self._digests[program]


def measure(bench: Bench, runs: Sequence[Run], step: Callable[[], None]) -> Iterator[Outcome]:
    for run in runs:
        yield bench.run(run)
        step()
