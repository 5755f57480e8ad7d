"""The files of planes when a job is over."""

import json
import os
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from resprout.launch.planes.shadows import settle, settle_with_gaps


class Job:
    """Three planes, and the notes that they leave."""

    def __init__(self, root: Path) -> None:
        self.directory = root / "run"
        self.data = root / "data"
        (self.directory / "files").mkdir(parents=True)
        self.data.mkdir()

    def file(self, name: str | bytes = "out", *, planes: int = 3) -> "File":
        return File(self, Path(os.fsdecode(bytes(self.data) + b"/" + os.fsencode(name))), planes)

    def left(self) -> list[str]:
        return sorted(path.name for path in self.data.iterdir())


class File:
    def __init__(self, job: Job, path: Path, planes: int) -> None:
        self.path = path
        self.shadows = [Path(f"{path}.job-replica-{r}") for r in range(1, planes)]
        self._note = job.directory / "files" / f"{len(list(job.data.iterdir()))}.json"
        encoded = [quote_from_bytes(bytes(p)) for p in (path, *self.shadows)]
        self.say({"file": encoded[0], "shadows": encoded[1:]})
        self.say({"is": "made"})

    def say(self, entry: dict[str, object]) -> None:
        with self._note.open("a") as note:
            note.write(json.dumps(entry) + "\n")

    def begin(self, replica: int, rank: int, of: int = 1) -> None:
        self._say_of(replica, rank, of, "begun")

    def close(self, replica: int, rank: int, of: int = 1) -> None:
        self._say_of(replica, rank, of, "closed")

    def remove(self, replica: int, rank: int, of: int = 1) -> None:
        self._say_of(replica, rank, of, "removed")

    def _say_of(self, replica: int, rank: int, of: int, what: str) -> None:
        self.say({"is": what, "replica": replica, "rank": rank, "of": f"{of:016x}"})

    def write(self) -> None:
        for replica, path in enumerate([self.path, *self.shadows]):
            path.write_text(f"plane {replica}")
            if replica > 0:
                self.say({"is": "opened", "replica": replica})


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@pytest.mark.parametrize("replica", [0, 1, 2])
@pytest.mark.parametrize("name", ["out", "a b%20.dat", b"not \xff utf-8"])
def test_what_the_plane_that_counts_has_written_is_left_and_nothing_else(
    job: Job, replica: int, name: str | bytes
) -> None:
    file = job.file(name)
    file.write()
    settle(job.directory, replica)
    assert file.path.read_text() == f"plane {replica}"
    assert job.left() == [file.path.name]


@pytest.mark.parametrize("replica", [0, 1])
def test_what_the_library_has_left_beside_a_shadow_goes(job: Job, replica: int) -> None:
    file = job.file("out[1]")
    file.write()
    for path in file.shadows:
        Path(f"{path}.locktest.0").touch()
    Path(f"{file.path}.job-pointer-0123456789abcdef").touch()
    (job.data / "out[1].other").touch()
    settle(job.directory, replica)
    assert file.path.read_text() == f"plane {replica}"
    assert job.left() == ["out[1]", "out[1].other"]


def test_the_mode_bits_are_those_of_the_shadow(job: Job) -> None:
    file = job.file()
    file.write()
    file.shadows[0].chmod(0o640)
    settle(job.directory, 1)
    assert file.path.stat().st_mode & 0o777 == 0o640


def test_what_the_plane_that_counts_has_deleted_is_deleted(job: Job) -> None:
    file = job.file()
    file.write()
    file.shadows[1].unlink()
    file.say({"is": "deleted", "replica": 2})
    settle(job.directory, 2)
    assert job.left() == []


def test_what_another_plane_has_deleted_is_there(job: Job) -> None:
    file = job.file()
    file.write()
    file.path.unlink()
    file.shadows[1].unlink()
    file.say({"is": "deleted", "replica": 2})
    settle(job.directory, 1)
    assert file.path.read_text() == "plane 1"
    assert job.left() == ["out"]


def test_what_this_host_does_not_see_is_told_and_the_user_s_file_stays(
    job: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    file = job.file()
    file.write()
    file.shadows[0].unlink()
    settle(job.directory, 1)
    assert file.path.read_text() == "plane 0"
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(file.path) in said
    assert str(file.shadows[0]) in said


def test_a_file_that_the_plane_that_counts_has_not_touched_stays(
    job: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    file = job.file()
    file.path.write_text("plane 0")
    settle(job.directory, 1)
    assert file.path.read_text() == "plane 0"
    assert capsys.readouterr().err == ""


def test_what_cannot_be_put_in_its_place_is_told_and_stays(
    job: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    file = job.file()
    file.write()
    file.path.unlink()
    file.path.mkdir()
    settle(job.directory, 1)
    assert file.shadows[0].read_text() == "plane 1"
    assert "cannot put" in capsys.readouterr().err


def test_notes_that_are_not_whole_are_passed_over(job: Job) -> None:
    file = job.file()
    file.write()
    (job.directory / "files" / "empty.json").touch()
    (job.directory / "files" / "half.json").write_text('{"file": "/x", "shad')
    settle(job.directory, 0)
    assert job.left() == ["out"]


def test_without_files_there_is_nothing_to_do(tmp_path: Path) -> None:
    settle(tmp_path, 1)


def test_with_gaps_a_file_that_all_have_closed_is_that_of_the_first(job: Job) -> None:
    file = job.file()
    file.write()
    for replica in range(3):
        file.begin(replica, 0)
        file.close(replica, 0)
    assert not settle_with_gaps(job.directory, [1, 0, 2], [])
    assert file.path.read_text() == "plane 1"
    assert job.left() == ["out"]


def test_with_gaps_each_file_is_that_of_a_plane_that_has_all_of_it(job: Job) -> None:
    """Ranks 2 and 3 write one each, alone, and are lost before that in planes 0 and 1."""
    for rank, plane in ((2, 1), (3, 0)):
        file = job.file(f"of-{rank}")
        file.write()
        file.begin(plane, rank)
        file.close(plane, rank)
    assert not settle_with_gaps(job.directory, [0, 1], [])
    assert [(job.data / f"of-{rank}").read_text() for rank in (2, 3)] == ["plane 1", "plane 0"]
    assert job.left() == ["of-2", "of-3"]


@pytest.mark.parametrize("lack", ["not closed", "unfilled", "closed once", "not removed"])
def test_with_gaps_what_a_plane_lacks_is_that_of_another(job: Job, lack: str) -> None:
    file = job.file(planes=2)
    file.write()
    for replica in (0, 1):
        for of in (1, 2):
            file.begin(replica, 0, of)
            if replica == 1 or lack != "not closed" or of == 1:
                file.close(replica, 0, of)
    if lack == "unfilled":
        file.say({"is": "unfilled", "replica": 0})
    if lack == "closed once":
        file.begin(1, 0, 3)
        file.close(1, 0, 3)
    if lack == "not removed":
        file.remove(1, 0, 4)
    assert not settle_with_gaps(job.directory, [0, 1], [])
    assert file.path.read_text() == "plane 1"


def test_with_gaps_what_one_has_said_twice_it_has_said_once(job: Job) -> None:
    file = job.file(planes=2)
    file.write()
    for replica in (0, 0, 1):
        file.begin(replica, 0)
        file.close(replica, 0)
    assert not settle_with_gaps(job.directory, [1, 0], [])
    assert file.path.read_text() == "plane 1"


def test_with_gaps_what_no_plane_has_is_left_and_that_is_said(
    job: Job, capfd: pytest.CaptureFixture[str]
) -> None:
    file = job.file(planes=2)
    file.write()
    for replica, rank in ((0, 2), (1, 3)):
        file.begin(replica, rank)
        file.close(replica, rank)
    assert settle_with_gaps(job.directory, [0, 1], [])
    assert job.left() == ["out", file.shadows[0].name]
    assert f"{file.path} may lack what ranks should have written" in capfd.readouterr().err


def test_a_plane_that_has_lost_nobody_has_all(job: Job) -> None:
    file = job.file(planes=2)
    file.write()
    file.begin(0, 2)
    assert not settle_with_gaps(job.directory, [1, 0], [1])
    assert file.path.read_text() == "plane 1"
