"""Bits that are flipped on purpose reach the receiver, those and no others, in any kind of send."""

import re
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
