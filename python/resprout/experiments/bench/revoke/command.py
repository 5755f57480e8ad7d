"""What `resprout bench revoke` does: checks, measures, shows, writes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.experiments.bench.revoke import show
from resprout.experiments.bench.revoke.figures import Row, rows_of
from resprout.experiments.bench.revoke.measure import find_ulfm, measure
from resprout.experiments.bench.revoke.plan import Measurement
from resprout.machine import about_this_machine
from resprout.options import BY_FLAG, check_environment, check_value
from resprout.pictures import FORMATS
from resprout.progress import progress_bar


def bench_revoke(
    measurement: Measurement,
    format: str,
    output: Path | None,
    mpi_prefix: str | None,
    collectives: str,
) -> int:
    check_environment(os.environ)
    variables = {BY_FLAG["--collectives"].variable: check_value("--collectives", collectives)}
    mpi = find_ulfm(mpi_prefix)
    check_output(format, output)
    rows: list[Row] = []
    with progress_bar(work=measurement.work, things=measurement.rounds, name="rounds") as bar:
        for found in measure(measurement, mpi, variables, bar):
            rows += rows_of(found)
    about = {
        **about_this_machine(),
        "mpi": str(mpi),
        "collectives": collectives,
        "repetitions": measurement.repetitions,
        "pause_us": measurement.pause_us,
    }
    print_rows(rows, about, format, show.print_tables)
    if output is not None:
        _write(rows, about, output)
    return 0


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.experiments.bench.revoke.draw import render

    pictures = {f"revoke.{format}": render(rows, format) for format in FORMATS}
    write_rows(rows, about, "revoke", show.as_markdown(rows), pictures, folder)
