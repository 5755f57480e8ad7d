"""What `resprout sim` and `resprout protocols` do."""

import itertools
import sys
from pathlib import Path

from resprout.errors import UserError
from resprout.sim.runs import PRINTERS, Experiment, with_progress
from resprout.sim.trace import write_trace


def simulate(experiment: Experiment, format: str, trace: Path | None) -> int:
    if format not in PRINTERS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(PRINTERS)}")
    if trace is not None:
        _trace_first(experiment, trace)
    runs = with_progress(experiment.run_all(), experiment.runs)
    # What is wrong shows in the first run: before anything has been printed.
    first = next(runs)
    PRINTERS[format](itertools.chain([first], runs), sys.stdout)
    return 0


def _trace_first(experiment: Experiment, path: Path) -> None:
    from dataclasses import replace

    run = next(replace(experiment, runs=1, wants_trace=True).run_all())
    try:
        write_trace(run["trace"], experiment.overhead, path)
    except OSError as error:
        raise UserError(f"--trace: {path} cannot be written: {error.strerror}") from error


def list_protocols() -> None:
    from resprout import native

    for protocol in native.protocols():
        print(f"{protocol['name']}  ({protocol['operation']})\n  {protocol['summary']}")
        for option in protocol["options"]:
            values = f"{option['name']}={option['values']}"
            print(f"    {values:62} {option['help']}; {option['default']} without it")
        print()
