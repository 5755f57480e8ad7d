"""Estimates pi with random points, in rounds: a plain mpi4py program, the twin of pi.c.

python pi.py [ROUNDS [POINTS]]     rounds, and points a process draws in each
"""

import math
import random
import sys
from array import array

from mpi4py import MPI


def count_hits(points: int, generator: random.Random) -> int:
    """How many of so many random points of the unit square lie in the quarter circle."""
    draw = generator.random
    return sum(1 for _ in range(points) if draw() ** 2 + draw() ** 2 < 1.0)


def main() -> None:
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000

    generator = random.Random(rank)
    total_hits = total_points = 0
    for _ in range(rounds):
        mine = array("q", [count_hits(points, generator), points])
        both = array("q", [0, 0])
        world.Allreduce(mine, both, op=MPI.SUM)
        total_hits += both[0]
        total_points += both[1]

    # The lowest rank of those who take part speaks for all.
    speaker = array("i", [rank])
    world.Allreduce(MPI.IN_PLACE, speaker, op=MPI.MIN)
    if rank == speaker[0]:
        share = total_hits / total_points
        error = 4 * math.sqrt(share * (1 - share) / total_points)
        print(
            f"pi is about {4 * share:.6f} +- {error:.6f} ({total_points} points, says rank {rank})"
        )


if __name__ == "__main__":
    main()
