"""`resprout run --verify` and collectives that one call starts and another one completes."""

import sys
from collections.abc import Sequence
from typing import Any

import covering
import jobs
import pytest

METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]
RANKS = 3
ROUNDS = 4
# 13 collectives a round, of which both sides are compared.
COMPARED = 26 * ROUNDS * RANKS

START = """
from mpi4py import MPI; import os; import array
world = MPI.COMM_WORLD
def mine(wrong):
    value = [world.rank, 7]
    if wrong and os.environ['RESPROUT_REPLICA'] == '1' and world.rank == 2: value[0] += 4
    return array.array('i', value)
out = array.array('i', [0, 0])
"""
# The second one of each is corrupted. Buffers live as long as their requests.
STARTED = {
    "iallreduce": """
for number in (1, 2):
    data = mine(number == 2)
    request = world.Iallreduce(data, out)
    request.Wait()
""",
    "ibcast": """
for number in (1, 2):
    data = mine(number == 2)
    request = world.Ibcast(data, root=2)
    while not request.Test(): pass
""",
    "ialltoall": """
given = [mine(number == 2) + array.array('i', [1]) for number in (1, 2)]
got = [array.array('i', [0, 0, 0]) for number in (1, 2)]
MPI.Request.Waitall([world.Ialltoall(given[i], got[i]) for i in (0, 1)])
""",
    "allreduce_init": """
data = mine(False)
request = world.Allreduce_init(data, out)
for number in (1, 2):
    data[:] = mine(number == 2)
    request.Start()
    MPI.Request.Waitany([request])
request.Free()
""",
}


def run(replicas: int, method: str, program: Sequence[object], *options: str) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    return jobs.resprout_run(RANKS, [str(word) for word in program], chosen)


# What becomes of the plane of three that gives something else.
OF_THE_WRONG = {"msg-plus-hash": "whole", "async-hash": "excluded"}


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def corruptions(ended: jobs.Ended) -> list[dict[str, Any]]:
    return list(ended.report["corruptions"])


@pytest.mark.parametrize(
    ("form", "replicas", "method"),
    covering.with_every_value(["nonblocking", "persistent"], [2, 3], METHODS),
)
def test_every_collective_that_is_started_is_verified(
    form: str, replicas: int, method: str
) -> None:
    program = [jobs.PROGRAMS / f"equality_blocks_{form}", ROUNDS]
    ended = run(replicas, method, program)
    assert ended.status == 0, str(ended)
    assert ended.out == f"{ROUNDS} rounds\n"
    assert how(ended) == ["whole"] * replicas
    assert corruptions(ended) == []
    done = ended.report["verification"]
    assert done["verified"] == replicas * COMPARED, str(ended)
    assert (done["unverified"], done["skipped"]) == (0, 0)


@pytest.mark.parametrize(("call", "method"), covering.with_every_value([*STARTED], [*OF_THE_WRONG]))
def test_what_only_one_replica_gives_to_a_started_collective_is_found(
    method: str, call: str
) -> None:
    program = [sys.executable, "-c", START + STARTED[call]]
    two = run(2, method, program)
    assert two.status == 4, str(two)
    three = run(3, method, program)
    assert three.status == 0, str(three)
    of_the_wrong = OF_THE_WRONG[method]
    assert how(three) == ["whole", of_the_wrong, "whole"], str(three)
    found = corruptions(three)
    assert all(one["wrong_replicas"] == [1] for one in found), str(three)
    given = {(one["sender"], one["call"], one["number"]) for one in found if one["sender"] == 2}
    if of_the_wrong == "whole":  # it was replaced before anything came of it
        assert given == {(2, call, 2)}, str(three)
        assert {one["of"] for one in found} == {"contribution"}, str(three)
    else:  # the plane may end by what came of it before it has said what it has given
        assert {(one["call"], one["number"]) for one in found} == {(call, 2)}, str(three)


@pytest.mark.parametrize(("fault", "method"), covering.with_every_value(["kill", "stop"], METHODS))
def test_hundreds_under_way_are_verified_though_a_plane_is_lost(method: str, fault: str) -> None:
    lost = f"{fault}:rank=1,replica=0,at=iallreduce#100"
    ended = run(3, method, [jobs.PROGRAMS / "under_way", "many"], "--inject", lost)
    assert ended.status == 0, str(ended)
    assert ended.out == "many\n", str(ended)
    assert how(ended) == ["lost", "whole", "whole"]
    assert corruptions(ended) == []
    assert ended.report["verification"]["unverified"] == 0
