"""Ranks of MPICH and Intel MPI are killed: entering a collective, or at any moment, also of their
MPI_Init's end and of MPI_Finalize.

Each run is a program of 600 collectives or exchanges of one kind, with a number of ranks, a
transport, and one to three victims, all drawn from its seed. Who is not a victim comes to the end
with right results. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import random
import sys
from functools import partial

import jobs
import other_mpis
import soak_kinds
from test_other_mpis_kills import KINDS as CALLS
from test_other_mpis_kills import ROUNDS, with_shim


def run(library: str, seed: int) -> int:
    draw = random.Random(f"{library} {seed}")
    ranks = draw.choice([2, 3, 4, 6])
    call = draw.choice(CALLS)
    victims = draw.sample(range(ranks), draw.randint(1, min(3, ranks - 1)))
    moments = [draw.choice([f"{call}#{draw.randint(1, ROUNDS)}", None]) for _ in victims]
    options = ["--transport", draw.choice(["shm", "tcp"]), "--on-unanswered", "ignore"]
    for victim, moment in zip(victims, moments, strict=True):
        options += ["--inject", f"kill:rank={victim},at={moment or f'{draw.random() * 0.4:.3f}s'}"]
    program = [other_mpis.program("collectives"), call, str(ROUNDS)]
    prefix = with_shim(library)
    ended = jobs.resprout_run(ranks, program, [*other_mpis.options(prefix), *options])
    # Whose moment was late may have come to the end, and may have been killed there.
    through = [f"rank {rank} ok" for rank in range(ranks) if rank not in victims]
    may_be_through = [f"rank {victim} ok" for victim in victims]
    lines = ended.out.splitlines()
    assert set(through) <= set(lines) <= {*through, *may_be_through}, str(ended)
    assert ended.lost <= {*victims}, str(ended)
    entered = {victim for victim, moment in zip(victims, moments, strict=True) if moment}
    assert entered <= ended.lost, str(ended)
    return len(ended.lost)


KINDS = {library: partial(run, library) for library in other_mpis.PREFIXES}

if __name__ == "__main__":
    sys.exit(soak_kinds.main(sys.argv[1:], __doc__, KINDS, 200, "ranks lost"))
