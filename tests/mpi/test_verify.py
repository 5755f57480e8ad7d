"""`resprout run --verify`: real replicas compare what they send, and bits are really flipped."""

import sys
from collections.abc import Sequence
from typing import Any

import covering
import jobs
import pytest
from soak_replicas import held_up

METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]
LAZY = ["async", "async-hash"]
PROGRAM = jobs.PROGRAMS / "flips"  # says nothing if nothing that it receives is wrong
RANKS = 3
# Per rank: 28 messages sent, in each of MPI's ways.
MESSAGES = 28 * RANKS


def run(replicas: int, method: str, *options: str, program: Sequence[object] = ()) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    return jobs.resprout_run(RANKS, [str(word) for word in program or [PROGRAM]], chosen)


def flip(message: int, replica: int = 1) -> list[str]:
    return ["--inject", f"flip:rank=1,replica={replica},message={message},bit=9"]


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def corruptions(ended: jobs.Ended) -> list[dict[str, Any]]:
    return list(ended.report["corruptions"])


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_equal_is_verified_and_nobody_is_accused(method: str, replicas: int) -> None:
    ended = run(replicas, method)
    assert ended.status == 0, str(ended)
    assert ended.out == ""
    assert how(ended) == ["whole"] * replicas
    assert corruptions(ended) == []
    done = ended.report["verification"]
    assert done["method"] == method
    assert done["verified"] >= replicas * MESSAGES
    assert (done["unverified"], done["skipped"]) == (0, 0)


@pytest.mark.parametrize("message", [1, 14, 28])
@pytest.mark.parametrize("method", METHODS)
def test_two_replicas_find_a_corrupted_message_and_the_job_ends(method: str, message: int) -> None:
    ended = run(2, method, *flip(message))
    assert ended.status == 4, str(ended)
    assert "corrupted" in how(ended)
    found = corruptions(ended)
    assert found
    for one in found:
        assert (one["of"], one["sender"], one["receiver"]) == ("message", 1, 2), str(ended)
        assert (one["end"], one["then"], one["bytes"]) == ("undecided", "abort", 24)
    assert "nobody can tell which copy is right; the job ends" in ended.err


@pytest.mark.parametrize("method", METHODS)
def test_the_job_may_also_go_on_and_report_it(method: str) -> None:
    ended = run(2, method, *flip(5), "--on-corruption", "report")
    assert ended.status == 0, str(ended)
    assert how(ended) == ["whole", "whole"]
    assert [one["replica"] for one in sorted(corruptions(ended), key=lambda c: c["replica"])] == [
        0,
        1,
    ]
    assert run(2, method, *flip(5), "--on-corruption", "report", "--strict").status == 3


@pytest.mark.parametrize("replica", [0, 1, 2])
@pytest.mark.parametrize("method", ["all-to-all", "msg-plus-hash"])
def test_three_replicas_replace_a_corrupted_message(method: str, replica: int) -> None:
    ended = run(3, method, *flip(9, replica), *flip(18, replica))
    assert ended.status == 0, str(ended)
    assert ended.out == ""  # nobody has received anything wrong
    assert how(ended) == ["whole"] * 3
    assert len(ended.report["flipped"]) == 2
    assert len({(one["tag"], one["number"]) for one in corruptions(ended)}) == 2
    for one in corruptions(ended):
        assert (one["wrong_replicas"], one["end"]) == ([replica], "outvoted"), str(ended)


# What is said by a plane before it is known to be wrong has been said; so it is not plane 0's.
@pytest.mark.parametrize("method", LAZY)
def test_a_plane_that_has_used_corrupted_data_is_excluded_and_the_others_go_on(method: str) -> None:
    ended = run(3, method, *flip(9))
    assert ended.status == 0, str(ended)
    assert ended.out == ""
    assert how(ended) in (["whole", "excluded", "whole"], ["whole"] * 3), str(ended)
    assert corruptions(ended)
    assert all(one["wrong_replicas"] == [1] for one in corruptions(ended)), str(ended)


SUM_OF_WHICH_ONE_IS_WRONG = [
    sys.executable,
    "-c",
    "from mpi4py import MPI; import os; import array\n"
    "world = MPI.COMM_WORLD\n"
    "mine = array.array('i', [world.rank])\n"
    "if os.environ['RESPROUT_REPLICA'] == '1' and world.rank == 2: mine[0] += 4\n"
    "world.Allreduce(MPI.IN_PLACE, mine)\n"
    "if os.environ['RESPROUT_VERIFY'] in ('all-to-all', 'msg-plus-hash'): assert mine[0] == 3\n",
]


@pytest.mark.parametrize("method", METHODS)
def test_what_only_one_replica_gives_to_a_collective_is_found(method: str) -> None:
    two = run(2, method, program=SUM_OF_WHICH_ONE_IS_WRONG)
    assert two.status == 4, str(two)
    given = {(one["of"], one["sender"], one["call"]) for one in corruptions(two)}
    if method in LAZY:  # or the first to be found is what came out of it, at any rank
        assert given and {call for _, _, call in given} == {"allreduce"}, str(two)
    else:  # before anybody has got anything
        assert given == {("contribution", 2, "allreduce")}, str(two)


@pytest.mark.parametrize("method", ["all-to-all", "msg-plus-hash"])
def test_of_three_replicas_it_is_replaced_before_the_collective_runs(method: str) -> None:
    ended = run(3, method, program=SUM_OF_WHICH_ONE_IS_WRONG)
    assert ended.status == 0, str(ended)
    assert how(ended) == ["whole"] * 3, str(ended)
    found = {(one["of"], one["sender"], one["call"]) for one in corruptions(ended)}
    assert found == {("contribution", 2, "allreduce")}, str(ended)
    assert all(one["wrong_replicas"] == [1] for one in corruptions(ended)), str(ended)
    assert [one["replaced"] for one in corruptions(ended) if one["replica"] == 1] == [True]


@pytest.mark.parametrize("method", LAZY)
def test_with_a_lazy_method_the_plane_that_has_given_it_is_excluded(method: str) -> None:
    ended = run(3, method, program=SUM_OF_WHICH_ONE_IS_WRONG)
    assert ended.status == 0, str(ended)
    assert how(ended) == ["whole", "excluded", "whole"], str(ended)
    # The plane may end by what came of it before it has said what it has given.
    assert {one["call"] for one in corruptions(ended)} == {"allreduce"}, str(ended)
    assert all(one["wrong_replicas"] == [1] for one in corruptions(ended)), str(ended)


@pytest.mark.parametrize("method", METHODS)
def test_a_lost_plane_stops_no_verification(method: str) -> None:
    ended = run(3, method, "--inject", "kill:rank=2,replica=0,at=isend#2")
    assert ended.status == 0, str(ended)
    assert how(ended) == ["lost", "whole", "whole"]
    assert corruptions(ended) == []
    assert ended.report["verification"]["unverified"] == 0


# They end all the same, as they do without verification.
@pytest.mark.parametrize("method", METHODS)
def test_messages_that_nobody_receives_hold_nobody_up(method: str) -> None:
    program = (
        "from mpi4py import MPI; import array\n"
        "world = MPI.COMM_WORLD\n"
        "world.Send(array.array('i', [7]), (world.rank + 1) % world.size)\n"
        "world.Barrier()\n"
    )
    ended = run(3, method, program=[sys.executable, "-c", program])
    assert ended.status == 0, str(ended)
    assert how(ended) == ["whole"] * 3


@pytest.mark.parametrize("seed", covering.a_share(range(1, 9), of_one=4))
def test_planes_that_are_held_up_in_turn_block_and_accuse_nobody(seed: int) -> None:
    held_up(seed)


def test_a_call_that_cannot_be_verified_is_named_and_the_job_ends() -> None:
    program = (
        "from mpi4py import MPI; import array\n"
        "world = MPI.COMM_WORLD\n"
        "request = world.Irecv(array.array('i', [0]), world.rank)\n"
        "request.Free()\n"
        "world.Send(array.array('i', [7]), world.rank)\n"
    )
    ended = run(2, "async", program=[sys.executable, "-c", program])
    assert ended.status == 2, str(ended)
    assert "MPI_Request_free of a receive leaves open when it is complete" in ended.err
    assert "--verify none" in ended.err
    assert run(2, "none", program=[sys.executable, "-c", program]).status == 0
