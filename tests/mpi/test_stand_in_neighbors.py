"""Siblings stand in for lost ranks in neighborhood collectives, and in making graphs for them."""

import covering
import jobs
import pytest
from test_stand_in import check, expected, job, kill, random_victims

PROGRAM = jobs.PROGRAMS / "stand_in_neighbors"
CALLS = (
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "ineighbor_allgather",
    "ineighbor_allgatherv",
    "ineighbor_alltoall",
    "ineighbor_alltoallv",
    "ineighbor_alltoallw",
    "neighbor_alltoallw_init",
)

MAKING = (
    "comm_dup",
    "comm_idup",
    "dist_graph_create",
    "dist_graph_create_adjacent",
    "graph_create",
)


def run(ranks: int, replicas: int, *options: str) -> jobs.Ended:
    """All who live have got from their neighbors what they get without a loss."""
    ended, results = job(ranks, replicas, *options, program=PROGRAM)
    check(ended, results, expected(ranks, PROGRAM), replicas)
    assert " ends: " not in ended.err, str(ended)
    return ended


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


@pytest.mark.parametrize("ranks", [2, 4, 5])
def test_neighbors_give_the_same_while_nobody_is_lost(ranks: int) -> None:
    assert how(run(ranks, 2)) == ["whole", "whole"]


@pytest.mark.parametrize("call", CALLS)
def test_who_is_lost_in_a_neighborhood_collective_gives_by_its_siblings(call: str) -> None:
    assert how(run(4, 2, *kill(0, 1, f"{call}#7"))) == ["gaps", "whole"]


@pytest.mark.parametrize(("call", "number"), covering.with_every_value(MAKING, [1, 2]))
def test_who_is_lost_as_a_graph_is_made_is_in_it_by_its_siblings(call: str, number: int) -> None:
    assert how(run(4, 2, *kill(0, 1, f"{call}#{number}"))) == ["gaps", "whole"]


def test_neighbors_are_stood_in_for_where_no_plane_is_whole() -> None:
    ended = run(6, 2, *kill(0, 1, "neighbor_alltoall#5"), *kill(1, 2, "ineighbor_alltoallv#9"))
    assert how(ended) == ["gaps", "gaps"], str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(10), of_one=4))
def test_whoever_is_lost_neighbors_get_what_they_should(seed: int) -> None:
    ranks, replicas = 2 + seed % 5, 2 + seed % 2
    calls, most = ((CALLS, 30), (("recv", "start", "wait", "send"), 60), (MAKING, 3))[seed % 3]
    run(ranks, replicas, *random_victims(seed, ranks, replicas, calls, most))
