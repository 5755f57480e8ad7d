"""What `resprout bench injection` does: checks, runs, shows, writes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.injection import show
from resprout.experiments.bench.injection.figures import Row, rows_of
from resprout.experiments.bench.injection.measure import Bench, measure
from resprout.experiments.bench.injection.plan import CASES, METHODS, ROUNDS, Request, runs
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.experiments.bench.replicated import DEGREES, choose
from resprout.machine import about_this_machine
from resprout.options import check_environment
from resprout.pictures import FORMATS
from resprout.progress import progress_bar

_RANKS = (2, 4, 8, 16)


def cases_of(degrees: str, methods: str | None) -> list[tuple[int, str]]:
    """Those of CASES that are asked for."""
    some = choose("--replicas", degrees, [str(degree) for degree in DEGREES])
    names = choose("--methods", methods, METHODS)
    return [(degree, name) for degree, name in CASES if str(degree) in some and name in names]


def bench_injection(
    request: Request, format: str, output: Path | None, mpi: str | None, kernels: Path | None
) -> int:
    check_environment(os.environ)
    _check(request)
    check_output(format, output)
    outcomes = []
    plan = runs(request)
    count = len(plan)
    with (
        Bench(mpi, kernels, request.ranks) as bench,
        progress_bar(work=count, things=count, name="jobs") as bar,
    ):
        for outcome in measure(bench, plan, lambda: bar.advance(1, 1)):
            outcomes.append(outcome)
        about = {**about_this_machine(), "mpi": str(bench.mpi), **asdict(request)}
    rows = rows_of(outcomes)
    print_rows(rows, about, format, show.print_tables)
    if output is not None:
        _write(rows, about, output)
    return 0


def _check(request: Request) -> None:
    if request.ranks not in _RANKS:
        valid = ", ".join(map(str, _RANKS))
        raise UserError(f"--ranks: {request.ranks} is not valid; give one of {valid}")
    most = request.ranks * ROUNDS
    if not 1 <= request.per_job <= most:
        raise UserError(
            f"--per-job: {request.per_job} is not valid; give 1 to {most}, the messages of a job"
        )


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.experiments.bench.injection.draw import render

    pictures = {f"injection.{format}": render(rows, format) for format in FORMATS}
    write_rows(rows, about, "injection", show.as_markdown(rows), pictures, folder)
