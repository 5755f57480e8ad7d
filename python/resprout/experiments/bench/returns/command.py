"""What `resprout bench returns` does: checks, measures, shows, writes."""

import os
from collections.abc import Sequence
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.experiments.bench.returns import show
from resprout.experiments.bench.returns.figures import comparisons, rows_of, share_of
from resprout.experiments.bench.returns.measure import Bench, Measurement, Sample, measure
from resprout.machine import about_this_machine
from resprout.options import check_environment
from resprout.progress import progress_bar

RANKS_MIN, RANKS_MAX = 2, 64


def bench_returns(
    measurement: Measurement, format: str, output: Path | None, mpi: str | None
) -> int:
    check_environment(os.environ)
    _check(measurement)
    check_output(format, output)
    count = measurement.jobs
    samples: list[Sample] = []
    with (
        Bench(mpi, measurement) as bench,
        progress_bar(work=count, things=count, name="jobs") as shown,
    ):
        samples += measure(bench, measurement, lambda: shown.advance(1, 1))
        name = str(bench.mpi)
    rows, share = rows_of(samples), share_of(samples)
    sentences = comparisons(rows, share, measurement.every_s)
    about = {
        **about_this_machine(), "mpi": name, "ranks": measurement.ranks, "mib": measurement.mib,
        "every_s": measurement.every_s, "work_s": measurement.work_s,
        "repetitions": measurement.repetitions, "share_in_checkpoints": share,
    }  # fmt: skip
    print_rows(rows, about, format, lambda shown: show.print_tables(shown, sentences))
    if output is not None:
        # Slow to import.
        from resprout.experiments.bench.returns.draw import render

        drawn = {f"returns.{format}": render(rows, format) for format in ("svg", "png")}
        write_rows(rows, about, "returns", show.as_markdown(rows, sentences), drawn, output)
    return 0


def _check(measurement: Measurement) -> None:
    valid: Sequence[tuple[str, float, float, float]] = (
        ("--ranks", measurement.ranks, RANKS_MIN, RANKS_MAX),
        ("--mib", measurement.mib, 1, 1 << 20),
        ("--every", measurement.every_s, 0.01, 86400),
        ("--work", measurement.work_s, 0, 86400),
    )
    for option, given, least, most in valid:
        if not least <= given <= most:
            raise UserError(f"{option}: {given:g} is not valid; give {least:g} to {most:g}")
    if 0 < measurement.work_s < measurement.every_s:
        raise UserError(
            f"--work: {measurement.work_s:g} s are shorter than --every, {measurement.every_s:g} s"
        )
