"""Embarrassingly parallel: the twin of ep.c in mpi4py, which counts the same and has its digest.

python ep.py [CLASS [ITERATIONS]]     2^14, 2^18 or 2^22 points in an iteration
"""

import math
import sys
import time
from array import array
from collections.abc import Iterable

from mpi4py import MPI

CLASSES = "SWA"
RINGS = 8
# The fields of a count: points drawn and accepted, sums of both numbers in fixed point, rings.
DRAWN, ACCEPTED, SUM_X, SUM_Y, FIRST_RING = range(5)
FIELDS = FIRST_RING + RINGS
UNIT = float(1 << 20)
MASK = (1 << 64) - 1


def scramble(x: int) -> int:
    """64 bits from a number, as kernel_hash in kernel.h."""
    x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 31)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 29)


def uniform(x: int) -> float:
    """In [0, 1)."""
    return (scramble(scramble(x)) >> 11) * 2.0**-53


def to_fixed(x: float) -> int:
    """The nearest multiple of 1 / UNIT, halves away from 0."""
    return int(math.copysign(math.floor(abs(x) * UNIT + 0.5), x))


def count_points(points: Iterable[int]) -> "array[int]":
    """What these points add to each field."""
    count = array("q", [0] * FIELDS)
    for i in points:
        x = 2.0 * uniform(2 * i) - 1.0
        y = 2.0 * uniform(2 * i + 1) - 1.0
        t = x * x + y * y
        count[DRAWN] += 1
        if t > 1.0 or t == 0.0:
            continue
        f = math.sqrt(-2.0 * math.log(t) / t)
        count[ACCEPTED] += 1
        count[SUM_X] += to_fixed(x * f)
        count[SUM_Y] += to_fixed(y * f)
        count[FIRST_RING + min(int(max(abs(x * f), abs(y * f))), RINGS - 1)] += 1
    return count


def is_likely(seen: float, tries: float, probability: float) -> bool:
    """Whether that is what a probability lets expect: within 6 standard deviations."""
    deviation = math.sqrt(tries * probability * (1.0 - probability)) + 1.0
    return abs(seen - tries * probability) < 6.0 * deviation


def verify(total: "array[int]") -> bool:
    accepted = total[ACCEPTED]
    far = (6.0 * math.sqrt(accepted) + 1.0) * UNIT
    # Both numbers of a pair are below r with probability erf(r / sqrt 2)^2.
    within = [math.erf(ring / math.sqrt(2.0)) ** 2 for ring in range(RINGS)] + [1.0]
    return (
        total[DRAWN] > 0
        and is_likely(accepted, total[DRAWN], math.pi / 4.0)
        and sum(total[FIRST_RING:]) == accepted
        and abs(total[SUM_X]) < far
        and abs(total[SUM_Y]) < far
        and all(
            is_likely(total[FIRST_RING + ring], accepted, within[ring + 1] - within[ring])
            for ring in range(RINGS)
        )
    )


def main() -> int:
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    name = sys.argv[1] if len(sys.argv) > 1 else "S"
    number = sys.argv[2] if len(sys.argv) > 2 else "10"
    is_number = number.isdecimal() and 1 <= int(number) <= 1_000_000
    if len(name) != 1 or name not in CLASSES or not is_number or len(sys.argv) > 3:
        if rank == 0:
            wrong = "ep: arguments are [CLASS [ITERATIONS]]: one of S, W, A, and 1 to 1000000"
            print(wrong, file=sys.stderr)
        return 2
    points = 1 << (14 + 4 * CLASSES.index(name))
    mine = range(points * rank // size, points * (rank + 1) // size)
    began = time.monotonic()
    total = array("q", [0] * FIELDS)
    for iteration in range(int(number)):
        counted = array("q", [0] * FIELDS)
        world.Allreduce(count_points(iteration * points + i for i in mine), counted)
        for field, value in enumerate(counted):
            total[field] += value
    digest = sum(scramble(scramble(i) ^ (value & MASK)) for i, value in enumerate(total)) & MASK
    is_right = verify(total)

    # The lowest rank of those who take part speaks for all.
    speaker = array("i", [rank])
    world.Allreduce(MPI.IN_PLACE, speaker, op=MPI.MIN)
    if rank == speaker[0]:
        seconds = time.monotonic() - began
        print(
            f"ep class={name} ranks={size} iterations={number} result={total[ACCEPTED]} "
            f"digest={digest:016x} seconds={seconds:.3f} "
            + ("verified" if is_right else "VERIFICATION FAILED")
        )
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
