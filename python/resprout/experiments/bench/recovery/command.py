"""What `resprout bench recovery` does: checks, measures, shows, writes."""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.experiments.bench.recovery import show
from resprout.experiments.bench.recovery.figures import Row, rows_of
from resprout.experiments.bench.recovery.measure import RANKS_MIN, Bench, jobs, measure
from resprout.machine import about_this_machine
from resprout.options import check_environment
from resprout.pictures import FORMATS
from resprout.progress import progress_bar

RANKS_MAX = 64


def bench_recovery(
    ranks: str, repetitions: int, format: str, output: Path | None, mpi: str | None
) -> int:
    check_environment(os.environ)
    procs = _parse_ranks(ranks)
    check_output(format, output)
    samples = []
    count = jobs(procs, repetitions)
    with Bench(mpi) as bench, progress_bar(work=count, things=count, name="jobs") as bar:
        for sample in measure(bench, procs, repetitions, lambda: bar.advance(1, 1)):
            samples.append(sample)
        about = {**about_this_machine(), "mpi": str(bench.mpi), "repetitions": repetitions}
        failed = Counter(failure.job for failure in bench.failed)
        for job, times in failed.items():
            print(f"resprout: {job}: {times} jobs came to no good end", file=sys.stderr)
        about["no_good_end"] = dict(failed)
    rows = rows_of(samples)
    print_rows(rows, about, format, show.print_tables)
    if output is not None:
        _write(rows, about, output)
    return 0


def _parse_ranks(text: str) -> list[int]:
    valid = f"numbers of ranks from {RANKS_MIN} to {RANKS_MAX} with commas in between, as 8,16"
    try:
        procs = [int(word) for word in text.split(",")]
    except ValueError:
        procs = []
    if not procs or not all(RANKS_MIN <= count <= RANKS_MAX for count in procs):
        raise UserError(f"--ranks: {text!r} is not valid; give {valid}")
    return list(dict.fromkeys(procs))


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.experiments.bench.recovery.draw import render

    pictures = {f"recovery.{format}": render(rows, format) for format in FORMATS}
    write_rows(rows, about, "recovery", show.as_markdown(rows), pictures, folder)
