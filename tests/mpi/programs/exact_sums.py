"""Reproducible sums, compared with exact arithmetic.

python exact_sums.py

All but rank 0 die one after the other, at any moment. Each result has to be that of the numbers of
those whom Resprout names, to the last bit: what docs/how-to/sum.md says of it is worked out here
with fractions. Says how many numbers were compared, or what is wrong.
"""

import os
import random
import signal
import sys
import threading
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from mpi4py import MPI
from resprout.mpi import contributors

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.Get_rank(), WORLD.Get_size()
COUNT = 61
# Exponents of what is summed: near each other, of all sizes, and below the smallest normal one.
RANGES = {
    np.float32: [(-60, 60), (-150, 127), (-150, -90)],
    np.float64: [(-60, 60), (-1075, 1023), (-1075, -1000)],
    np.longdouble: [(-60, 60), (-16445, 16383), (-16445, -16380)],
}
DIGITS = {np.float32: 24, np.float64: 53, np.longdouble: 64}
TYPES = {np.float32: MPI.FLOAT, np.float64: MPI.DOUBLE, np.longdouble: MPI.LONG_DOUBLE}


def numbers(rank: int, step: int, kind: Any) -> np.ndarray:
    dice = np.random.default_rng([rank, step])
    if step % 4 == 3:
        limits = np.finfo(kind)
        special = [0.0, -0.0, 1, limits.max, -limits.max, limits.tiny, limits.smallest_subnormal]
        odd = [np.inf, -np.inf, np.nan]
        values = np.array([*special, *odd], dtype=kind)
        return values[dice.choice(10, COUNT, p=[0.13] * 7 + [0.03] * 3)]
    low, high = RANGES[kind][step % 4]
    return np.ldexp((2 * dice.random(COUNT) - 1).astype(kind), dice.integers(low, high, COUNT))


def log2(number: Fraction) -> int:
    """Of what is a whole number times a power of two: rounded down."""
    n, d = abs(number).numerator, abs(number).denominator
    guess = n.bit_length() - d.bit_length()
    return guess if Fraction(2) ** guess <= abs(number) else guess - 1


def nearest(number: Fraction, kind: Any) -> Any:
    least = {np.float32: -149, np.float64: -1074, np.longdouble: -16445}[kind]
    unit = max(log2(number) - DIGITS[kind] + 1, least)
    scaled = abs(number) / Fraction(2) ** unit
    whole = round(scaled)  # to even
    halves = np.ldexp(kind(whole >> 32), 32) + kind(whole & 0xFFFFFFFF)
    with np.errstate(all="ignore"):
        return np.ldexp(halves, unit) * kind(-1 if number < 0 else 1)


def exact(summands: Sequence[Any], kind: Any) -> Any:
    odd = {float(one) for one in summands if np.isinf(one)}
    if any(np.isnan(one) for one in summands) or len(odd) > 1:
        return kind("nan")
    if odd:
        return kind(odd.pop())
    fractions = [Fraction(*one.as_integer_ratio()) for one in summands if one != 0]
    if not fractions:
        return kind(0)
    unit = Fraction(2) ** (32 * (max(log2(one) // 32 for one in fractions) - 2))
    total = sum(int(one / unit) for one in fractions) * unit  # each cut off towards zero
    return nearest(total, kind) if total else kind(0)


def reduced(mine: np.ndarray, datatype: MPI.Datatype, step: int) -> np.ndarray | None:
    """In some form; nothing if this rank gets nothing."""
    result = mine.copy()
    into = [result, datatype]
    form = step % 5
    if form == 0:
        WORLD.Allreduce([mine, datatype], into)
    elif form == 1:
        WORLD.Allreduce(MPI.IN_PLACE, into)
    elif form == 2:
        WORLD.Iallreduce([mine, datatype], into).Wait()
    elif form == 3:
        WORLD.Reduce([mine, datatype], into, root=0)
    else:
        request = WORLD.Allreduce_init([mine, datatype], into)
        request.Start()
        request.Wait()
        request.Free()
    return None if form == 3 and RANK != 0 else result


def check(result: np.ndarray, step: int, kind: Any) -> None:
    group = contributors(WORLD)
    who = group.Translate_ranks(list(range(group.Get_size())), WORLD.Get_group())
    given = [numbers(rank, step, kind) for rank in who]
    for i, got in enumerate(result):
        wanted = exact([one[i] for one in given], kind)
        # The last bytes of a long double are nothing.
        same = got.tobytes()[:10] == wanted.tobytes()[:10]
        if not same and not (np.isnan(got) and np.isnan(wanted)):
            sys.exit(f"{RANK}: step {step} of {kind.__name__} by {who}: {got!r}, not {wanted!r}")


def main() -> None:
    if RANK:
        seconds = random.Random(RANK).random() * 0.02
        end = threading.Timer(0.1 * RANK + seconds, os.kill, [os.getpid(), signal.SIGKILL])
        end.start()
    compared, step = 0, 0
    while step < 20 or contributors(WORLD).Get_size() > 1:
        kind = list(TYPES)[step % 3]
        result = reduced(numbers(RANK, step, kind), TYPES[kind], step)
        if result is not None:
            check(result, step, kind)
            compared += COUNT
        WORLD.Barrier()
        step += 1
    print(f"{RANK}: {compared} numbers compared", flush=True)


main()
