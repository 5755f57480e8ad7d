"""Replicated programs whose ranks are killed in any plane while siblings stand in for them.

Each run is a program, a method by which replicas are compared or none, and the deaths of some of
its processes, in calls or at any moment, drawn from its seed; somebody of every rank lives. All who
live have to end with what they have where nobody is lost, and nobody may be accused. `make soak`
runs it; --runs 1 --first SEED makes one run again.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import jobs
import soak_kinds
import test_fences
import test_stand_in
import test_stand_in_anybody
import test_stand_in_files
import test_stand_in_made
import test_stand_in_neighbors

KERNELS = jobs.BUILD / "examples" / "kernels"
METHODS = ("none", "all-to-all", "async", "msg-plus-hash", "async-hash")


def verify(seed: int) -> list[str]:
    return ["--verify", METHODS[seed // 2 % len(METHODS)]]


def lost_in(ended: jobs.Ended) -> int:
    """How many processes. Nobody is accused: nothing was corrupted."""
    assert ended.report["corruptions"] == [], str(ended)
    return sum(len(plane["losses"]) for plane in ended.report["planes"])


def in_calls(seed: int) -> int:
    ranks, replicas = 2 + seed % 7, 2 + seed % 2
    victims = test_stand_in.random_victims(seed, ranks, replicas)
    ended, results = test_stand_in.job(ranks, replicas, *verify(seed), *victims)
    test_stand_in.check(ended, results, test_stand_in.expected(ranks), replicas)
    return lost_in(ended)


def by_the_clock(seed: int, ranks: int, replicas: int) -> list[str]:
    """Before 0.5 s, so that somebody of every rank lives."""
    chosen = random.Random(seed)
    return [
        word
        for rank in range(ranks)
        for plane in chosen.sample(range(replicas), chosen.randrange(replicas))
        for word in test_stand_in.kill(plane, rank, f"{chosen.uniform(0.1, 0.5):.4f}s")
    ]


def in_calls_or_by_the_clock(
    seed: int, ranks: int, replicas: int, calls: Sequence[str], most: int
) -> list[str]:
    """In one of the first `most` of such calls in every other run, in the others by the clock."""
    if seed % 2 == 0:
        return test_stand_in.random_victims(seed, ranks, replicas, calls, most)
    return by_the_clock(seed, ranks, replicas)


def at_any_moment(seed: int) -> int:
    ranks, replicas = 2 + seed % 7, 2 + seed % 2
    victims = by_the_clock(seed, ranks, replicas)
    ended, results = test_stand_in.job(ranks, replicas, *verify(seed), *victims)
    test_stand_in.check(ended, results, test_stand_in.expected(ranks), replicas)
    return lost_in(ended)


def from_anybody(seed: int) -> int:
    ranks, replicas = 2 + seed % 5, 2 + seed % 2
    victims = test_stand_in_anybody.victims(seed, ranks, replicas, 60)
    return lost_in(test_stand_in_anybody.run(ranks, replicas, *verify(seed), *victims, steps=60))


def making_communicators(seed: int) -> int:
    """Killed in the calls that make them in every other run, in the others by the clock."""
    ranks, replicas = 2 + seed % 7, 2 + seed % 2
    victims = in_calls_or_by_the_clock(seed, ranks, replicas, test_stand_in_made.MAKING, 8)
    return lost_in(test_stand_in_made.run(ranks, replicas, *verify(seed), *victims))


def among_neighbors(seed: int) -> int:
    """Killed in neighborhood collectives in every other run, in the others by the clock."""
    ranks, replicas = 2 + seed % 7, 2 + seed % 2
    victims = in_calls_or_by_the_clock(seed, ranks, replicas, test_stand_in_neighbors.CALLS, 30)
    return lost_in(test_stand_in_neighbors.run(ranks, replicas, *verify(seed), *victims))


def writing_files(seed: int) -> int:
    """Killed in calls on files in every other run, in the others by the clock."""
    ranks, replicas = 2 + seed % 5, 2 + seed % 2
    victims = in_calls_or_by_the_clock(seed, ranks, replicas, test_stand_in_files.CALLS, 12)
    with tempfile.TemporaryDirectory() as folder:
        return lost_in(
            test_stand_in_files.in_all_forms(
                seed, ranks, replicas, Path(folder), *verify(seed), *victims
            )
        )


def at_fences(seed: int) -> int:
    return lost_in(test_fences.stood_in_for_at_any_moment(seed, *verify(seed)))


def making_windows(seed: int) -> int:
    return lost_in(test_fences.stood_in_for_while_making(seed))


def kernel(name: str) -> Callable[[int], int]:
    """That it verifies itself; and its last line but for the time it took."""
    iterations = {"lu": ["300"]}  # others take long enough

    def words_of(ended: jobs.Ended) -> list[str]:
        assert ended.status == 0, str(ended)
        words = ended.out.split()
        assert "verified" in words, str(ended)
        return [word for word in words if not word.startswith("seconds=")]

    def run(seed: int) -> int:
        chosen = random.Random(seed)
        program = [KERNELS / name, "W", *iterations.get(name, [])]
        victims = [
            word
            for rank in chosen.sample(range(4), chosen.randint(1, 4))
            for word in test_stand_in.kill(
                chosen.randrange(2), rank, f"{chosen.uniform(0.1, 0.4):.4f}s"
            )
        ]
        options = ["--replicas", "2", "--on-replica-loss", "stand-in", *verify(seed), *victims]
        ended = jobs.resprout_run(4, program, options)
        assert words_of(ended) == words_of(jobs.resprout_run(4, program)), str(ended)
        return lost_in(ended)

    return run


KINDS: dict[str, Callable[[int], int]] = {
    "in calls": in_calls,
    "at any moment": at_any_moment,
    "from anybody": from_anybody,
    "making communicators": making_communicators,
    "among neighbors": among_neighbors,
    "writing files": writing_files,
    "at fences": at_fences,
    "making windows": making_windows,
    **{f"kernel {name}": kernel(name) for name in ("cg", "ft", "is", "lu", "mg")},
}


if __name__ == "__main__":
    sys.exit(soak_kinds.main(sys.argv[1:], __doc__, KINDS, 50, "processes lost"))
