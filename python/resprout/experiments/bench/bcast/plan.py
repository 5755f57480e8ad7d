"""What is measured: jobs, sizes, repetitions. All of the user's numbers are checked here."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from resprout.errors import UserError
from resprout.experiments.bench.bcast.variants import NATIVE, Variant, choose

RANKS_MAX = 1024
BYTES_MAX = 1 << 30
JOBS_MAX = 1_000
REPETITIONS_MAX = 10_000
CALLS_MAX = 10_000
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True)
class Request:
    """What the user asks for, as text."""

    ranks: str
    sizes: str
    dead: str
    variants: str | None
    specs: list[str]
    jobs: int
    repetitions: int
    calls: int
    seed: int


@dataclass(frozen=True)
class Job:
    """So many ranks, of which the victims are killed before anything is measured."""

    ranks: int
    victims: tuple[int, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class Measurement:
    jobs: tuple[Job, ...]
    sizes: tuple[int, ...]
    times: int
    """How often each job is run."""
    repetitions: int
    calls: int
    seed: int

    @property
    def rounds(self) -> int:
        """Of all jobs together."""
        return len(self.jobs) * self.times * len(self.sizes) * self.repetitions

    @property
    def work(self) -> int:
        """Of all jobs together, as `work_of` counts it."""
        of_one_job = sum(map(work_of, self.sizes)) * self.repetitions
        return len(self.jobs) * self.times * of_one_job


def make_measurement(request: Request) -> Measurement:
    """Everything that can be wrong is found here, in one line."""
    ranks = _numbers("--ranks", request.ranks, _count, f"2 to {RANKS_MAX}", 2, RANKS_MAX)
    dead = _numbers("--dead", request.dead, _count, f"0 to {RANKS_MAX}", 0, RANKS_MAX)
    sizes = _numbers(
        "--sizes", request.sizes, size_of, "1 to 1GiB, as 8, 64KiB or 4MiB", 1, BYTES_MAX
    )
    for flag, value, most in (
        ("--jobs", request.jobs, JOBS_MAX),
        ("--repetitions", request.repetitions, REPETITIONS_MAX),
        ("--calls", request.calls, CALLS_MAX),
    ):
        if not 1 <= value <= most:
            raise UserError(f"{flag}: {value} is not valid; give 1 to {most}")
    if max(dead) > min(ranks) - 2:
        raise UserError(
            f"--dead: {max(dead)} of {min(ranks)} ranks is too many: two have to be left; "
            f"give 0 to {min(ranks) - 2}"
        )
    variants = choose(request.variants, request.specs)
    jobs = [_job(procs, lost, variants) for procs in ranks for lost in dead]
    return Measurement(
        tuple(jobs), sizes, request.jobs, request.repetitions, request.calls, request.seed
    )


def _job(ranks: int, dead: int, variants: list[Variant]) -> Job:
    # The MPI library's own broadcast does not survive a loss.
    able = [variant for variant in variants if dead == 0 or variant.name != NATIVE]
    # Spread over the ring. The first is the root's first child, above half of all ranks.
    victims = tuple(1 + i * (ranks - 1) // dead for i in range(dead))
    return Job(ranks, victims, tuple(able))


def _numbers(
    flag: str, text: str, parse: Callable[[str], int | None], valid: str, least: int, most: int
) -> tuple[int, ...]:
    """Each once, ascending."""
    numbers = set()
    for word in text.split(","):
        number = parse(word.strip())
        if number is None or not least <= number <= most:
            raise UserError(f"{flag}: {word!r} is not valid; give {valid}, with commas in between")
        numbers.add(number)
    return tuple(sorted(numbers))


def _count(word: str) -> int | None:
    return int(word) if re.fullmatch(r"[0-9]{1,6}", word) else None


def size_of(word: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,10}) ?(B|KiB|MiB|GiB|)", word)
    return int(match[1]) * _UNITS[match[2]] if match else None


def work_of(size: int) -> int:
    """About as many microseconds as a broadcast and a barrier of eight ranks take."""
    return 40 + size // 3000


def size_text(size: int) -> str:
    """`size` for people."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
