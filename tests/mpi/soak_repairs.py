"""Programs that repair their communicators, or make them and windows after losses, over and over.

Each run is one of the examples of ULFM's use, or the loop of shrinking and going on, with ranks
killed at any moment; or a random program that makes, uses and frees communicators, with ranks
killed as they enter a call. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import sys
from collections.abc import Callable

import soak_kinds
import test_fences
from kills import kills_at_any_moment
from test_derived import killed_while_making, killed_while_making_several
from test_repair import CARRIERS, repaired
from test_ulfm_examples import RESULTS, survivors


def example(name: str) -> Callable[[int], int]:
    def run(seed: int) -> int:
        ranks = 3 + seed % 8
        victims = kills_at_any_moment(seed, min(1 + seed % 3, ranks - 1), ranks, 0.5)
        left, ended = survivors(name, ranks, victims)
        assert left >= ranks - len(ended.lost), str(ended)
        return len(ended.lost)

    return run


def loop(seed: int) -> int:
    ranks = 2 + seed % 9
    victims = kills_at_any_moment(seed, min(1 + seed % 3, ranks - 1), ranks, 0.5)
    return len(repaired(ranks, victims, CARRIERS[seed % len(CARRIERS)]).lost)


KINDS: dict[str, Callable[[int], int]] = {
    **{f"examples/ulfm/{name}": example(name) for name in RESULTS},
    "repair": loop,
    "communicators": lambda seed: len(killed_while_making(seed, 2 + seed % 15).lost),
    "several at once": lambda seed: len(killed_while_making_several(seed, "several").lost),
    "fences": lambda seed: len(test_fences.killed_at_any_moment(seed).lost),
    "making windows": lambda seed: len(test_fences.killed_while_making(seed).lost),
    "in threads": lambda seed: len(killed_while_making_several(seed, "threads").lost),
}


if __name__ == "__main__":
    sys.exit(soak_kinds.main(sys.argv[1:], __doc__, KINDS, 100, "ranks lost"))
