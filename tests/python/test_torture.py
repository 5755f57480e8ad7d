"""Where programs are tortured, and what is said of it, without MPI."""

from pathlib import Path

import pytest
from resprout.errors import UserError
from resprout.torture.book import Book
from resprout.torture.points import Point, all_points, choose, choose_pairs
from resprout.torture.trial import Ended, Outcome, Trial, judge

CALLS = {0: {"bcast": 3, "test": 9}, 1: {"bcast": 3, "send": 2, "iprobe": 4}}


def test_each_call_of_each_rank_is_a_place_but_those_that_only_ask() -> None:
    assert [str(p.fault("kill")) for p in all_points(CALLS)] == [
        "kill:rank=0,at=bcast#1", "kill:rank=0,at=bcast#2", "kill:rank=0,at=bcast#3",
        "kill:rank=1,at=bcast#1", "kill:rank=1,at=bcast#2", "kill:rank=1,at=bcast#3",
        "kill:rank=1,at=send#1", "kill:rank=1,at=send#2",
        "kill:rank=0,at=finalize#1", "kill:rank=1,at=finalize#1",
    ]  # fmt: skip


def test_of_many_places_the_first_and_the_last_of_each_call_are_tried_first() -> None:
    points = [Point(0, "send", n) for n in range(1, 100)]
    few = choose(points, 10, 1)
    assert len(set(few)) == 10
    assert {points[0], points[-1]} < set(few)
    assert few == choose(points, 10, 1) != choose(points, 10, 2)


def test_pairs_are_of_different_ranks() -> None:
    pairs = choose_pairs(all_points(CALLS), 15, 1)
    assert len(set(pairs)) == 15
    assert all(one.rank != other.rank for one, other in pairs)
    assert choose_pairs([Point(0, "send", 1), Point(0, "send", 2)], 5, 1) == []


def ended(status: int | None = 0, out: bytes = b"3\n", faults: int = 1, others: int = 0) -> Ended:
    losses = [{"rank": r, "fault": "kill" if r < faults else None} for r in range(faults + others)]
    return Ended(status, 1.0, out, "what it said", {"losses": losses})


@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        (ended(), Outcome.SAME),
        (ended(out=b"2\n"), Outcome.DIFFERS),
        (ended(status=1), Outcome.STATUS),
        (ended(status=None), Outcome.HUNG),
        (ended(faults=0), Outcome.NOT_REACHED),
        (ended(others=1), Outcome.CRASHED),
    ],
)
def test_a_job_is_judged_by_the_one_without_a_fault(what: Ended, outcome: Outcome) -> None:
    assert judge(["kill:rank=0,at=send#1"], what, ended(faults=0), None).outcome is outcome


@pytest.mark.parametrize(
    ("out", "outcome"), [(b"3\n", Outcome.RIGHT), (b"33\n", Outcome.RIGHT), (b"2\n", Outcome.WRONG)]
)
def test_a_command_of_the_user_says_what_is_right(out: bytes, outcome: Outcome) -> None:
    trial = judge(["kill"], ended(out=out), ended(faults=0), "grep -q 3")
    assert trial.outcome is outcome


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "state"
    trial = Trial(("kill:rank=0,at=send#1",), Outcome.HUNG, None, 20.0, "rank 1 waits")
    Book(path, ["./a"]).add(trial)
    with path.open("a") as file:
        file.write('{"faults": ["cut sh')
    book = Book(path, ["./a"])
    assert book.find(trial.faults) == trial
    assert book.find(("kill:rank=1,at=send#1",)) is None


def test_the_state_of_another_program_is_refused(tmp_path: Path) -> None:
    Book(tmp_path / "state", ["./a"])
    with pytest.raises(UserError, match="is of another program"):
        Book(tmp_path / "state", ["./b"])
