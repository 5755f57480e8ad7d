"""Siblings stand in for lost ranks in programs that make communicators."""

import covering
import jobs
import pytest
from test_stand_in import check, expected, job, kill, random_victims

PROGRAM = jobs.PROGRAMS / "stand_in_made"
MAKING = (
    "cart_create",
    "cart_sub",
    "comm_create",
    "comm_create_group",
    "comm_dup",
    "comm_split",
    "comm_split_type",
)
USING = ("allreduce", "alltoall", "bcast", "irecv", "isend", "recv", "sendrecv", "startall", "wait")


def run(ranks: int, replicas: int, *options: str) -> jobs.Ended:
    """All who live have been in the same communicators, and said the same there."""
    ended, results = job(ranks, replicas, *options, program=PROGRAM)
    check(ended, results, expected(ranks, PROGRAM), replicas)
    # Nobody has ended because others could not stand in for what it does.
    assert " ends: " not in ended.err, str(ended)
    return ended


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def test_communicators_are_the_same_while_nobody_is_lost() -> None:
    assert how(run(4, 2)) == ["whole", "whole"]


@pytest.mark.parametrize("call", MAKING)
def test_who_is_lost_as_a_communicator_is_made_is_in_it_by_its_siblings(call: str) -> None:
    assert how(run(4, 2, *kill(0, 1, f"{call}#1"))) == ["gaps", "whole"]


def test_where_no_plane_is_whole_all_that_is_made_has_the_same_members_everywhere() -> None:
    ended = run(5, 2, *kill(0, 1, "comm_split#2"), *kill(1, 3, "comm_dup#1"))
    assert how(ended) == ["gaps", "gaps"], str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(10), of_one=4))
def test_whoever_is_lost_communicators_are_made_used_and_freed(seed: int) -> None:
    ranks, replicas = 2 + seed % 5, 2 + seed % 2
    calls, most = (MAKING, 8) if seed % 2 == 0 else (USING, 60)
    run(ranks, replicas, *random_victims(seed, ranks, replicas, calls, most))
