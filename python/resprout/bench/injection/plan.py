"""Which bits are flipped in which jobs.

All flips of a job are in one plane: the others have the right data, and with three of them a
majority. In `exchange` no message depends on another one, so that several flips of a job are as
many injections: each has a message of its own, which the report names. In a kernel what is wrong
goes on into further messages, so a job has one flip.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from resprout.bench.replicated import DEGREES, EAGER, LAZY

EXCHANGE = "exchange"
ROUNDS = 60
KERNELS: Mapping[str, Sequence[str]] = {"cg": ("S", "1"), "lu": ("S", "2"), "mg": ("S", "2")}
"""Those that send messages outside of collectives, and their arguments."""
_KERNEL_MESSAGES = 12
"""So many every rank of each of them sends at least."""
_BITS = 2**20  # taken modulo the size of the message
METHODS = (*EAGER, *LAZY)
CASES = tuple((degree, method) for degree in DEGREES for method in METHODS)


@dataclass(frozen=True)
class Run:
    """One job."""

    program: str
    degree: int
    method: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """How much is injected."""

    ranks: int
    injections: int
    """Into `exchange`, over all methods and degrees."""
    per_job: int
    kernel_jobs: int
    """Of each kernel, method and degree."""
    seed: int


def arguments_of(program: str) -> Sequence[str]:
    return (str(ROUNDS),) if program == EXCHANGE else KERNELS[program]


def runs(request: Request) -> list[Run]:
    """All jobs: first one without a flip for each program, degree and method."""
    generator = random.Random(request.seed)
    programs = [EXCHANGE, *(KERNELS if request.kernel_jobs else ())]
    found = [Run(program, *case, ()) for case in CASES for program in programs]
    each = -(-request.injections // len(CASES))
    for degree, method in CASES:
        for left in range(each, 0, -request.per_job):
            count = min(left, request.per_job)
            faults = flips(generator, request.ranks, degree, ROUNDS, count)
            found.append(Run(EXCHANGE, degree, method, tuple(faults)))
        for kernel in KERNELS:
            for _ in range(request.kernel_jobs):
                faults = flips(generator, request.ranks, degree, _KERNEL_MESSAGES, 1)
                found.append(Run(kernel, degree, method, tuple(faults)))
    return found


def flips(
    generator: random.Random, ranks: int, degree: int, messages: int, count: int
) -> Iterator[str]:
    """So many different messages of all ranks of one plane, and a bit of each."""
    replica = generator.randrange(degree)
    chosen = generator.sample(range(ranks * messages), count)
    for place in sorted(chosen):
        rank, message = divmod(place, messages)
        bit = generator.randrange(_BITS)
        yield f"flip:rank={rank},replica={replica},message={message + 1},bit={bit}"
