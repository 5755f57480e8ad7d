"""The file with what was measured, for several machines if they share it.

It is `resprout/calibration.json` in $XDG_CONFIG_HOME, else in ~/.config. A machine is known by its
processor, its number of cores and the MPI library with its version; what was measured on one says
nothing of another. A file that is there but cannot be understood is an error, never ignored.
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resprout.calibration.figures import MODES, OPERATIONS, Measured, as_text, ranks_of
from resprout.errors import UserError
from resprout.files import replacing
from resprout.machine import processor

SCHEMA = 1
RANKS_MAX = 1024


@dataclass(frozen=True)
class Machine:
    """What has to be the same."""

    processor: str
    cores: int
    mpi: str

    def __str__(self) -> str:
        return f"{self.processor}, {self.cores} cores, {self.mpi}"


@dataclass(frozen=True)
class Calibration:
    machine: Machine
    resprout: str
    """The version that was measured."""
    date: str
    measured: tuple[Measured, ...]

    def as_text(self) -> str:
        return as_text(self.measured, self.machine.cores)

    def as_dict(self) -> dict[str, object]:
        return {
            "machine": asdict(self.machine),
            "resprout": self.resprout,
            "date": self.date,
            "measured": [asdict(case) for case in self.measured],
        }


def this_machine(mpi: str) -> Machine:
    """`mpi`: the library and its version, in words."""
    return Machine(processor(), os.cpu_count() or 1, mpi)


def default_path(environment: Mapping[str, str]) -> Path:
    """What is not an absolute path there counts as not set (XDG Base Directory Specification)."""
    given = Path(environment.get("XDG_CONFIG_HOME", ""))
    folder = given if given.is_absolute() else Path.home() / ".config"
    return folder / "resprout" / "calibration.json"


def read(path: Path) -> list[Calibration]:
    """All that are in the file. A UserError if it is there and no such file."""
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        if whole["schema"] != SCHEMA:
            raise ValueError(f"its schema is {whole['schema']}, not {SCHEMA}")
        return [_calibration(value) for value in whole["calibrations"]]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UserError(f"--calibration: {path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = " ".join(str(error).split())
        raise UserError(
            f"--calibration: {path} is no calibration ({why}); remove it and call "
            "`resprout calibrate`, or give --calibration none"
        ) from error


def find(path: Path, machine: Machine) -> Calibration | None:
    return next((found for found in read(path) if found.machine == machine), None)


def keep(path: Path, calibration: Calibration) -> None:
    """In the place of an older one of the same machine; those of others stay."""
    others = [found for found in read(path) if found.machine != calibration.machine]
    whole = {
        "schema": SCHEMA,
        "calibrations": [kept.as_dict() for kept in [*others, calibration]],
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--output: {path} cannot be written: {error.strerror}") from error


def text_for_ranks(option: str | None, mpi: str, environment: Mapping[str, str]) -> str | None:
    """What the ranks are told: of this machine, from the file of --calibration or the usual one.

    Nothing: no calibration fits, or none is wanted. One that was asked for has to fit.
    """
    if option == "none":
        return None
    path = default_path(environment) if option is None else Path(option)
    if option is not None and not path.is_file():
        raise UserError(
            f"--calibration: {path} is no file; give one of `resprout calibrate`, or none"
        )
    machine = this_machine(mpi)
    found = find(path, machine)
    if found is None and option is not None:
        raise UserError(
            f"--calibration: {path} has nothing for this machine ({machine}); "
            f"call `resprout calibrate --output {path}`, or give --calibration none"
        )
    return found.as_text() if found else None


def _calibration(value: dict[str, Any]) -> Calibration:
    machine = Machine(
        str(value["machine"]["processor"]),
        _count(value["machine"]["cores"], 1),
        str(value["machine"]["mpi"]),
    )
    measured = tuple(_measured(case) for case in value["measured"])
    for ranks in ranks_of(measured):
        lacks = set(OPERATIONS) - {case.operation for case in measured if case.ranks == ranks}
        if lacks:
            raise ValueError(f"it has no {min(lacks)} of {ranks} ranks")
    if not measured:
        raise ValueError("nothing was measured")
    return Calibration(machine, str(value["resprout"]), str(value["date"]), measured)


def _measured(value: dict[str, Any]) -> Measured:
    operation, mode = value["operation"], value["mode"]
    if operation not in OPERATIONS or mode not in MODES:
        raise ValueError(f"it measures {operation} by {mode}")
    is_barrier = operation == "barrier"
    return Measured(
        _count(value["ranks"], 2, RANKS_MAX),
        operation,
        mode,
        _count(value["bytes"], 0 if is_barrier else 1, 0 if is_barrier else 1 << 40),
        *(_time(value[name]) for name in ("resprout_us", "native_us", "ratio")),
    )


def _count(value: object, least: int, most: int = 1 << 20) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{value!r} is no number from {least} to {most}")
    return value


def _time(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{value!r} is no time")
    return float(value)
