"""Who keeps others waiting: by what ranks say where they are, and for whom they wait."""

import json
from pathlib import Path

import pytest
from resprout.launch.latecomers import (
    Finding,
    Latecomers,
    Sight,
    Waiting,
    describe,
    find,
    named,
)
from resprout.launch.positions import Position

LONG = 40.0
EVERYBODY = frozenset(range(4))


def barrier(number: int = 2) -> Waiting:
    return Waiting("MPI_Barrier", "MPI_COMM_WORLD", 7, number, "members", EVERYBODY)


def receive(source: int) -> Waiting:
    return Waiting("MPI_Recv", "MPI_COMM_WORLD", 7, 0, "peer", frozenset({source}))


WAIT = Waiting("MPI_Waitall", "", 0, 0, "unknown")


def waits(waiting: Waiting, seconds: float = LONG) -> Sight:
    return Sight(Position((2, 0, 9), seconds, waits=True), waiting)


def computes(seconds: float = LONG) -> Sight:
    return Sight(Position((2, 0, 8), seconds))


def sights(*of_ranks: Sight | None) -> dict[int, Sight]:
    return {rank: sight for rank, sight in enumerate(of_ranks) if sight is not None}


def found(*of_ranks: Sight | None) -> Finding:
    finding = find(sights(*of_ranks), 30.0)
    assert finding is not None
    return finding


def lines(*of_ranks: Sight | None) -> list[str]:
    return list(describe(found(*of_ranks), sights(*of_ranks)))


def test_all_others_wait_in_a_barrier_for_one_that_computes() -> None:
    assert lines(waits(barrier()), waits(barrier()), computes(), waits(barrier())) == [
        "ranks 0-1, 3 have waited in MPI_Barrier on MPI_COMM_WORLD for 40 s: rank 2 has not come",
        "rank 2 has been outside of MPI for 40 s",
    ]


def test_nobody_has_waited_for_long_enough() -> None:
    some = [waits(barrier(), 29.0)] * 3
    assert find(sights(*some, computes()), 30.0) is None


def test_the_lost_are_not_waited_for() -> None:
    finding = found(waits(barrier()), waits(barrier()), None, computes())
    assert finding.stuck[0].absent == (3,)


def test_a_chain_leads_to_the_one_on_whom_it_hangs() -> None:
    assert lines(waits(barrier()), waits(barrier()), waits(receive(3)), computes(3.0)) == [
        "ranks 0-1 have waited in MPI_Barrier on MPI_COMM_WORLD for 40 s: ranks 2-3 have not come",
        "rank 2 has waited in MPI_Recv on MPI_COMM_WORLD for 40 s: rank 3 has not come",
        "rank 3 has been outside of MPI for 3 s",
    ]


def test_who_waits_in_another_collective_has_not_come_to_this_one() -> None:
    finding = found(*[waits(barrier(2))] * 3, waits(barrier(1)))
    assert finding.roots == ()
    assert {stuck.absent for stuck in finding.stuck} == {(3,), (0, 1, 2)}


def test_a_circle_is_called_a_deadlock() -> None:
    assert lines(waits(receive(1)), waits(receive(0)))[-1].endswith("the program is in a deadlock")


def test_of_requests_it_is_not_said_that_they_are_a_deadlock() -> None:
    assert lines(waits(WAIT), waits(receive(0)))[-1] == (
        "for whom a rank waits in MPI_Waitall is not known"
    )


@pytest.mark.parametrize(
    ("ranks", "text"),
    [([3], "rank 3"), ([0, 1], "ranks 0-1"), ([5, 0, 1, 2, 9], "ranks 0-2, 5, 9")],
)
def test_ranks_are_named_by_their_spans(ranks: list[int], text: str) -> None:
    assert named(ranks) == text


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def leave(folder: Path, rank: int, sight: Sight) -> None:
    own = sight.position
    still_ms = int(own.still_seconds * 1000)
    calls = own.place[2]
    (folder / f"position-{rank}").write_text(f"2 0 {calls} {still_ms} 0 {int(own.waits)} 1\n")
    if (waiting := sight.waiting) is not None:
        said = {"call": waiting.call, "communicator": waiting.communicator, "calls": calls,
                "session": waiting.session, "number": waiting.number, "needs": waiting.needs,
                "ranks": sorted(waiting.ranks)}  # fmt: skip
        (folder / f"waiting-{rank}").write_text(json.dumps(said))


def look_often(folder: Path, then: str) -> tuple[Latecomers, list[bool]]:
    latecomers = Latecomers(folder, 4, 30.0, then, Clock())
    return latecomers, [latecomers.look() for _ in range(6)]


def leave_all(folder: Path, last: Sight) -> None:
    for rank in range(3):
        leave(folder, rank, waits(barrier()))
    leave(folder, 3, last)


def test_it_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave_all(tmp_path, computes())
    latecomers, ends = look_often(tmp_path, "report")
    assert not any(ends)
    assert capsys.readouterr().err.count("rank 3 has not come") == 1
    assert [one.calls[0].absent for one in latecomers.found] == [(3,)]
    assert not (tmp_path / "stands-still-3").exists()


def test_who_is_waited_for_is_ended_if_so_asked(tmp_path: Path) -> None:
    leave_all(tmp_path, computes())
    latecomers, _ = look_often(tmp_path, "end")
    assert latecomers.found[0].ended == (3,)
    assert (tmp_path / "stands-still-3").exists()
    assert not (tmp_path / "stands-still-0").exists()


def test_who_goes_on_is_not_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leave_all(tmp_path, computes(2.0))
    latecomers, _ = look_often(tmp_path, "end")
    assert latecomers.found[0].ended == ()
    assert "nobody is ended" in capsys.readouterr().err


def test_the_job_is_ended_if_so_asked(tmp_path: Path) -> None:
    leave_all(tmp_path, computes())
    latecomers, ends = look_often(tmp_path, "abort")
    assert ends.count(True) == 1
    assert latecomers.found[0].ends_job


def test_what_was_said_of_a_call_that_is_over_counts_no_more(tmp_path: Path) -> None:
    leave_all(tmp_path, computes())
    for rank in range(3):
        (tmp_path / f"position-{rank}").write_text("2 0 10 40000 0 1 1\n")
    latecomers, _ = look_often(tmp_path, "report")
    assert latecomers.found == []
