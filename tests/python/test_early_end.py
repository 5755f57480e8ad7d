"""Ranks that end before all are through MPI_Init, by the files of a run directory."""

from pathlib import Path

import pytest
from resprout.launch.early_end import StartWatch, expect_start
from resprout.report.launch_end import EarlyEnd


def job(folder: Path, *, entered: set[int], statuses: dict[int, int] | None = None) -> None:
    expect_start(folder)
    for rank in range(3):
        (folder / f"started-{rank}").write_text(f"{100 + rank}\n")
    for rank in entered:
        (folder / f"entered-{rank}").touch()
    for rank, status in (statuses or {}).items():
        (folder / f"exit-{rank}").write_text(f"{status:03}\n")


def found(folder: Path, alive: set[int] | None) -> EarlyEnd | None:
    is_running = None if alive is None else lambda pid: pid - 100 in alive
    watch = StartWatch(folder, is_running)
    assert watch() is None  # what it said last shall come through
    said = watch()
    assert watch() is None  # it is said once
    return said


def test_others_wait_for_one_that_is_gone(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 2}, statuses={1: 3})
    assert found(tmp_path, {0, 2}) == EarlyEnd(1, 3)


def test_one_without_a_status_was_killed(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 1, 2})
    assert found(tmp_path, {0, 2}) == EarlyEnd(1, None)


def test_which_signal_it_was_is_said_if_it_is_known(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 1, 2})
    (tmp_path / "signal-1").write_text("011\n")
    assert found(tmp_path, {0, 2}) == EarlyEnd(1, None, 11)


def test_where_ranks_may_be_elsewhere_a_status_counts(tmp_path: Path) -> None:
    job(tmp_path, entered={0}, statuses={2: 0})
    assert found(tmp_path, None) == EarlyEnd(2, 0)


@pytest.mark.parametrize("entered", [set(), {1}])
def test_nobody_waits_who_is_not_in_mpi_or_has_ended(tmp_path: Path, entered: set[int]) -> None:
    job(tmp_path, entered=entered, statuses={1: 3})
    assert found(tmp_path, {0, 2}) is None


def test_whoever_ends_when_all_are_through_is_none_of_them(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 1, 2})
    (tmp_path / "starting").unlink()
    assert found(tmp_path, {0, 2}) is None


def test_nothing_is_judged_where_rank_0_cannot_say_that_all_are_through(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 2}, statuses={1: 3})
    (tmp_path / "started-0").unlink()
    assert found(tmp_path, {0, 2}) is None


def test_when_mpirun_has_ended_the_job_a_rank_with_a_status_is_the_first(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 2}, statuses={1: 3})
    assert StartWatch(tmp_path, lambda _: False).at_end() == EarlyEnd(1, 3)
    (tmp_path / "starting").unlink()
    assert StartWatch(tmp_path, lambda _: False).at_end() is None


@pytest.mark.parametrize(
    ("status", "signal", "exit_status"),
    [(None, None, 137), (None, 11, 139), (0, None, 1), (3, None, 3)],
)
def test_the_job_s_status_is_never_0(
    status: int | None, signal: int | None, exit_status: int
) -> None:
    end = EarlyEnd(1, status, signal)
    assert end.exit_status == exit_status
    assert f"ends with status {exit_status}" in str(end) and "rank 1" in str(end)


def test_mpirun_knows_the_status_of_a_rank_that_could_not_leave_one(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 2})
    (tmp_path / "ended").write_text("101 exit 127\n100 signal 9\n102 exit 1\n")
    assert StartWatch(tmp_path, lambda _: False).at_end() == EarlyEnd(1, 127)
    assert found(tmp_path, {0, 2}) == EarlyEnd(1, 127)


def test_mpirun_knows_of_ranks_on_hosts_that_do_not_see_the_folder(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 2})
    (tmp_path / "started-1").unlink()
    (tmp_path / "ended").write_text("rank 1 signal 9\n")
    assert found(tmp_path, None) == EarlyEnd(1, None, 9)


def test_the_first_one_that_ended_is_named(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 1, 2})
    (tmp_path / "ended").write_text("rank 2 exit 3\nrank 1 signal 15\n102 exit 0\n")
    assert found(tmp_path, None) == EarlyEnd(2, 3)
    (tmp_path / "ended").write_text("102 exit 4\n101 signal 15\n")
    assert found(tmp_path, {0}) == EarlyEnd(2, 4)


def test_who_ends_for_a_rank_that_is_lost_is_not_named(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 1, 2}, statuses={1: 5})
    (tmp_path / "ended").write_text("101 exit 5\n102 signal 9\n100 signal 9\n")
    assert StartWatch(tmp_path, lambda _: False).at_end() == EarlyEnd(1, 5)
    (tmp_path / "missed-2").touch()
    assert StartWatch(tmp_path, lambda _: False).at_end() == EarlyEnd(2, None, 9)
    assert found(tmp_path, {0}) == EarlyEnd(2, None, 9)


def test_who_is_killed_before_anybody_ends_is_named(tmp_path: Path) -> None:
    job(tmp_path, entered={0, 1, 2})
    (tmp_path / "ended").write_text("102 signal 15\n101 exit 14\n")
    assert StartWatch(tmp_path, lambda _: False).at_end() == EarlyEnd(1, 14)
    (tmp_path / "ended").write_text("102 signal 9\n101 exit 14\n")
    assert StartWatch(tmp_path, lambda _: False).at_end() == EarlyEnd(2, None, 9)
