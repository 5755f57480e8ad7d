"""What `resprout bench revoke` does: checks, measures, shows, writes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from resprout.bench.machine import about_this_machine
from resprout.bench.output import as_csv, as_json, make_folder, write_files
from resprout.bench.revoke import show
from resprout.bench.revoke.figures import Row, rows_of
from resprout.bench.revoke.measure import find_ulfm, measure
from resprout.bench.revoke.plan import Measurement
from resprout.errors import UserError
from resprout.options import BY_FLAG, check_environment, check_value
from resprout.progress import progress_bar

FORMATS = ("table", "json", "csv")


def bench_revoke(
    measurement: Measurement,
    format: str,
    output: Path | None,
    mpi_prefix: str | None,
    collectives: str,
) -> int:
    check_environment(os.environ)
    if format not in FORMATS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(FORMATS)}")
    variables = {BY_FLAG["--collectives"].variable: check_value("--collectives", collectives)}
    mpi = find_ulfm(mpi_prefix)
    if output is not None:
        make_folder(output)
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
    if format == "json":
        print(as_json(rows, about), end="")
    elif format == "csv":
        print(as_csv(rows), end="")
    else:
        show.print_tables(rows)
    if output is not None:
        _write(rows, about, output)
    return 0


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.bench.revoke.draw import render

    contents = {
        "revoke.json": as_json(rows, about).encode(),
        "revoke.csv": as_csv(rows).encode(),
        "revoke.md": show.as_markdown(rows).encode(),
        "revoke.svg": render(rows, "svg"),
        "revoke.png": render(rows, "png"),
    }
    write_files(contents, folder)
