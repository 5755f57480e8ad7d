"""The kernels that are measured (examples/kernels): how large, where they are, what they say."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.program import compile_program
from resprout.launch.mpi import Mpi

_CLOCK = Path(__file__).with_name("clock.h")
_SOURCES = Path(__file__).parents[5] / "examples" / "kernels"
# Side by side, launchers tag lines with their rank.
_LINE = re.compile(
    r"^(?:\[[^\s\[\],]+,\d+\]<stdout>: ?)?\w+ class=\w ranks=\d+ iterations=\d+ "
    r"result=\S+ digest=(?P<digest>[0-9a-f]{16}) seconds=\S+ verified$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Size:
    """What a kernel is given: its class, and iterations."""

    letter: str
    iterations: int


SHORT: Mapping[str, Size] = {
    "bt": Size("A", 1),
    "cg": Size("A", 8),
    "ep": Size("A", 10),
    "ft": Size("A", 4),
    "is": Size("A", 2),
    "lu": Size("A", 20),
    "mg": Size("A", 8),
    "sp": Size("A", 3),
}
"""Half a second to a second each with four ranks on two cores."""
LONG: Mapping[str, Size] = {name: Size(s.letter, 5 * s.iterations) for name, s in SHORT.items()}
SMALLEST: Mapping[str, Size] = {name: Size("S", 2) for name in SHORT}
SIZES = {"smallest": SMALLEST, "short": SHORT, "long": LONG}


def suits(name: str, ranks: int) -> bool:
    """Whether the kernel runs on so many ranks, of those that the bench has."""
    return name not in ("bt", "sp") or math.isqrt(ranks) ** 2 == ranks


def find_sources(given: Path | None) -> Path:
    """The folder of the kernels' sources."""
    folder = _SOURCES if given is None else given
    if not (folder / "kernel.h").is_file():
        missing = f"{given} has no kernels" if given else "this installation has no kernels"
        raise UserError(f"--kernels: {missing}; give the folder examples/kernels of the sources")
    return folder


def compile_kernels(mpi: Mpi, sources: Path, names: Sequence[str], folder: Path) -> None:
    """Each becomes `folder`/name, with clock.h before it."""
    for name in names:
        flags = ["-include", str(_CLOCK), "-lm"]
        compile_program(mpi, sources / f"{name}.c", folder / name, flags)


def read_digest(text: str) -> str | None:
    """What a kernel said; nothing if it was not right, or has not come that far."""
    match = _LINE.search(text)
    return None if match is None else match["digest"]
