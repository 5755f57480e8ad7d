"""Who stands still while its replicas go on, without MPI: by what processes say where they are."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from resprout.launch.planes.standing import Sights, Standing, StandsStill, find
from resprout.launch.positions import ENDED, Position, read_position

LONG = 100.0


def at(calls: int, still: float = 0.0, waits: bool = False, phase: int = 2) -> Position:
    return Position((phase, 0, calls), still, waits=waits)


def job(*planes: list[Position]) -> Sights:
    return {(p, rank): own for p, plane in enumerate(planes) for rank, own in enumerate(plane)}


def found(sights: Sights, are_independent: bool = False) -> tuple[int, int, bool] | None:
    one = find(sights, 30.0, are_independent)
    return None if one is None else (one.replica, one.rank, one.is_outvoted)


# Rank 1 of plane 1 is in a loop; rank 0 of its plane, and the others, wait for it.
LOOPS = [at(51, LONG, waits=True), at(50, LONG)]
WAITS = [at(51, LONG, waits=True), at(51, LONG, waits=True)]


def test_two_that_went_on_out_vote_one_that_stands_still() -> None:
    assert found(job(WAITS, LOOPS, WAITS)) == (1, 1, True)


def test_of_two_it_is_not_known_which_is_right() -> None:
    assert found(job(WAITS, LOOPS)) == (1, 1, False)


def test_one_that_went_on_is_not_believed_against_two() -> None:
    assert found(job(LOOPS, LOOPS, WAITS)) is None


@pytest.mark.parametrize("phase", [0, 4])
def test_so_it_is_before_mpi_init_and_after_mpi_finalize(phase: int) -> None:
    stands = [at(0, LONG, phase=phase)]
    gone = [at(7)] if phase == 0 else [ENDED]
    assert found(job(gone, stands, gone)) == (1, 0, True)
    assert found(job(gone, stands)) == (1, 0, False)


def test_who_computes_as_long_as_its_replicas_did_stands_not_still() -> None:
    slow = replace(at(50, 200.0), longest_seconds=200.0)
    ahead = replace(at(51), longest_seconds=60.0)
    assert found(job([ahead], [slow], [ahead])) is None
    assert found(job([ahead], [replace(slow, still_seconds=301.0)], [ahead])) == (1, 0, True)


def test_nobody_stands_still_who_is_as_far_as_others_or_goes_on() -> None:
    assert found(job([at(50, LONG)], [at(50, LONG)])) is None
    assert found(job([at(60)], [at(50, 29.0)], [at(60)])) is None
    assert found(job(WAITS, WAITS)) is None


def test_a_plane_that_waits_for_what_never_comes_is_found_when_all_wait() -> None:
    astray = [at(51, LONG, waits=True), at(50, LONG, waits=True)]
    assert found(job(WAITS, astray, WAITS)) == (1, 1, True)
    assert found(job(WAITS, astray)) == (1, 1, False)
    computes = [at(51, LONG, waits=True), at(51, 1.0)]
    assert found(job(WAITS, astray, computes)) is None
    # Where planes do not wait for each other one is enough.
    assert found(job(WAITS, astray, computes), are_independent=True) == (1, 1, True)


def test_what_a_rank_leaves_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "position-3"
    path.write_text("2 00000000000000000001 00000000000000000017 000000000001500 000000 1 0042\n")
    assert read_position(tmp_path, 3) == Position((2, 1, 17), 1.5, 0.0, waits=True)
    path.write_text("2 0000000")
    assert read_position(tmp_path, 3) is None
    assert read_position(tmp_path, 4) is None


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.5
        return self.now


def leave(folder: Path, rank: int, calls: int, still_ms: int, waits: int = 0) -> None:
    (folder / f"started-{rank}").write_text("1\n")
    (folder / f"position-{rank}").write_text(f"2 0 {calls} {still_ms} 0 {waits} 1\n")


def none_lost(_replica: int, _rank: int) -> bool:
    return False


def test_it_is_said_once_and_who_does_not_end_takes_its_plane_along(tmp_path: Path) -> None:
    folders = [tmp_path / f"plane-{replica}" for replica in range(2)]
    for folder, calls in zip(folders, (6, 5), strict=True):
        folder.mkdir()
        leave(folder, 0, calls, 9000)
    clock = Clock()
    standing = Standing(folders, 4.0, 1, are_independent=False, clock=clock)
    told = standing.look({}, none_lost)
    assert isinstance(told, StandsStill)
    assert (told.replica, told.at.where) == (1, "outside of MPI")
    assert standing.look({}, none_lost) is None
    assert standing.disobedient({}, none_lost) == set()
    clock.now += 20
    assert standing.disobedient({1: True}, none_lost) == set()
    assert standing.disobedient({}, none_lost) == {1}
    assert standing.disobedient({}, none_lost) == set()


def test_nobody_is_blamed_for_waiting_for_one_that_is_about_to_end(tmp_path: Path) -> None:
    folders = [tmp_path / f"plane-{replica}" for replica in range(3)]
    for folder in folders:
        folder.mkdir()
        for rank in range(2):
            leave(folder, rank, 5 if folder == folders[1] else 6, 9000, waits=1)
    standing = Standing(folders, 4.0, 2, are_independent=False, clock=Clock())
    told = standing.look({}, none_lost)
    assert told is not None
    assert told.replica == 1
    assert standing.look({}, none_lost) is None
    # Where the siblings of who has ended stand in for it, the others are looked at again.
    again = standing.look({}, lambda replica, rank: (replica, rank) == (1, told.rank))
    assert again is not None
    assert (again.replica, again.rank) == (1, 1 - told.rank)


def test_who_has_ended_as_it_was_told_does_not_cost_its_plane(tmp_path: Path) -> None:
    folders = [tmp_path / f"plane-{replica}" for replica in range(3)]
    for folder, calls in zip(folders, (6, 5, 6), strict=True):
        folder.mkdir()
        leave(folder, 0, calls, 9000)
    clock = Clock()
    standing = Standing(folders, 4.0, 1, are_independent=False, clock=clock)
    assert standing.look({}, none_lost) is not None
    clock.now += 20
    assert standing.disobedient({}, lambda replica, _rank: replica == 1) == set()


def test_without_a_bound_nobody_is_ended_and_the_lost_are_not_compared(tmp_path: Path) -> None:
    for replica in range(2):
        (tmp_path / f"plane-{replica}").mkdir()
        leave(tmp_path / f"plane-{replica}", 0, 5 + replica, 90_000)
    folders = [tmp_path / f"plane-{replica}" for replica in range(2)]
    assert Standing(folders, None, 1, False, Clock()).look({}, none_lost) is None
    assert Standing(folders, 30.0, 1, False, Clock()).look({1: False}, none_lost) is None
    assert Standing(folders, 30.0, 1, False, Clock()).look({}, lambda p, _r: p == 1) is None


def test_who_has_not_called_mpi_init_is_watched_by_the_launcher(tmp_path: Path) -> None:
    folders = [tmp_path / f"plane-{replica}" for replica in range(2)]
    for folder in folders:
        folder.mkdir()
    leave(folders[0], 0, 5, 0)
    # Of a process that is not on this host only the time counts.
    (folders[1] / "started-0").write_text(f"{2**22 + 1}\n")
    standing = Standing(folders, 4.0, 1, are_independent=False, clock=Clock())
    told = None
    for _ in range(60):
        told = told or standing.look({}, none_lost)
    assert told is not None
    assert (told.replica, told.at.where) == (1, "before MPI_Init")
    assert json.dumps(told.at.place) == "[0, 0, 0]"
