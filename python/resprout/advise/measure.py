"""What it costs to write a checkpoint of some size into a folder: tried, several times."""

import os
import re
import tempfile
import time
from pathlib import Path
from statistics import median

from resprout.errors import UserError
from resprout.progress import progress_bar

_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_REPETITIONS = 3
_CHUNK = 4 << 20


def read_size(text: str) -> int:
    """In bytes. Raises UserError."""
    match = re.fullmatch(r"([1-9][0-9]{0,11})(|KiB|MiB|GiB)", text)
    if match is None:
        raise UserError(f"--size: {text!r} is not valid; give bytes as 4096, 64MiB or 2GiB")
    return int(match[1]) * _UNITS[match[2]]


def measure_checkpoint(folder: Path, size: int) -> float:
    """Seconds until a file of so many bytes is on its disk, the median of three. Nothing stays."""
    took = []
    with progress_bar(work=_REPETITIONS, things=_REPETITIONS, name="checkpoints") as shown:
        for _ in range(_REPETITIONS):
            took.append(_write(folder, size))
            shown.advance(1, 1)
    return median(took)


def _write(folder: Path, size: int) -> float:
    chunk = os.urandom(min(size, _CHUNK))
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            began = time.monotonic()
            for at in range(0, size, _CHUNK):
                file.write(chunk[: size - at])
            file.flush()
            os.fsync(file.fileno())
            return time.monotonic() - began
    except OSError as error:
        raise UserError(f"--measure: {folder} cannot be written: {error.strerror}") from error
