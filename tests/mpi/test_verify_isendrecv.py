"""MPI_Isendrecv and MPI_Isendrecv_replace: alone, and among replicas that verify them."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "isendrecv"
RANKS = 3
MESSAGES = 24  # that each rank sends, by both calls in turns; all but one another one


def run(replicas: int, method: str, *options: str) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    return jobs.resprout_run(RANKS, [PROGRAM], chosen)


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_alone_every_number_arrives(ranks: int) -> None:
    ended = jobs.resprout_run(ranks, [PROGRAM])
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert ended.calls("isendrecv") == ranks * (MESSAGES // 2 + 1)
    assert ended.calls("isendrecv_replace") == ranks * MESSAGES // 2


@pytest.mark.parametrize(
    ("replicas", "method"),
    [
        (2, "all-to-all"),
        (2, "msg-plus-hash"),
        (2, "async"),
        (3, "msg-plus-hash"),
        (3, "async-hash"),
    ],
)
def test_what_is_equal_is_verified_and_nobody_is_accused(replicas: int, method: str) -> None:
    ended = run(replicas, method)
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert how(ended) == ["whole"] * replicas
    assert ended.report["corruptions"] == []
    done = ended.report["verification"]
    assert done["verified"] == replicas * (RANKS * MESSAGES + RANKS - 1), str(ended)
    assert (done["unverified"], done["skipped"]) == (0, 0)


# One of each kind: small, large, and with gaps; from a rank and from anybody.
@pytest.mark.parametrize("message", [1, 2, 3, 4, 5, 8])
def test_a_flipped_bit_is_outvoted(message: int) -> None:
    fault = f"flip:rank=1,replica=1,message={message},bit=77"
    ended = run(3, "msg-plus-hash", "--inject", fault)
    assert (ended.status, ended.out) == (0, ""), str(ended)
    (flipped,) = ended.report["flipped"]
    assert flipped["call"] == ("isendrecv" if message % 2 else "isendrecv_replace")
    assert ended.report["corruptions"]
    for one in ended.report["corruptions"]:
        assert (one["of"], one["sender"], one["receiver"]) == ("message", 1, 2), str(ended)
        assert (one["wrong_replicas"], one["end"]) == ([1], "outvoted"), str(ended)


@pytest.mark.parametrize("method", ["msg-plus-hash", "async-hash"])
@pytest.mark.parametrize("replica", [0, 1])
def test_a_lost_plane_stops_nobody(replica: int, method: str) -> None:
    ended = run(3, method, "--inject", f"kill:rank=2,replica={replica},at=isendrecv#5")
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert how(ended)[replica] == "lost"
    assert how(ended).count("whole") == 2
    assert ended.report["corruptions"] == []
