"""`resprout run --replicas`: what planes write through MPI, with real kills in the middle of it."""

import os
import signal
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "plane_files"
RANKS = 3
ROUNDS = 20
NUMBERS = RANKS * ROUNDS * 1000
KILLS = ["barrier#3", "barrier#14", "file_open#1"]


def contents(more: int = 0) -> bytes:
    return array("i", range(more, NUMBERS + more)).tobytes()


def run(
    file: Path,
    mode: str,
    *options: str,
    replicas: int = 2,
    late: str = "",
    meanwhile: Callable[[jobs.Job], None] = lambda _: None,
) -> jobs.Ended:
    program: list[str | Path] = [PROGRAM, file, mode, *([late] if late else [])]
    chosen = ["--replicas", str(replicas), *options]
    return jobs.resprout_run(RANKS, program, chosen, meanwhile=meanwhile)


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def check(ended: jobs.Ended, file: Path, more: int = 0) -> None:
    """It is right, and nothing else is there."""
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert file.read_bytes() == contents(more), str(ended)
    assert names(file.parent) == {file.name}, str(ended)


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("mode", ["write", "add", "renew"])
def test_without_faults_the_file_is_what_one_plane_has_written(
    mode: str, replicas: int, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    if mode != "write":
        file.write_bytes(contents())
    inode = file.stat().st_ino if mode == "add" else 0
    ended = run(file, mode, replicas=replicas)
    check(ended, file, mode == "add")
    assert how(ended) == ["whole"] * replicas
    if mode == "add":
        assert file.stat().st_ino == inode  # plane 0 has written it itself


@pytest.mark.parametrize("at", KILLS)
@pytest.mark.parametrize("replica", [0, 1])
def test_a_plane_that_is_lost_in_the_middle_of_writing_leaves_nothing(
    replica: int, at: str, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    ended = run(file, "write", "--inject", f"kill:rank=1,replica={replica},at={at}")
    check(ended, file)
    assert sorted(how(ended)) == ["lost", "whole"]


def test_of_three_planes_the_last_one_s_file_is_left(tmp_path: Path) -> None:
    file = tmp_path / "out"
    faults = [f"--inject=kill:rank={r},replica={r},at=barrier#{7 - r}" for r in (0, 1)]
    ended = run(file, "write", *faults, replicas=3)
    check(ended, file)
    assert how(ended) == ["lost", "lost", "whole"]


# Plane 1 comes to the file when plane 0 has written it, and is what the job's end is.
@pytest.mark.parametrize("mode", ["add", "renew"])
def test_a_plane_that_is_late_finds_the_file_as_it_was(mode: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(contents())
    file.chmod(0o640)
    last = 2 * ROUNDS + 4 if mode == "renew" else ROUNDS + 2
    fault = f"kill:rank=0,replica=0,at=barrier#{last}"
    ended = run(file, mode, "--inject", fault, late="1")
    check(ended, file, mode == "add")
    assert how(ended) == ["lost", "whole"]
    if mode == "add":
        assert file.stat().st_mode & 0o777 == 0o640


# Plane 0 comes to it when plane 1 has written its own.
@pytest.mark.parametrize("mode", ["add", "renew"])
def test_a_plane_0_that_is_late_finds_the_file_as_it_was(mode: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(contents())
    check(run(file, mode, late="0"), file, mode == "add")


@pytest.mark.parametrize("method", ["msg-plus-hash", "async-hash"])
def test_verified_replicas_write_once_too(method: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    fault = "kill:rank=2,replica=0,at=barrier#9"
    check(run(file, "write", "--verify", method, "--inject", fault), file)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_job_that_is_interrupted_leaves_no_shadow(which: signal.Signals, tmp_path: Path) -> None:
    file = tmp_path / "out"

    def interrupt(job: jobs.Job) -> None:
        assert jobs.becomes_true(lambda: len(names(tmp_path)) == 2, 60.0)
        os.kill(job.process.pid, which)

    stop = ["--inject", "stop:rank=1,replica=0,at=barrier#9", "--inject"]
    ended = run(
        file,
        "write",
        *stop,
        "stop:rank=1,replica=1,at=barrier#9",
        "--heartbeat-timeout",
        "60000",
        meanwhile=interrupt,
    )
    assert ended.status != 0, str(ended)
    assert names(tmp_path) == {"out"}, str(ended)


def test_files_of_jobs_without_replicas_have_no_shadows(tmp_path: Path) -> None:
    file = tmp_path / "out"
    seen: set[str] = set()

    def look(job: jobs.Job) -> None:
        while job.process.poll() is None:
            seen.update(names(tmp_path))
            time.sleep(0.01)

    ended = jobs.resprout_run(RANKS, [PROGRAM, file, "write"], meanwhile=look)
    check(ended, file)
    assert not {name for name in seen if "replica" in name}, seen


_NO_ROOM_BESIDE = """
from mpi4py import MPI
try:
    MPI.File.Open(MPI.COMM_WORLD, "/proc/self/comm", MPI.MODE_RDWR)
except MPI.Exception:
    print("refused")
"""


def test_where_there_is_no_room_for_a_shadow_the_open_fails_in_all_planes() -> None:
    program = [sys.executable, "-c", _NO_ROOM_BESIDE]
    ended = jobs.resprout_run(RANKS, program, ["--replicas", "2"])
    assert ended.status == 0, str(ended)
    assert ended.out == "refused\n" * RANKS
    assert how(ended) == ["whole", "whole"]
    said = "resprout: rank 0: no file beside /proc/self/comm for another plane: "
    assert said in ended.err, str(ended)
    assert jobs.resprout_run(RANKS, program).out == ""
