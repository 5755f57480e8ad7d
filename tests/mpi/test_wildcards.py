"""Receives from anybody that replicas start, complete and cancel alike, with real kills."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "wildcards"
METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]


def run(replicas: int, method: str, *options: str, rounds: int = 4) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    ended = jobs.resprout_run(4, [str(PROGRAM), str(rounds)], chosen)
    assert ended.status == 0, str(ended)
    assert ended.out == "done\n", str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    return ended


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


# What a plane has found it sends, so planes that take messages in another order are accused.
@pytest.mark.parametrize(
    ("replicas", "method"),
    [*((3, method) for method in METHODS), (2, "all-to-all"), (2, "async-hash")],
)
def test_replicas_take_the_same_messages_in_the_same_order(replicas: int, method: str) -> None:
    ended = run(replicas, method)
    assert how(ended) == ["whole"] * replicas
    done = ended.report["verification"]
    assert (done["unverified"], done["skipped"]) == (0, 0), str(ended)


# Rank 0 of plane 0 has decided so far.
@pytest.mark.parametrize(
    ("method", "fault"),
    [
        ("all-to-all", "kill:rank=0,replica=0,at=irecv#20"),
        ("msg-plus-hash", "kill:rank=0,replica=0,at=waitsome#3"),
        ("async-hash", "stop:rank=0,replica=0,at=barrier#2"),
        ("async", "kill:rank=0,replica=0,at=cancel#2"),
    ],
)
def test_others_decide_what_is_open_when_a_plane_is_lost(method: str, fault: str) -> None:
    assert how(run(3, method, "--inject", fault)) == ["lost", "whole", "whole"]


def test_the_last_plane_decides_alone() -> None:
    faults = ["kill:rank=0,replica=0,at=irecv#9", "kill:rank=0,replica=1,at=waitany#5"]
    ended = run(3, "async", *(word for fault in faults for word in ("--inject", fault)))
    assert how(ended) == ["lost", "lost", "whole"], str(ended)
