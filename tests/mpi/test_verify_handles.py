"""Handles that MPI gives away again while replicas still need what they named."""

import jobs
import pytest

HANDLES = jobs.PROGRAMS / "handles"
FREED = jobs.PROGRAMS / "freed"
RANKS = 2
ROUNDS = 300
# Of two threads: two messages a rank, and both sides of a sum.
VERIFIED = 2 * ROUNDS * 4 * RANKS
STAND_IN = ["--replicas", "2", "--on-replica-loss", "stand-in"]


def verified(replicas: int, method: str) -> list[str]:
    return ["--replicas", str(replicas), "--verify", method]


@pytest.mark.parametrize(("replicas", "method"), [(2, "async-hash"), (3, "msg-plus-hash")])
def test_threads_that_complete_requests_at_the_same_time_are_not_mistaken(
    replicas: int, method: str
) -> None:
    ended = jobs.resprout_run(RANKS, [HANDLES, ROUNDS], verified(replicas, method))
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert ended.report["corruptions"] == []
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole"] * replicas
    done = ended.report["verification"]
    assert (done["verified"], done["unverified"]) == (replicas * VERIFIED, 0), str(ended)


def test_nor_are_they_where_siblings_stand_in() -> None:
    ended = jobs.resprout_run(RANKS, [HANDLES, ROUNDS], STAND_IN)
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert ended.lost == set(), str(ended)


@pytest.mark.parametrize(
    "options", [verified(2, "async-hash"), verified(3, "msg-plus-hash"), STAND_IN]
)
def test_what_is_freed_stays_as_long_as_requests_need_it(options: list[str]) -> None:
    ended = jobs.resprout_run(RANKS, [FREED], options)
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert ended.report.get("corruptions", []) == []
    assert [plane["how"] for plane in ended.report["planes"]].count("whole") == int(options[1])


def test_a_bit_is_flipped_in_what_a_freed_datatype_describes() -> None:
    """Of a persistent send the second start: rank 1's 3rd message."""
    flip = "flip:rank=1,replica=1,message=3,bit=3"
    ended = jobs.resprout_run(RANKS, [FREED], [*verified(3, "msg-plus-hash"), "--inject", flip])
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert {found["call"] for found in ended.report["corruptions"]} == {"recv_init"}, str(ended)
