"""`--on-replica-loss stand-in`: siblings stand in for lost ranks, message by message."""

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "stand_in"
STEPS = 40
CALLS = (
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "iallreduce",
    "ialltoall",
    "ibarrier",
    "ibcast",
    "isend",
    "recv",
    "reduce",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "send",
    "sendrecv",
    "start",
    "startall",
    "wait",
    "waitall",
    "waitany",
)
Victim = tuple[int, int]
"""A plane and a rank."""


def expected(ranks: int, program: Path = PROGRAM) -> dict[int, str]:
    """What the ranks have at the end where nobody is lost."""
    ended = jobs.resprout_run(ranks, [program, str(STEPS)])
    assert ended.status == 0, str(ended)
    said = (line.split() for line in ended.out.splitlines())
    return {int(words[1]): words[3] for words in said}


def job(
    ranks: int, replicas: int, *options: str, program: Path = PROGRAM
) -> tuple[jobs.Ended, dict[Victim, str]]:
    """And what each process has at its end."""
    with tempfile.TemporaryDirectory(prefix="results-") as folder:
        ended = jobs.resprout_run(
            ranks,
            [program, str(STEPS), folder],
            ["--replicas", str(replicas), "--on-replica-loss", "stand-in", *options],
        )
        results = {}
        for path in Path(folder).iterdir():
            plane, rank = map(int, path.name.split("-"))
            results[plane, rank] = path.read_text()
    return ended, results


def check(
    ended: jobs.Ended, results: dict[Victim, str], right: dict[int, str], replicas: int
) -> set[Victim]:
    """All who live have what they should have, and the output is whole. Who was lost."""
    assert ended.status == 0, str(ended)
    lines = sorted(ended.out.splitlines())
    assert lines == sorted(f"rank {rank} has {value}" for rank, value in right.items()), str(ended)
    everybody = {(plane, rank) for plane in range(replicas) for rank in right}
    lost = {
        (number, loss["rank"])
        for number, plane in enumerate(ended.report["planes"])
        for loss in plane["losses"]
    }
    # Of a plane that has lost all of its ranks the report need not name each.
    lost |= {
        (number, rank)
        for number, plane in enumerate(ended.report["planes"])
        for rank in right
        if plane["how"] == "lost"
    }
    # Who was killed at its end may have said what it has.
    assert everybody - lost <= results.keys(), str(ended)
    assert all(value == right[who[1]] for who, value in results.items()), str(ended)
    return lost


def kill(plane: int, rank: int, at: str) -> list[str]:
    return ["--inject", f"kill:rank={rank},replica={plane},at={at}"]


def test_nothing_is_different_while_nobody_is_lost() -> None:
    ended, results = job(4, 2)
    assert check(ended, results, expected(4), 2) == set()
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "whole"]


def test_a_job_goes_on_though_each_plane_has_lost_somebody() -> None:
    options = kill(0, 1, "allreduce#30") + kill(1, 2, "bcast#50")
    ended, results = job(4, 2, *options)
    assert check(ended, results, expected(4), 2) == {(0, 1), (1, 2)}
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "gaps"]
    assert "rank 1 of plane 0 is lost (killed): its replica in plane 1 stands in" in ended.err


def test_of_three_replicas_any_two_of_each_rank_may_be_lost() -> None:
    options = [
        word
        for rank in range(3)
        for plane, call in ((rank, "alltoall#10"), ((rank + 1) % 3, "scatter#25"))
        for word in kill(plane, rank, call)
    ]
    ended, results = job(3, 3, *options)
    lost = check(ended, results, expected(3), 3)
    assert lost == {(rank, rank) for rank in range(3)} | {((r + 1) % 3, r) for r in range(3)}


def test_the_job_ends_when_no_replica_of_a_rank_is_left() -> None:
    ended, _ = job(3, 2, *kill(0, 1, "allreduce#20"), *kill(1, 1, "allreduce#40"))
    assert ended.status != 0, str(ended)
    assert "no replica" in ended.err, str(ended)


def random_victims(
    seed: int, ranks: int, replicas: int, calls: Sequence[str] = CALLS, most: int = STEPS
) -> list[str]:
    """So that somebody of every rank lives."""
    chosen = random.Random(seed)
    left = dict.fromkeys(range(ranks), replicas)
    victims: set[Victim] = set()
    options = []
    for _ in range(chosen.randint(1, ranks)):
        plane, rank = chosen.randrange(replicas), chosen.randrange(ranks)
        if left[rank] > 1 and (plane, rank) not in victims:
            left[rank] -= 1
            victims.add((plane, rank))
            options += kill(plane, rank, f"{chosen.choice(calls)}#{chosen.randint(1, most)}")
    return options


@pytest.mark.parametrize("seed", covering.a_share(range(12), of_one=4))
def test_whoever_is_lost_in_whatever_call_the_others_end_as_without(seed: int) -> None:
    ranks, replicas = 2 + seed % 5, 2 + seed % 2
    ended, results = job(ranks, replicas, *random_victims(seed, ranks, replicas))
    check(ended, results, expected(ranks), replicas)


def test_a_kernel_goes_on_though_each_plane_has_lost_somebody_in_it() -> None:
    program = [jobs.BUILD / "examples" / "kernels" / "lu", "W"]
    options = kill(0, 1, "recv#150") + kill(1, 2, "isend#400")
    ended = jobs.resprout_run(
        4, program, ["--replicas", "2", "--on-replica-loss", "stand-in", *options]
    )
    whole = jobs.resprout_run(4, program)
    assert [plane["how"] for plane in ended.report["planes"]] == ["gaps", "gaps"], str(ended)

    def without_time(out: str) -> list[str]:
        return [word for word in out.split() if not word.startswith("seconds=")]

    assert without_time(ended.out) == without_time(whole.out), str(ended)
    assert "verified" in ended.out, str(ended)
