"""What `resprout bench replication` does: checks, measures, shows, writes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.experiments.bench.replicated import DEGREES, METHODS, choose
from resprout.experiments.bench.replication import show
from resprout.experiments.bench.replication.figures import Row, histories_as_csv, rows_of
from resprout.experiments.bench.replication.kernels import SIZES, suits
from resprout.experiments.bench.replication.measure import Bench, Measurement, measure
from resprout.machine import about_this_machine
from resprout.options import check_environment
from resprout.pictures import FORMATS
from resprout.progress import progress_bar

RANKS_MAX = 16


@dataclass(frozen=True)
class Request:
    """What the user asks for, unchecked."""

    ranks: int
    kernels: str | None
    degrees: str
    methods: str | None
    size: str
    repetitions: int


def make_measurement(request: Request) -> Measurement:
    """Everything that can be wrong is found here, in one line."""
    if request.ranks not in (1, 2, 4, 8, RANKS_MAX):
        valid = f"1, 2, 4, 8 or {RANKS_MAX}"
        raise UserError(f"--ranks: {request.ranks} is not valid; give {valid}")
    if request.size not in SIZES:
        raise UserError(f"--size: {request.size!r} is not valid; give {', '.join(SIZES)}")
    sizes = SIZES[request.size]
    suited = [name for name in sizes if suits(name, request.ranks)]
    names = choose("--only", request.kernels, suited)
    degrees = choose("--replicas", request.degrees, [str(degree) for degree in DEGREES])
    return Measurement(
        request.ranks,
        {name: sizes[name] for name in names},
        [int(degree) for degree in degrees],
        choose("--methods", request.methods, list(METHODS)),
        request.repetitions,
    )


def bench_replication(
    request: Request, format: str, output: Path | None, mpi: str | None, kernels: Path | None
) -> int:
    check_environment(os.environ)
    measurement = make_measurement(request)
    check_output(format, output)
    samples = []
    count = measurement.jobs
    with Bench(mpi, kernels) as bench, progress_bar(work=count, things=count, name="jobs") as bar:
        for sample in measure(bench, measurement, lambda: bar.advance(1, 1)):
            samples.append(sample)
        sizes = {k: f"{s.letter} {s.iterations}" for k, s in measurement.sizes.items()}
        about = {
            **about_this_machine(), "mpi": str(bench.mpi), "ranks": measurement.ranks,
            "repetitions": measurement.repetitions, "kernels": sizes,
        }  # fmt: skip
    rows = rows_of(samples)
    print_rows(rows, about, format, show.print_tables)
    if output is not None:
        _write(rows, about, output)
    return 0


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.experiments.bench.replication.draw import render, render_histories

    degrees = sorted({row.degree for row in rows if row.degree > 1})
    others = {"replication-memory.csv": histories_as_csv(rows).encode()}
    for degree in degrees:
        for format in FORMATS:
            others[f"replication-{degree}.{format}"] = render(rows, degree, format)
            histories = render_histories(rows, degree, format)
            others[f"replication-memory-{degree}.{format}"] = histories
    write_rows(rows, about, "replication", show.as_markdown(rows), others, folder)
