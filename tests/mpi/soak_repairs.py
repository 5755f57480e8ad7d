"""Programs that repair their communicators, or make them and windows after losses, over and over.

Each run is one of the examples of ULFM's use, or the loop of shrinking and going on, with ranks
killed at any moment; or a random program that makes, uses and frees communicators, with ranks
killed as they enter a call. `make soak` runs it; --runs 1 --first SEED makes one run again.
"""

import argparse
import sys
import time
from collections.abc import Callable

import pytest
import test_fences
from kills import kills_at_any_moment
from resprout.progress import progress_bar
from test_remade import killed_while_making, killed_while_making_several
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


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="of each kind")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="these alone")
    parser.add_argument("--first", type=int, default=1, help="the first run's seed")
    options = parser.parse_args(words)
    failed = 0
    for kind in options.kind or KINDS:
        run, began, lost = KINDS[kind], time.monotonic(), 0
        with progress_bar(work=options.runs, things=options.runs, name=f"runs of {kind}") as shown:
            for seed in range(options.first, options.first + options.runs):
                try:
                    lost += run(seed)
                except (AssertionError, pytest.fail.Exception) as error:
                    failed += 1
                    print(f"{kind} with seed {seed}: {error}", file=sys.stderr)
                shown.advance(1, 1)
        seconds = time.monotonic() - began
        print(f"{kind}: {options.runs} runs, {lost} ranks lost, {seconds:.0f} s")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
