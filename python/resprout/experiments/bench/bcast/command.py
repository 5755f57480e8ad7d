"""What `resprout bench bcast` does: checks, measures, shows, writes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from resprout.experiments.bench.bcast import show
from resprout.experiments.bench.bcast.figures import Row, rows_of
from resprout.experiments.bench.bcast.measure import measure
from resprout.experiments.bench.bcast.plan import Measurement, Request, make_measurement
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.launch.mpi import Mpi, find_mpi
from resprout.launch.shim import check_fits, find_shim
from resprout.machine import about_this_machine
from resprout.options import BY_FLAG, check_environment, check_value
from resprout.pictures import FORMATS
from resprout.progress import progress_bar


def bench_bcast(
    request: Request, format: str, output: Path | None, mpi_prefix: str | None, transport: str
) -> int:
    check_environment(os.environ)
    measurement = make_measurement(request)
    variables = {BY_FLAG["--transport"].variable: check_value("--transport", transport)}
    mpi = find_mpi(mpi_prefix, os.environ)
    shim = find_shim()
    check_fits(shim, mpi)
    check_output(format, output)
    rows: list[Row] = []
    with progress_bar(work=measurement.work, things=measurement.rounds, name="rounds") as bar:
        for found in measure(measurement, mpi, shim, variables, bar):
            rows += rows_of(found, rows)
    about = _about(measurement, mpi, transport)
    print_rows(rows, about, format, _print_tables)
    if output is not None:
        _write(rows, about, output)
    return 0


def _about(measurement: Measurement, mpi: Mpi, transport: str) -> dict[str, object]:
    """What the figures depend on."""
    return {
        **about_this_machine(),
        "mpi": str(mpi),
        "transport": transport,
        "jobs": measurement.times,
        "repetitions": measurement.repetitions,
        "calls": measurement.calls,
        "seed": measurement.seed,
        "victims": {
            f"{job.ranks} ranks": list(job.victims) for job in measurement.jobs if job.victims
        },
    }


def _print_tables(rows: Sequence[Row]) -> None:
    show.print_tables(rows)
    for sentence in show.best_to_native(rows):
        print(sentence)


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.experiments.bench.bcast.draw import render

    pictures = {}
    for dead in dict.fromkeys(row.dead for row in rows):
        name = "bcast" if dead == 0 else f"bcast-{dead}-killed"
        for picture_format in FORMATS:
            shown = [row for row in rows if row.dead == dead]
            pictures[f"{name}.{picture_format}"] = render(shown, picture_format)
    write_rows(rows, about, "bcast", show.as_markdown(rows), pictures, folder)
