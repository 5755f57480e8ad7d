"""`resprout run --verify` where planes do not do the same: one makes calls that others do not."""

import sys

import jobs
import pytest
from covering import with_every_value

LAZY = ["async", "async-hash"]
METHODS = ["all-to-all", "msg-plus-hash", *LAZY]
_PROGRAM = """
from mpi4py import MPI
import array, os, sys
world = MPI.COMM_WORLD
what, odd = sys.argv[1], os.environ["RESPROUT_REPLICA"] == sys.argv[2]
right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
sums = array.array("i", [0])
world.Allreduce(array.array("i", [1]), sums)
if what == "more" and odd or what == "fewer" and not odd:
    world.Allreduce(array.array("i", [2]), sums)
if what == "message" and odd:
    world.Sendrecv(array.array("i", [3]), right, 5, sums, left, 5)
if what == "another":
    tag = 6 if odd else 5
    world.Sendrecv(array.array("i", [3]), right, tag, sums, left, tag)
"""


def run(replicas: int, method: str, what: str, odd: int, *options: str) -> jobs.Ended:
    words = ["--replicas", str(replicas), "--verify", method, *options]
    return jobs.resprout_run(3, [sys.executable, "-c", _PROGRAM, what, str(odd)], words)


# With an eager method both wait in their calls for the other's message, if each has one.
@pytest.mark.parametrize(
    ("method", "what"),
    [
        *with_every_value(METHODS, ["more", "fewer", "message"]),
        *with_every_value(["async-hash", "async"], ["another"]),
    ],
)
def test_two_planes_that_do_not_do_the_same_end_and_it_is_said_what_one_does_not_have(
    method: str, what: str
) -> None:
    ended = run(2, method, what, 1)
    assert ended.status == 4, str(ended)
    found = ended.report["corruptions"]
    assert found, str(ended)
    call = {"message": "sendrecv", "another": "sendrecv"}.get(what, "allreduce")
    for one in found:
        assert (one["call"], one["end"], one["then"]) == (call, "undecided", "abort"), str(ended)
        has = {"more": [1], "message": [1], "fewer": [0]}.get(what, [0, 1])
        assert one["replica"] in has and one["absent_replicas"] == [1 - one["replica"]], str(ended)
    assert "is not in all planes: plane " in ended.err
    assert "do not do the same, and nobody can tell which is right; the job ends" in ended.err


@pytest.mark.parametrize("method", LAZY)
def test_they_may_also_go_on_and_report_it(method: str) -> None:
    ended = run(2, method, "another", 1, "--on-corruption", "report")
    assert ended.status == 0, str(ended)
    assert {one["replica"] for one in ended.report["corruptions"]} == {0, 1}
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "whole"]


@pytest.mark.parametrize("method", METHODS)
def test_of_three_the_one_that_does_more_is_excluded(method: str) -> None:
    ended = run(3, method, "more", 1)
    assert ended.status == 0, str(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "excluded", "whole"]
    for one in ended.report["corruptions"]:
        assert (one["absent_replicas"], one["wrong_replicas"]) == ([0, 2], [1]), str(ended)


@pytest.mark.parametrize("method", METHODS)
def test_of_three_the_one_that_does_less_is_named(method: str) -> None:
    ended = run(3, method, "fewer", 1)
    assert ended.status == 0, str(ended)
    assert ended.report["corruptions"], str(ended)
    for one in ended.report["corruptions"]:
        assert (one["absent_replicas"], one["wrong_replicas"]) == ([1], [1]), str(ended)
        assert (one["end"], one["then"], one["replaced"]) == ("outvoted", "go_on", False)
    assert "plane 1 does not have it: that of plane 1 is wrong" in ended.err
