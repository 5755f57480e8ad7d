"""What may differ between replicas is decided by one of them, with real replicas and real kills."""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "decisions"
METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]


def run(replicas: int, method: str, *options: str) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    ended = jobs.resprout_run(4, [PROGRAM], chosen)
    assert ended.status == 0, str(ended)
    assert ended.out == "done\n", str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    return ended


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_replicas_find_the_same_in_all_ways_to_find_something(method: str, replicas: int) -> None:
    ended = run(replicas, method)
    assert how(ended) == ["whole"] * replicas
    assert ended.report["verification"]["unverified"] == 0


# The replica that has decided so far is in plane 0.
FAULTS = [
    "kill:rank=0,replica=0,at=waitany#7",
    "kill:rank=2,replica=0,at=send#20",
    "kill:rank=0,replica=1,at=recv#6",
    "kill:rank=0,replica=0,at=sendrecv#5",
    "stop:rank=0,replica=0,at=sendrecv_replace#4",
]


@pytest.mark.parametrize(("method", "fault"), covering.with_every_value(METHODS, FAULTS))
def test_others_decide_when_a_plane_is_lost(method: str, fault: str) -> None:
    ended = run(3, method, "--inject", fault)
    expected = ["whole"] * 3
    expected[int(fault.partition("replica=")[2][0])] = "lost"
    assert how(ended) == expected, str(ended)


def test_the_last_plane_decides_alone() -> None:
    faults = ["kill:rank=0,replica=0,at=waitany#7", "kill:rank=1,replica=1,at=send#30"]
    ended = run(3, "async-hash", *(word for fault in faults for word in ("--inject", fault)))
    assert how(ended) == ["lost", "lost", "whole"], str(ended)
