"""Checkpoints in files: later jobs go on from them. The program is programs/lasting.c."""

import os
import signal
from pathlib import Path

import jobs
import pytest
from lasting import PROGRAM, RESTART, begun, damage, result_of, undisturbed, wait_for_step

KIB = 256


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def run(steps: int, *options: str | Path) -> jobs.Ended:
    words = [*RESTART, "--files-every", "2", *map(str, options)]
    return jobs.resprout_run(2, [PROGRAM, str(steps), str(KIB)], words)


def names(files: Path) -> set[str]:
    return {path.name.partition(".")[0] for path in files.iterdir()}


def test_a_later_job_goes_on_from_the_newest_checkpoint_in_files(files: Path) -> None:
    first = run(6, "--checkpoint-dir", files)
    assert result_of(first) == undisturbed(2, 6, KIB)
    # Of seven the last even ones.
    assert names(files) == {"checkpoint-4", "checkpoint-6"}
    later = run(9, "--resume", files)
    assert result_of(later) == undisturbed(2, 9, KIB), str(later)
    assert begun(later) == [5], str(later)
    assert names(files) == {"checkpoint-8", "checkpoint-10"}


def test_a_file_that_is_damaged_is_noticed_and_the_checkpoint_before_is_taken(files: Path) -> None:
    assert result_of(run(6, "--checkpoint-dir", files))
    damage(files / "checkpoint-6.rank-1-of-2")
    later = run(8, "--resume", files)
    assert result_of(later) == undisturbed(2, 8, KIB), str(later)
    assert begun(later) == [3], str(later)


def test_if_no_checkpoint_in_files_is_whole_the_job_ends_and_says_so(files: Path) -> None:
    assert result_of(run(6, "--checkpoint-dir", files))
    damage(files / "checkpoint-6.rank-1-of-2")
    damage(files / "checkpoint-4.rank-0-of-2")
    later = run(8, "--resume", files)
    assert later.status == 75, str(later)
    assert "nobody has the part of rank" in later.err, str(later)


def test_after_the_launcher_was_killed_another_job_goes_on(files: Path, tmp_path: Path) -> None:
    program = [PROGRAM, "500", str(KIB), tmp_path]
    command = [jobs.RESPROUT, "run", "-n", "2", *RESTART, "--files-every", "2"]
    command += ["--checkpoint-dir", files, "--", *program]
    (tmp_path / "wait-14").touch()  # else ranks that outlive their launcher could get past step 40
    with jobs.started([str(word) for word in command]) as job:
        wait_for_step(job, tmp_path, 12, 2)
        os.kill(job.process.pid, signal.SIGKILL)
        job.process.wait()
        assert jobs.becomes_true(lambda: not job.processes(), jobs.WATCHDOG_SECONDS), job.seen()
    later = run(40, "--resume", files)
    assert result_of(later) == undisturbed(2, 40, KIB), str(later)
    # Checkpoint 10, that of step 9, had been written when 12 was begun with.
    assert begun(later)[0] >= 9, str(later)
