"""What the tests of jobs stand on: a job answers for its own shared memory, and for no other's."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import jobs
import pytest

ENDINGS = jobs.PROGRAMS / "endings"


def test_what_others_leave_in_shared_memory_is_not_the_job_s() -> None:
    with tempfile.NamedTemporaryFile(prefix="sm_segment.other.0.", dir="/dev/shm") as foreign:
        assert jobs.run([jobs.RESPROUT, "run", "-n", "2", "--", ENDINGS, "status", "0"]).status == 0
        assert Path(foreign.name).exists()


def test_what_a_job_leaves_in_shared_memory_is_found() -> None:
    """Its own launcher is killed, so that nobody clears away; also what no look has seen."""
    command = [jobs.MPIRUN, "-n", "2", "--oversubscribe", ENDINGS, "forever"]
    with jobs.started(command, jobs.by_hand()) as job:
        assert jobs.becomes_true(lambda: "on and on" in job.said().out, jobs.WATCHDOG_SECONDS)
        seen = set()
        for pid in job.processes_by_rank().values():
            seen |= {Path("/dev/shm") / name for name in jobs.mapped_files(pid)}
        assert seen
        unseen = next(iter(seen)).with_suffix(".99")
        unseen.touch()
        job.look_at_shared_memory()
        job.end()
        left = job.shared_left()
        for path in {*seen, unseen}:
            path.unlink(missing_ok=True)
    assert unseen.name in left
    assert not job.shared_left()


def test_of_a_job_that_has_to_be_ended_nothing_stays_in_shared_memory() -> None:
    command = [jobs.RESPROUT, "run", "-n", "2", "--replicas", "2", "--", ENDINGS, "forever"]
    with jobs.started(command) as job:
        assert jobs.becomes_true(lambda: "on and on" in job.said().out, jobs.WATCHDOG_SECONDS)
        job.end()
        left = job.shared_left()
        assert left
    assert not job.shared_left()
    assert not any(Path("/dev/shm", name).exists() for name in left)


def test_a_job_that_does_not_end_in_time_fails() -> None:
    command = [jobs.RESPROUT, "run", "-n", "2", "--", ENDINGS, "forever"]
    with (
        jobs.started(command) as job,
        pytest.raises(pytest.fail.Exception, match="did not end in 1"),
    ):
        job.wait(1.0)
    assert not job.processes()


@pytest.mark.parametrize("stderr", ["full", "closed", "a pipe that nobody reads"])
def test_a_job_whose_launcher_cannot_be_heard_ends_well_and_is_reported(
    stderr: str, tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    words = [
        "run",
        "-n",
        "3",
        "--verbose",
        "--inject",
        "kill:rank=1,at=barrier#1",
        "--report",
        report,
    ]
    command = [jobs.RESPROUT, *words, "--", ENDINGS, "status", "0"]
    reader, writer = os.pipe()
    os.close(reader)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" 2>&-', "sh", *command] if stderr == "closed" else command,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=full if stderr == "full" else writer,
            timeout=jobs.WATCHDOG_SECONDS, check=False,
        )  # fmt: skip
    os.close(writer)
    assert done.returncode == 0
    assert [loss["rank"] for loss in json.loads(report.read_text())["losses"]] == [1]
