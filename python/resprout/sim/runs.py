"""Simulated runs, one after the other, and how they are printed."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from resprout.errors import UserError
from resprout.progress import progress_bar

if TYPE_CHECKING:
    from resprout.native import Run

# Nobody waits for a bar that is gone at once.
_QUIET_SECONDS = 2.0


@dataclass(frozen=True)
class Experiment:
    """What is simulated. The runs differ in their seeds, which count up from `seed`."""

    spec: str
    procs: int
    latency: int
    overhead: int
    gap: int
    root: int
    faults: str
    fail_at: list[str]
    seed: int
    runs: int
    wants_trace: bool = False
    late: str = "none"
    initiators: str = "root"
    noise: str = "none"

    def run_all(self) -> Iterator["Run"]:
        from resprout import native

        try:
            simulation = native.Simulation(
                self.spec,
                procs=self.procs,
                latency=self.latency,
                overhead=self.overhead,
                gap=self.gap,
                root=self.root,
                trace=self.wants_trace,
                late=self.late,
                initiators=self.initiators,
                noise=self.noise,
            )
            for seed in range(self.seed, self.seed + self.runs):
                yield simulation.run(faults=self.faults, fail_at=self.fail_at, seed=seed)
        except ValueError as error:
            raise UserError(str(error)) from error


def print_json(runs: Iterable["Run"], file: TextIO) -> None:
    """One object a run, one run a line."""
    for run in runs:
        print(json.dumps(run), file=file)


def print_csv(runs: Iterable["Run"], file: TextIO) -> None:
    writer = None
    for run in runs:
        if writer is None:
            writer = csv.DictWriter(file, list(run.keys()), lineterminator="\n")
            writer.writeheader()
        writer.writerow(run)


def print_table(runs: Iterable["Run"], file: TextIO) -> None:
    """The same for all runs above, what differs in a row each."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    every: list[dict[str, Any]] = [dict(run) for run in runs]
    same = ("protocol", "procs", "latency", "overhead", "faults")
    console = Console(file=file, highlight=False)
    if not file.isatty():
        console.width = 200
    first = every[0]
    console.print(", ".join(f"{key} {first[key]}" for key in same))
    keys = [key for key in first if key not in same]
    table = Table(*(key.replace("_", " ") for key in keys), box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for run in every:
        table.add_row(*(_cell(run[key]) for key in keys))
    console.print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


PRINTERS: dict[str, Callable[[Iterable["Run"], TextIO], None]] = {
    "table": print_table,
    "json": print_json,
    "csv": print_csv,
}


def with_progress(runs: Iterable["Run"], count: int) -> Iterator["Run"]:
    """The same runs; a bar on stderr, if that is a terminal, once they have taken a while."""
    with progress_bar(work=count, things=count, name="runs", quiet_seconds=_QUIET_SECONDS) as bar:
        for run in runs:
            bar.advance(1, 1)
            yield run
