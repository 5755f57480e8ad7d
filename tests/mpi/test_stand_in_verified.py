"""`--on-replica-loss stand-in` with `--verify`: what living replicas say is compared."""

import covering
import jobs
import pytest
from test_stand_in import (
    Victim,
    check,
    expected,
    job,
    kill,
    random_victims,
)
from test_stand_in_anybody import run as anybody
from test_stand_in_neighbors import PROGRAM as NEIGHBORS

METHODS = ["msg-plus-hash", "async", "all-to-all", "async-hash"]
EAGER = ("all-to-all", "msg-plus-hash")
SOME = METHODS if covering.is_every_case_wanted() else METHODS[:2]
FLIPS = covering.with_every_value(METHODS, ("message=100", "collective=200"))


def verified(
    method: str, ranks: int, replicas: int, *options: str
) -> tuple[jobs.Ended, dict[Victim, str]]:
    return job(ranks, replicas, "--verify", method, *options)


def flip(plane: int, rank: int, which: str) -> list[str]:
    return ["--inject", f"flip:rank={rank},replica={plane},{which},bit=9"]


def planes_of_the_wrong(ended: jobs.Ended) -> set[int]:
    return {plane for found in ended.report["corruptions"] for plane in found["wrong_replicas"]}


@pytest.mark.parametrize("method", SOME)
def test_nothing_is_accused_while_nobody_is_lost(method: str) -> None:
    ended, results = verified(method, 3, 2)
    assert check(ended, results, expected(3), 2) == set()
    assert ended.report["corruptions"] == []
    done = ended.report["verification"]
    assert done["verified"] > 1000
    assert (done["unverified"], done["skipped"]) == (0, 0)


@pytest.mark.parametrize(("method", "replicas"), covering.with_every_value(METHODS, (2, 3)))
def test_ranks_are_lost_in_all_planes_and_nobody_is_accused(method: str, replicas: int) -> None:
    options = kill(0, 1, "allreduce#30") + kill(1, 2, "sendrecv#20")
    ended, results = verified(method, 3, replicas, *options)
    assert check(ended, results, expected(3), replicas) == {(0, 1), (1, 2)}
    assert ended.report["corruptions"] == []
    done = ended.report["verification"]
    assert done["verified"] > 1000
    assert done["unverified"] > 0  # of ranks of which one lives, or of what was stood in for


@pytest.mark.parametrize(("method", "which"), FLIPS)
def test_two_living_replicas_that_differ_are_found_beside_a_gap(method: str, which: str) -> None:
    ended, _ = verified(method, 3, 2, *kill(0, 1, "allreduce#10"), *flip(1, 2, which))
    assert ended.status == 4, str(ended)
    assert "nobody can tell which copy is right; the job ends" in ended.err, str(ended)


@pytest.mark.parametrize("method", SOME)
def test_what_only_one_replica_says_is_unverified_and_nobody_is_accused(method: str) -> None:
    options = [*kill(0, 1, "allreduce#10"), *flip(1, 1, "message=100")]
    ended, _ = verified(method, 3, 2, *options)
    assert ended.status == 0, str(ended)
    assert ended.report["corruptions"] == []
    assert ended.report["verification"]["unverified"] > 0


@pytest.mark.parametrize(("method", "which"), FLIPS)
def test_one_of_three_living_is_put_right_beside_gaps(method: str, which: str) -> None:
    options = [*kill(0, 1, "allreduce#10"), *kill(1, 1, "bcast#20"), *flip(2, 2, which)]
    ended, results = verified(method, 3, 3, *options)
    check(ended, results, expected(3), 3)
    assert planes_of_the_wrong(ended) == {2}, str(ended)
    if method in EAGER or which.startswith("collective"):
        assert all(found["replaced"] for found in ended.report["corruptions"]), str(ended)


# It may be known by then that the message is wrong.
def test_who_has_worked_with_wrong_data_ends_alone_and_is_stood_in_for() -> None:
    ended, results = verified("async-hash", 3, 3, *flip(1, 1, "message=150"))
    lost = check(ended, results, expected(3), 3)
    assert planes_of_the_wrong(ended) == {1}, str(ended)
    tainted = {found["rank"] for found in ended.report["corruptions"] if found["tainted"]}
    assert lost == {(1, rank) for rank in tainted}, str(ended)
    assert "excluded" not in [plane["how"] for plane in ended.report["planes"]]


@pytest.mark.parametrize("method", SOME)
def test_two_of_three_that_differ_are_found(method: str) -> None:
    options = [*kill(0, 2, "allreduce#10"), *flip(1, 2, "message=100")]
    ended, _ = verified(method, 3, 3, *options)
    assert ended.status == 4, str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(16), of_one=8))
def test_whoever_is_lost_in_whatever_call_the_others_end_as_without(seed: int) -> None:
    ranks, replicas = 2 + seed % 4, 2 + seed // 2 % 2
    victims = random_victims(seed, ranks, replicas)
    ended, results = verified(METHODS[seed % 4], ranks, replicas, *victims)
    check(ended, results, expected(ranks), replicas)
    assert ended.report["corruptions"] == [], str(ended)


@pytest.mark.parametrize("method", SOME)
def test_neighbors_are_verified_beside_gaps(method: str) -> None:
    options = [*kill(0, 1, "neighbor_alltoall#5"), *kill(1, 0, "neighbor_alltoall#9")]
    ended, results = job(4, 2, "--verify", method, *options, program=NEIGHBORS)
    assert check(ended, results, expected(4, NEIGHBORS), 2) == {(0, 1), (1, 0)}
    assert ended.report["corruptions"] == []


@pytest.mark.parametrize("method", SOME)
def test_receives_from_anybody_are_verified_beside_gaps(method: str) -> None:
    options = ["--verify", method, *kill(0, 2, "allreduce#1"), *kill(1, 1, "iprobe#1")]
    ended = anybody(3, 2, *options)
    assert ended.report["corruptions"] == []
