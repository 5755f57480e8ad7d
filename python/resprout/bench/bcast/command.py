"""What `resprout bench bcast` does: checks, measures, shows, writes."""

import os
from pathlib import Path

from resprout.bench.bcast import show
from resprout.bench.bcast.figures import Row, rows_of
from resprout.bench.bcast.measure import measure
from resprout.bench.bcast.plan import FORMATS, Measurement, Request, make_measurement
from resprout.bench.machine import about_this_machine
from resprout.bench.output import as_csv, as_json, make_folder, write_files
from resprout.errors import UserError
from resprout.launch.mpi import Mpi, find_mpi
from resprout.launch.shim import check_fits, find_shim
from resprout.options import BY_FLAG, check_environment, check_value
from resprout.progress import progress_bar


def bench_bcast(
    request: Request, format: str, output: Path | None, mpi_prefix: str | None, transport: str
) -> int:
    check_environment(os.environ)
    if format not in FORMATS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(FORMATS)}")
    measurement = make_measurement(request)
    variables = {BY_FLAG["--transport"].variable: check_value("--transport", transport)}
    mpi = find_mpi(mpi_prefix, os.environ)
    shim = find_shim()
    check_fits(shim, mpi)
    if output is not None:
        make_folder(output)
    rows: list[Row] = []
    with progress_bar(work=measurement.work, things=measurement.rounds, name="rounds") as bar:
        for found in measure(measurement, mpi, shim, variables, bar):
            rows += rows_of(found, rows)
    about = _about(measurement, mpi, transport)
    _print(rows, about, format)
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


def _print(rows: list[Row], about: dict[str, object], format: str) -> None:
    if format == "json":
        print(as_json(rows, about), end="")
    elif format == "csv":
        print(as_csv(rows), end="")
    else:
        show.print_tables(rows)
        for sentence in show.best_to_native(rows):
            print(sentence)


def _write(rows: list[Row], about: dict[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.bench.bcast.draw import render

    contents = {
        "bcast.json": as_json(rows, about).encode(),
        "bcast.csv": as_csv(rows).encode(),
        "bcast.md": show.as_markdown(rows).encode(),
    }
    for dead in dict.fromkeys(row.dead for row in rows):
        name = "bcast" if dead == 0 else f"bcast-{dead}-killed"
        for picture_format in ("svg", "png"):
            shown = [row for row in rows if row.dead == dead]
            contents[f"{name}.{picture_format}"] = render(shown, picture_format)
    write_files(contents, folder)
