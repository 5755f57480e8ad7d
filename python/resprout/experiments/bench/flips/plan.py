"""Which bits of which processes are flipped, one a job.

A flip comes at the entry of a call that the process is known to make: a job without faults has
counted them. Areas of memory take turns, and so do kernels.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resprout.experiments.bench.replicated import DEGREES, METHODS
from resprout.faults import AREAS

KERNELS: Mapping[str, Sequence[str]] = {
    "cg": ("S", "4"),
    "ft": ("S", "4"),
    "is": ("S", "4"),
    "lu": ("S", "4"),
    "mg": ("S", "4"),
}
"""Kernels and their arguments: some milliseconds each."""
CASES = tuple((degree, method) for degree in DEGREES for method in METHODS)
_BITS = 2**60  # far more than a process has; taken modulo their number


@dataclass(frozen=True)
class Request:
    ranks: int
    cases: Sequence[tuple[int, str]]
    """Degrees and methods: some of CASES."""
    flips: int
    """Over all cases together."""
    seed: int


@dataclass(frozen=True)
class Run:
    """One job."""

    kernel: str
    degree: int
    method: str
    area: str
    fault: str


def runs(request: Request, calls: Mapping[str, Mapping[str, int]]) -> list[Run]:
    """All jobs. `calls`: of each kernel, how often each rank makes which call of MPI."""
    generator = random.Random(request.seed)
    found = []
    for number in range(request.flips):
        degree, method = request.cases[number % len(request.cases)]
        turn = number // len(request.cases)
        kernel = list(KERNELS)[turn % len(KERNELS)]
        area = AREAS[turn // len(KERNELS) % len(AREAS)]
        call = generator.choices(list(calls[kernel]), list(calls[kernel].values()))[0]
        at = f"{call}#{generator.randint(1, calls[kernel][call])}"
        rank, replica = generator.randrange(request.ranks), generator.randrange(degree)
        bit = generator.randrange(_BITS)
        fault = f"flip:rank={rank},replica={replica},where={area},at={at},bit={bit}"
        found.append(Run(kernel, degree, method, area, fault))
    return found
