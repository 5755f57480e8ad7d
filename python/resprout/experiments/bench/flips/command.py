"""What `resprout bench flips` does: checks, runs, shows, writes."""

import os
from dataclasses import asdict
from pathlib import Path

from resprout.experiments.bench.flips import show
from resprout.experiments.bench.flips.figures import rows_of
from resprout.experiments.bench.flips.measure import Bench, measure
from resprout.experiments.bench.flips.plan import CASES, Request, runs
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.experiments.bench.replicated import DEGREES, METHODS, choose
from resprout.machine import about_this_machine
from resprout.options import check_environment
from resprout.pictures import FORMATS
from resprout.progress import progress_bar


def cases_of(degrees: str, methods: str | None) -> list[tuple[int, str]]:
    """Those of CASES that are asked for."""
    some = choose("--replicas", degrees, [str(degree) for degree in DEGREES])
    names = choose("--methods", methods, METHODS)
    return [(degree, name) for degree, name in CASES if str(degree) in some and name in names]


def bench_flips(
    request: Request, format: str, output: Path | None, mpi: str | None, kernels: Path | None
) -> int:
    check_environment(os.environ)
    check_output(format, output)
    with (
        Bench(mpi, kernels, request.ranks) as bench,
        progress_bar(work=request.flips, things=request.flips, name="jobs") as bar,
    ):
        plan = runs(request, bench.calls())
        outcomes = list(measure(bench, plan, lambda: bar.advance(1, 1)))
        about = {**about_this_machine(), "mpi": str(bench.mpi), **asdict(request)}
    rows = rows_of(outcomes)
    print_rows(rows, about, format, show.print_tables)
    if output is not None:
        # Slow to import.
        from resprout.experiments.bench.flips.draw import render

        pictures = {f"flips.{format}": render(rows, format) for format in FORMATS}
        write_rows(rows, about, "flips", show.as_markdown(rows), pictures, output)
    return 0
