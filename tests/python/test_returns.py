"""Planes that are started again, without MPI: who, when, and what stands in which folder."""

from pathlib import Path

import pytest
from resprout.launch.planes.returns import Again, Returns
from resprout.launch.planes.stragglers import Stragglers

SECRET = bytes(range(32))


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "has-checkpoints").touch()
    for replica in range(3):
        (tmp_path / f"plane-{replica}").mkdir()
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def begun(returns: Returns, over: dict[int, str]) -> Again:
    again = returns.begin(over)
    assert again is not None
    return again


def test_a_lost_plane_is_started_again_in_a_folder_of_its_own(job: Path) -> None:
    returns = Returns(job, 3)
    (job / "several-hosts").touch()
    returns.note_end(0, 0, is_lost=True)
    returns.note_end(2, 0, is_lost=False)
    again = begun(returns, {0: "lost", 2: "ended"})
    assert (again.number, again.replica, again.folder) == (1, 0, job / "return-1")
    assert again.run_directory == job / "return-1" / "plane-0"
    own = {"secret", "several-hosts", "returns-0", "plane-0"}
    assert names(again.folder) == own | {"ended-2"}
    assert (again.folder / "secret").read_bytes() == SECRET
    assert (again.folder / "secret").stat().st_mode & 0o777 == 0o600
    assert again.run_directory.stat().st_mode & 0o777 == 0o700
    assert (job / "returning").read_text() == "1\n"
    assert {"ended-0", "lost-0", "ended-2"} <= names(job)
    assert "lost-2" not in names(job)


@pytest.mark.parametrize("how", ["lost", "excluded", "ended"])
def test_no_plane_is_started_again_before_there_is_a_checkpoint(job: Path, how: str) -> None:
    (job / "has-checkpoints").unlink()
    returns = Returns(job, 2)
    assert returns.begin({1: how}) is None
    (job / "has-checkpoints").touch()
    assert begun(returns, {1: how}).replica == 1


@pytest.mark.parametrize(
    "over",
    [
        {},
        {0: "whole"},
        {0: "lost", 1: "lost", 2: "lost"},  # nobody is left whom it could join
        {0: "lost", 1: "whole"},  # they are at their ends
        {0: "lost", 1: "aborted"},
        {0: "ended", 1: "corrupted"},
        {0: "interrupted"},
        {0: "lost", 1: "interrupted"},
    ],
)
def test_otherwise_no_plane_is_started_again(job: Path, over: dict[int, str]) -> None:
    assert Returns(job, 3).begin(over) is None


def test_a_plane_that_is_in_its_end_takes_nobody_in(job: Path) -> None:
    (job / "plane-1" / "arrived").touch()
    assert Returns(job, 2).begin({0: "lost"}) is None
    assert Returns(job, 2).begin({1: "lost"}) is not None


def test_the_next_one_begins_when_the_one_before_is_back(job: Path) -> None:
    returns = Returns(job, 3)
    first = begun(returns, {2: "lost", 0: "lost"})
    assert first.replica == 2
    assert returns.begin({2: "lost", 0: "lost"}) is None
    assert returns.joined() is None
    (first.folder / "joined").write_text("")
    assert returns.joined() is None
    (first.folder / "joined").write_text("12\n")
    joined = returns.joined()
    assert joined is not None
    assert (joined.again, joined.checkpoint) == (first, 12)
    assert joined.joined_ns >= first.started_ns
    assert returns.joined() is None
    second = begun(returns, {0: "lost"})
    assert (second.replica, second.number) == (0, 2)
    assert (job / "returning").read_text() == "2\n"


def test_a_plane_that_did_not_come_back_is_not_started_again_but_others_are(job: Path) -> None:
    returns = Returns(job, 3)
    first = begun(returns, {0: "lost"})
    returns.give_up()
    assert {"ended-0", "lost-0"} <= names(first.folder)
    assert returns.begin({0: "lost"}) is None
    assert begun(returns, {0: "lost", 1: "lost"}).replica == 1


def test_a_plane_that_is_kept_out_is_not_started_again(job: Path) -> None:
    returns = Returns(job, 3)
    returns.keep_out(0)
    assert returns.begin({0: "lost"}) is None
    assert begun(returns, {0: "lost", 1: "lost"}).replica == 1


def test_a_plane_that_was_back_may_come_back_again(job: Path) -> None:
    returns = Returns(job, 2)
    for number in (1, 2, 3):
        again = begun(returns, {0: "lost"})
        assert again.number == number
        (again.folder / "joined").write_text(str(number))
        assert returns.joined() is not None
        returns.note_end(0, number, is_lost=True)


def test_who_is_over_is_said_where_that_launch_meets_others_and_nowhere_else(job: Path) -> None:
    returns = Returns(job, 3)

    def over(folder: str) -> set[str]:
        return {name for name in names(job / folder) if name.startswith(("ended", "lost"))}

    returns.note_end(0, 0, is_lost=True)
    first = begun(returns, {0: "lost"})
    assert (over("."), over("return-1")) == ({"ended-0", "lost-0"}, set())
    returns.note_end(1, 0, is_lost=True)
    assert over("return-1") == {"ended-1", "lost-1"}
    (first.folder / "joined").write_text("3\n")
    assert returns.joined() is not None
    second = begun(returns, {1: "lost"})
    assert second.replica == 1
    assert over("return-2") == set()
    # That of plane 0 which came back first: not the one that has been in the job's own folder.
    returns.note_end(0, 1, is_lost=True)
    assert over("return-1") == {"ended-0", "lost-0", "ended-1", "lost-1"}
    assert over("return-2") == {"ended-0", "lost-0"}
    returns.give_up()
    assert over("return-2") == {"ended-0", "lost-0", "ended-1", "lost-1"}
    returns.note_end(2, 0, is_lost=False)
    assert [over(at) >= {"ended-2"} for at in (".", "return-1", "return-2")] == [True] * 3
    assert "lost-2" not in over(".") | over("return-1") | over("return-2")


def test_one_whose_folder_cannot_be_made_is_given_up(job: Path) -> None:
    (job / "return-1").touch()
    returns = Returns(job, 3)
    with pytest.raises(OSError, match="return-1"):
        returns.begin({0: "lost"})
    (job / "return-1").unlink()
    returns.give_up()
    assert returns.begin({0: "lost"}) is None
    assert {"ended-0", "returns-1"} <= names(begun(returns, {0: "lost", 1: "lost"}).folder)


def test_when_nobody_is_left_to_take_it_in_it_is_ended(job: Path) -> None:
    now = [50.0]
    returns = Returns(job, 2, lambda: now[0])
    assert not returns.is_in_vain({0: "lost", 1: "whole"})  # none is on its way
    begun(returns, {0: "lost"})
    assert not returns.is_in_vain({0: "lost"})
    assert returns.is_in_vain({0: "lost", 1: "whole"})
    assert returns.is_in_vain({0: "lost", 1: "aborted"})
    # Who was lost may have taken it in before.
    assert not returns.is_in_vain({0: "lost", 1: "lost"})
    now[0] += 4.9
    assert not returns.is_in_vain({0: "lost", 1: "lost"})
    now[0] += 0.2
    assert returns.is_in_vain({0: "lost", 1: "lost"})


def test_of_planes_that_are_back_one_may_be_behind_again(tmp_path: Path) -> None:
    folders = [tmp_path / str(replica) for replica in range(4)]
    for replica, folder in enumerate(folders):
        folder.mkdir()
        if replica < 2:
            (folder / "arrived").touch()
            (folder / "agreed").touch()
    behind = Stragglers(folders[:3], 0.0, 4)
    assert behind.look({}) == [2]
    assert behind.look({2}) == []
    behind.come_back(2, folders[3])
    assert behind.ended == set()
    (folders[3] / "arrived").touch()
    assert behind.look({}) == []
    (folders[3] / "arrived").unlink()
    assert behind.look({}) == [2]
