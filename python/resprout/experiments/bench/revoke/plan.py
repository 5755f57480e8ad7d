"""What is measured: cases by initiator, ranks and size, as Plan B's Figures 3, 4 and 5."""

from dataclasses import dataclass

from resprout.errors import UserError
from resprout.experiments.bench.bcast.plan import size_of

RANKS_MIN, RANKS_MAX = 2, 64
SMALL, SIZE_MAX = 8, 1 << 26
REPETITIONS_MAX = 2_000
PAUSE_MAX = 1_000_000
BEFORE, AFTER = 5, 20
"""Operations on the communicator that will be revoked, and on the other one afterwards."""


@dataclass(frozen=True)
class Case:
    operation: str
    """`barrier` or `allreduce`."""
    bytes: int
    initiator: int

    def __str__(self) -> str:
        return f"{self.operation}:{self.bytes}:{self.initiator}"


@dataclass(frozen=True)
class Job:
    ranks: int
    cases: tuple[Case, ...]

    @property
    def work(self) -> int:
        """Of one repetition: about as many microseconds."""
        return sum(self.ranks * (500 + case.bytes // 50) for case in self.cases)


@dataclass(frozen=True)
class Measurement:
    jobs: tuple[Job, ...]
    repetitions: int
    pause_us: int

    @property
    def rounds(self) -> int:
        """Of all jobs together."""
        return len(self.jobs) * self.repetitions

    @property
    def work(self) -> int:
        return sum(job.work for job in self.jobs) * self.repetitions


def make_measurement(ranks: str, sizes: str, repetitions: int, pause_us: int) -> Measurement:
    """Everything that can be wrong is found here, in one line."""
    procs = _ranks(ranks)
    lengths = _sizes(sizes)
    for flag, value, least, most in (
        ("--repetitions", repetitions, 1, REPETITIONS_MAX),
        ("--pause", pause_us, 0, PAUSE_MAX),
    ):
        if not least <= value <= most:
            raise UserError(f"{flag}: {value} is not valid; give {least} to {most}")
    jobs = [_job(count, lengths, count == procs[-1]) for count in procs]
    return Measurement(tuple(jobs), repetitions, pause_us)


def _job(ranks: int, sizes: list[int], is_largest: bool) -> Job:
    cases = [Case("barrier", 0, 0), Case("allreduce", SMALL, 0)]
    if is_largest:
        cases += [Case("barrier", 0, initiator) for initiator in range(1, ranks)]
        cases += [Case("allreduce", size, 0) for size in sizes if size != SMALL]
    return Job(ranks, tuple(cases))


def _ranks(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    numbers = {int(word) if word.isdecimal() else 0 for word in words}
    if not all(RANKS_MIN <= number <= RANKS_MAX for number in numbers):
        valid = f"numbers of ranks from {RANKS_MIN} to {RANKS_MAX}, as 2,8"
        raise UserError(f"--ranks: {text!r} is not valid; give {valid}")
    return sorted(numbers)


def _sizes(text: str) -> list[int]:
    sizes = {size_of(word.strip()) or 0 for word in text.split(",")}
    if not all(SMALL <= size <= SIZE_MAX and size % 8 == 0 for size in sizes):
        valid = "multiples of 8 up to 64MiB, as 8, 4KiB or 4MiB"
        raise UserError(f"--sizes: {text!r} is not valid; give {valid}")
    return sorted(sizes)
