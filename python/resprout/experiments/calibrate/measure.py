"""Runs the jobs that measure, one for each number of ranks, and hears from them what they found."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from resprout.calibration.figures import OPERATIONS, Measured
from resprout.errors import UserError
from resprout.experiments.bench.program import Listener, compile_program, run
from resprout.launch.command import Plan
from resprout.launch.mpi import Mpi
from resprout.progress import Bar

_SOURCE = Path(__file__).with_name("calibrate.c")
# A barrier back to back; each other operation with each of 8 sizes in both modes.
CASES = 1 + (len(OPERATIONS) - 1) * 8 * 2
_CARRIERS = 2
_RANKS_MAX_BY_DEFAULT = 128


def default_ranks(cores: int) -> list[int]:
    """Powers of two up to the cores, all of these, and two and four times as many."""
    powers = [1 << i for i in range(1, 20) if 1 << i <= cores]
    chosen = {2, *powers, cores, 2 * cores, 4 * cores} - {1}
    return sorted(ranks for ranks in chosen if ranks <= _RANKS_MAX_BY_DEFAULT)


def measure(
    mpi: Mpi, shim: Path, ranks: Sequence[int], seconds: float, bar: Bar
) -> Iterator[Measured]:
    """`seconds`: about so many in all."""
    share = seconds / (len(ranks) * CASES * _CARRIERS)
    with tempfile.TemporaryDirectory(prefix="resprout-calibrate-") as folder:
        program = compile_program(mpi, _SOURCE, Path(folder) / "calibrate")
        for count in ranks:
            listener = _Listener(count, bar)
            run(Plan(mpi, count, [str(program), f"{share:.6f}"], shim), listener)
            if len(listener.found) != CASES:
                raise UserError(f"a job of {count} ranks measured {len(listener.found)} cases")
            yield from listener.found


def check_can_choose(mpi: Mpi) -> None:
    """Refuse where there is nothing to choose from."""
    if not mpi.has_ulfm:
        raise UserError(
            f"{mpi} of {mpi.prefix} has no ULFM: its collectives cannot be interrupted, so "
            "Resprout carries them all and there is nothing to calibrate"
        )


class _Listener(Listener):
    def __init__(self, ranks: int, bar: Bar) -> None:
        super().__init__()
        self.found: list[Measured] = []
        self._ranks = ranks
        self._bar = bar

    def hear(self, words: list[str]) -> bool:
        match words:
            case ["measured", operation, mode, size, resprout, native, ratio]:
                times = map(float, (resprout, native, ratio))
                self.found.append(Measured(self._ranks, operation, mode, int(size), *times))
                self._bar.advance(1, 1)
                return True
        return False
