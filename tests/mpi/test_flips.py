"""Bits that are flipped on purpose reach the receiver, those and no others, in any kind of send."""

import re
import sys
from collections.abc import Sequence

import pytest
from jobs import PROGRAMS, Ended, resprout_run

PROGRAM = PROGRAMS / "flips"
MESSAGES = 28  # that each rank sends
BITS = 6 * 32  # of each
RECEIVED = re.compile(
    r"rank (\d+) received message (\d+) of rank (\d+) with bit (\d+) flipped(?:\n|$)"
)

Flip = tuple[int, int, int]


def job(ranks: int, faults: Sequence[str], transport: str = "auto") -> Ended:
    options = [f"--inject={fault}" for fault in faults]
    ended = resprout_run(ranks, [PROGRAM], [*options, f"--transport={transport}"])
    assert ended.status == 0, ended
    return ended


def received(ended: Ended) -> set[Flip]:
    """Sender, message and bit of what the receivers say."""
    return {(int(m[3]), int(m[2]), int(m[4])) for m in RECEIVED.finditer(ended.out)}


def reported(ended: Ended) -> set[Flip]:
    return {(f["rank"], f["message"], f["bit"]) for f in ended.report["flipped"]}


def test_without_a_flip_everything_is_received_as_it_was_sent() -> None:
    ended = job(3, [])
    assert ended.out == ""
    assert ended.report["flipped"] == []


def test_a_flip_hits_that_bit_of_that_message_whichever_call_sends_it() -> None:
    flips = {(0, message, 7 * message % BITS) for message in range(1, MESSAGES + 1)}
    ended = job(3, [f"flip:rank={r},message={m},bit={b}" for r, m, b in flips])
    assert received(ended) == flips, ended
    assert reported(ended) == flips
    assert all(f["bytes"] * 8 == BITS and f["destination"] == 1 for f in ended.report["flipped"])
    calls = {f["call"] for f in ended.report["flipped"]}
    assert {"send", "isend", "sendrecv", "sendrecv_replace", "ssend_init"} <= calls


@pytest.mark.parametrize("seed", [1, 2])
def test_flips_chosen_by_a_seed_are_those_that_are_received(seed: int) -> None:
    ended = job(4, [f"flip:count=20,seed={seed},messages={MESSAGES}"])
    assert len(received(ended)) == 20
    assert received(ended) == reported(ended)


def test_a_flip_beyond_the_last_message_is_said_not_to_have_come_about() -> None:
    fault = f"flip:rank=1,message={MESSAGES + 1},bit=3"
    ended = job(2, [fault, "flip:rank=1,message=2,bit=3"])
    assert received(ended) == {(1, 2, 3)}
    assert ended.report["faults_left"] == [fault]
    assert f"{fault} did not come about" in ended.err


def test_with_replicas_a_flip_hits_the_plane_that_it_names() -> None:
    faults = ["flip:rank=0,replica=1,message=2,bit=5", "flip:rank=2,message=4,bit=6"]
    options = ["--replicas", "2", *(f"--inject={fault}" for fault in faults)]
    late = f"flip:rank=1,message={MESSAGES + 1},bit=3"
    ended = resprout_run(3, [PROGRAM], [*options, f"--inject={late},replica=1"])
    assert ended.status == 0, ended
    assert received(ended) == {(2, 4, 6)}, ended  # plane 0 speaks
    hit = {(f["replica"], f["rank"], f["message"], f["bit"]) for f in ended.report["flipped"]}
    assert hit == {(0, 2, 4, 6), (1, 0, 2, 5)}
    assert ended.report["faults_left"] == [f"{late},replica=1"]
    assert "message 2 of rank 0 in plane 1 (send to rank 1" in ended.err


# Each rank gives something to each of these, and says what came of it.
COLLECTIVES = """
from mpi4py import MPI
import array

world = MPI.COMM_WORLD
half = world.Split(world.rank % 2, world.rank)
me, size = world.rank, world.size


def numbers(count=4):
    return array.array("i", range(10 * me, 10 * me + count))


def started(start):
    def run():
        into = array.array("i", [0] * 4)
        given = numbers()
        start(given, into).Wait()
        return into
    return run


def into(count, run):
    buffer = array.array("i", [0] * count)
    run(buffer)
    return buffer


def in_place():
    buffer = numbers()
    world.Allreduce(MPI.IN_PLACE, buffer)
    return buffer


calls = [
    lambda: into(4, lambda out: world.Allreduce(numbers(), out)),
    in_place,
    lambda: into(4, lambda out: world.Reduce(numbers(), out, root=1)),
    lambda: into(4, lambda out: world.Scan(numbers(), out)),
    lambda: into(4, lambda out: world.Exscan(numbers(), out)),
    lambda: into(4 * size, lambda out: world.Allgather(numbers(), out)),
    lambda: into(4 * size, lambda out: world.Gather(numbers(), out, root=1)),
    lambda: into(4, lambda out: world.Alltoall(numbers(4), [out, 1, MPI.INT])),
    lambda: into(1, lambda out: world.Reduce_scatter_block(numbers(4), out)),
    lambda: into(4, lambda out: half.Allreduce(numbers(), out)),
    started(lambda given, out: world.Iallreduce(given, out)),
    started(lambda given, out: world.Ialltoall([given, 1, MPI.INT], [out, 1, MPI.INT])),
]
for number, call in enumerate(calls, 1):
    print(f"{number} at {me}: {call().tolist()}", flush=True)
    world.Barrier()
"""
CALLS = 12
OF_COLLECTIVE = re.compile(r"^(\d+) at \d+: .*$", re.MULTILINE)


def outputs(*options: str) -> tuple[Ended, dict[int, set[str]]]:
    """What the ranks say of each collective."""
    program = ["-c", COLLECTIVES]
    ended = resprout_run(4, [sys.executable, *program], options)
    assert ended.status == 0, ended
    said: dict[int, set[str]] = {number: set() for number in range(1, CALLS + 1)}
    for match in OF_COLLECTIVE.finditer(ended.out):
        said[int(match[1])].add(match[0])
    assert all(len(lines) == 4 for lines in said.values()), ended
    return ended, said


def test_a_flip_of_what_goes_into_a_collective_is_seen_in_what_comes_out_of_that_one() -> None:
    _, right = outputs()
    for number in range(1, CALLS + 1):
        ended, said = outputs(f"--inject=flip:rank=2,collective={number},bit=33")
        assert [n for n in said if said[n] != right[n]] == [number], ended
        (flip,) = ended.report["flipped"]
        assert (flip["rank"], flip["collective"], flip["message"]) == (2, number, 0)
        assert (flip["bytes"], flip["bit"]) == (16, 33)
        assert f"gave to its collective {number} ({flip['call']}" in ended.err


def test_three_replicas_replace_what_is_flipped_before_the_collective_runs() -> None:
    _, right = outputs()
    flips = [
        f"--inject=flip:rank={number % 4},replica={number % 3},collective={number},bit={5 * number}"
        for number in range(1, CALLS + 1)
    ]
    ended, said = outputs("--replicas=3", "--verify=msg-plus-hash", *flips)
    assert said == right, ended
    assert len(ended.report["flipped"]) == CALLS
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole"] * 3
    of = {
        (one["sender"], tuple(one["wrong_replicas"]), one["of"])
        for one in ended.report["corruptions"]
    }
    wrong = {(n % 4, (n % 3,), "contribution") for n in range(1, CALLS + 1)}
    assert of == wrong, ended


def test_a_flip_beyond_the_last_collective_is_said_not_to_have_come_about() -> None:
    fault = f"flip:rank=1,collective={CALLS + 1},bit=3"
    ended, _ = outputs(f"--inject={fault}")
    assert ended.report["faults_left"] == [fault]
    assert f"{fault} did not come about: it has given anything to fewer collectives" in ended.err


@pytest.mark.parametrize("area", ["stack", "heap", "data"])
def test_a_flip_anywhere_is_of_one_process_and_the_report_says_where(area: str) -> None:
    fault = f"flip:rank=1,replica=2,where={area},at=send#2,bit=12345678"
    options = ["--replicas", "3", "--verify", "msg-plus-hash", f"--inject={fault}"]
    ended = resprout_run(2, [PROGRAM], options)
    (flip,) = ended.report["flipped"]
    assert (flip["rank"], flip["replica"], flip["area"]) == (1, 2, area), str(ended)
    assert 0 <= flip["bit"] < 8 * flip["bytes"], str(ended)
    assert ended.status == 0, str(ended)


def test_a_flip_at_a_call_that_is_never_made_is_said_not_to_have_come_about() -> None:
    fault = "flip:rank=1,where=process,at=alltoall#1,bit=3"
    ended = job(3, [fault])
    assert ended.report["faults_left"] == [fault], ended
    assert "has called MPI_Alltoall less often" in ended.err, ended
