"""Which bits are flipped in which jobs.

All flips of a job are in one plane: the others have the right data, and with three of them a
majority. In `exchange` no message depends on another one, so that several flips of a job are as
many injections: each has a message of its own, which the report names. A job has one flip where
that cannot be: in a kernel, in which what is wrong goes on into further messages (in some the flip
is of a message, in others of what a rank gives to a collective), and with a lazy
method and three replicas, where the plane ends that has worked with what is wrong. `steps` takes
checkpoints, so its planes go back instead; it has one flip a job too, in turns of a message and of
the memory that it protects.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from resprout.experiments.bench.replicated import DEGREES, EAGER, LAZY

EXCHANGE = "exchange"
ROUNDS = 60
STEPS = "steps"
STEPS_TAKEN = 8
"""Of which each has a message of every rank, and ends with a checkpoint."""
_FIELD_BITS = 8 * 4096
"""Of the memory that it protects, without the number of the step."""
_PLACES: Mapping[str, tuple[str, int]] = {
    "lu": ("message", 12), "mg": ("message", 12), "ep": ("collective", 4), "ft": ("collective", 12),
}  # fmt: skip
"""Kernels; of what a bit of theirs is, and of how many of these every rank has at least. Whatever
is wrong there, they come to their end: no index and no count goes through them."""
KERNELS: Mapping[str, Sequence[str]] = dict.fromkeys(_PLACES, ("S", "2"))
"""Their arguments."""
_BITS = 2**20  # taken modulo the size of the message
METHODS = (*EAGER, *LAZY)
CASES = tuple((degree, method) for degree in DEGREES for method in METHODS)
ENDING = tuple((degree, method) for degree, method in CASES if degree > 2 and method in LAZY)
"""In which a plane ends with its first flip."""


@dataclass(frozen=True)
class Run:
    """One job."""

    program: str
    degree: int
    method: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """How much is injected into what."""

    ranks: int
    cases: Sequence[tuple[int, str]]
    """Degrees and methods: some of CASES."""
    injections: int
    """Into `exchange`, over all cases in which no plane ends."""
    per_job: int
    """Of those."""
    alone: int
    """Into `exchange`, one a job, in each case of ENDING."""
    kernel_jobs: int
    """Of each kernel, method and degree."""
    steps_jobs: int
    """Of `steps`, likewise."""
    seed: int


def arguments_of(program: str) -> Sequence[str]:
    own = {EXCHANGE: (str(ROUNDS),), STEPS: (str(STEPS_TAKEN),)}
    return own.get(program) or KERNELS[program]


def runs(request: Request) -> list[Run]:
    """All jobs: first one without a flip for each program, degree and method."""
    generator = random.Random(request.seed)
    programs = [
        EXCHANGE,
        *(KERNELS if request.kernel_jobs else ()),
        *([STEPS] if request.steps_jobs else ()),
    ]
    found = [Run(program, *case, ()) for case in request.cases for program in programs]
    sharing = [case for case in request.cases if case not in ENDING]
    each = -(-request.injections // max(1, len(sharing)))
    for degree, method in request.cases:
        is_ending = (degree, method) in ENDING
        total, per_job = (request.alone, 1) if is_ending else (each, request.per_job)
        for left in range(total, 0, -per_job):
            count = min(left, per_job)
            faults = flips(generator, request.ranks, degree, ("message", ROUNDS), count)
            found.append(Run(EXCHANGE, degree, method, tuple(faults)))
        for kernel in KERNELS:
            for _ in range(request.kernel_jobs):
                faults = flips(generator, request.ranks, degree, _PLACES[kernel], 1)
                found.append(Run(kernel, degree, method, tuple(faults)))
        for number in range(request.steps_jobs):
            flip = next(flips(generator, request.ranks, degree, ("message", STEPS_TAKEN), 1))
            fault = flip if number % 2 else of_memory(generator, request.ranks, degree)
            found.append(Run(STEPS, degree, method, (fault,)))
    return found


def of_memory(generator: random.Random, ranks: int, degree: int) -> str:
    """A bit of what `steps` protects, after any checkpoint but the last."""
    rank, replica = generator.randrange(ranks), generator.randrange(degree)
    number, bit = generator.randint(1, STEPS_TAKEN), generator.randrange(_FIELD_BITS)
    return f"flip:rank={rank},replica={replica},where=memory,checkpoint={number},bit={bit}"


def flips(
    generator: random.Random, ranks: int, degree: int, places: tuple[str, int], count: int
) -> Iterator[str]:
    """So many different ones of the messages, or collectives, of all ranks of one plane, of which
    each rank has so many, and a bit of each."""
    what, numbers = places
    replica = generator.randrange(degree)
    chosen = generator.sample(range(ranks * numbers), count)
    for place in sorted(chosen):
        rank, number = divmod(place, numbers)
        bit = generator.randrange(_BITS)
        yield f"flip:rank={rank},replica={replica},{what}={number + 1},bit={bit}"
