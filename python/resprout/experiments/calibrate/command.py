"""What `resprout calibrate` does: checks, measures, shows, keeps."""

import json
import math
import os
import re
import sys
from datetime import date
from pathlib import Path

from resprout import __version__
from resprout.calibration import store
from resprout.errors import UserError
from resprout.experiments.calibrate import show
from resprout.experiments.calibrate.measure import CASES, check_can_choose, default_ranks, measure
from resprout.launch.mpi import find_mpi
from resprout.launch.shim import check_fits, find_shim
from resprout.options import check_environment
from resprout.progress import progress_bar


def calibrate(
    ranks: str | None, seconds: float, output: Path | None, mpi: str | None, wants_json: bool
) -> int:
    check_environment(os.environ)
    counts = default_ranks(os.cpu_count() or 1) if ranks is None else _parse_ranks(ranks)
    if not math.isfinite(seconds) or not 1 <= seconds <= 86400:
        raise UserError(f"--seconds: {seconds:g} is not valid; give 1 to 86400")
    found = find_mpi(mpi, os.environ)
    check_can_choose(found)
    shim = find_shim()
    check_fits(shim, found)
    path = store.default_path(os.environ) if output is None else output
    _check_path(path)
    _warn_if_busy()
    work = len(counts) * CASES
    with progress_bar(work=work, things=work, name="cases") as bar:
        measured = tuple(measure(found, shim, counts, seconds, bar))
    calibration = store.Calibration(
        store.this_machine(str(found)), __version__, date.today().isoformat(), measured
    )
    if wants_json:
        print(json.dumps(calibration.as_dict(), indent=1))
    else:
        show.print_tables(measured)
        for sentence in show.sentences(measured):
            print(sentence)
    store.keep(path, calibration)
    print(f"kept in {path}", file=sys.stderr)
    return 0


def _warn_if_busy() -> None:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 2:
        print(
            f"resprout: the load is {load:.1f} on {cores} cores: what others compute meanwhile "
            "changes who is faster",
            file=sys.stderr,
        )


def _check_path(path: Path) -> None:
    """What would go wrong in the end, before anything is measured."""
    if path.exists() and not path.is_file():
        raise UserError(f"--output: {path} is no file")
    store.read(path)
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"--output: {path} cannot be written: {parent} is no folder for it")


def _parse_ranks(text: str) -> list[int]:
    words = text.split(",")
    valid = f"2 to {store.RANKS_MAX}, with commas in between, as 2,4,8"
    for word in words:
        if not re.fullmatch(r"[0-9]{1,5}", word) or not 2 <= int(word) <= store.RANKS_MAX:
            raise UserError(f"--ranks: {text!r} is not valid; give {valid}")
    return sorted({int(word) for word in words})
