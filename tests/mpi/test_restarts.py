"""Jobs that are started again after a loss: real ranks are killed, the results stay the same."""

import re
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import jobs
import pytest
from lives import close, playing

STENCIL = {
    "c": [jobs.BUILD / "examples" / "stencil" / "stencil"],
    "python": [sys.executable, jobs.ROOT / "examples" / "stencil" / "stencil.py"],
}
# Steps, checkpoints, and what a step takes at least: longer than the test needs to see where it is.
SIZE = {"c": ["400", "20", "3000"], "python": ["200", "20", "0.005"]}
RESULT = re.compile(r"after \d+ steps: .*")


def stencil(kind: str, folder: Path, victims: tuple[int, ...]) -> jobs.Ended:
    """A run in which `victims` are killed once there are checkpoints."""
    folder.mkdir()

    def kill(job: jobs.Job) -> None:
        seen = jobs.becomes_true(lambda: any(folder.glob("part-*-40*")), jobs.WATCHDOG_SECONDS)
        assert seen, job.seen()
        pids = job.processes_by_rank()
        jobs.kill_together(pids[rank] for rank in victims)

    program = [*STENCIL[kind], folder, *SIZE[kind]]
    return jobs.resprout_run(4, program, ["--on-loss", "restart"], meanwhile=kill)


@cache
def undisturbed(kind: str) -> list[str]:
    """What a run says in the end that nobody disturbs."""
    with tempfile.TemporaryDirectory(prefix="stencil-") as folder:
        program = [*STENCIL[kind], folder, *SIZE[kind][:2], "0"]
        return RESULT.findall(jobs.resprout_run(4, program).out)


@pytest.mark.parametrize("kind", STENCIL)
@pytest.mark.parametrize("victims", [(0,), (1, 3)])
def test_a_stencil_comes_to_the_same_bits_from_its_own_checkpoints(
    kind: str, victims: tuple[int, ...], tmp_path: Path
) -> None:
    ended = stencil(kind, tmp_path / "killed", victims)
    assert ended.status == 0, str(ended)
    results = RESULT.findall(ended.out)
    assert len(results) == 1 and results == undisturbed(kind), str(ended)
    begun = [int(step) for step in re.findall(r"begins at step (\d+)", ended.out)]
    assert len(begun) == 2 and begun[1] > 0, str(ended)
    assert ended.lost and ended.lost <= {*victims}, str(ended)
    first, second = ended.report["lives"]
    assert (first["how"], second["how"]) == ("lost", "whole")
    assert first["ended_ns"] <= second["started_ns"] < ended.report["ended_ns"]
    assert ended.report["started_ns"] < first["ended_ns"]


@pytest.mark.parametrize(("fault", "status"), [("segv", 139), ("exit", 3), ("early", 5)])
def test_mistakes_that_come_again_end_the_job_with_their_status(
    fault: str, status: int, tmp_path: Path
) -> None:
    with playing(tmp_path, 2, words=[str(status & 0x7F), fault]) as scene:
        ended = scene.end()
    assert ended.status == status, str(ended)
    assert [life["how"] for life in ended.report["lives"]] == ["lost"] * 3
    assert [(loss["rank"], loss["life"]) for loss in ended.report["losses"]] == [
        (1, 0), (1, 1), (1, 2),
    ]  # fmt: skip
    assert f"the job ends with status {status}, as 3 lives in a row" in ended.err, str(ended)


def test_a_job_is_started_again_so_often_as_it_may(tmp_path: Path) -> None:
    options = ["--max-restarts", "1"]
    with playing(tmp_path, 2, options, words=["3", "exit"]) as scene:
        ended = scene.end()
    assert ended.status == 3, str(ended)
    assert len(ended.report["lives"]) == 2
    assert "it was started again once, and --max-restarts allows no more" in ended.err


@pytest.mark.parametrize(("words", "status"), [(["7"], 7), (["9", "abort"], 9)])
def test_who_ends_on_purpose_is_not_started_again(
    words: list[str], status: int, tmp_path: Path
) -> None:
    with playing(tmp_path, 2, words=words) as scene:
        ended = scene.end()
    assert ended.status == status, str(ended)
    assert len(ended.report["lives"]) == 1
    assert "starts again" not in ended.err


def test_a_loss_in_mpi_init_of_the_second_life_begins_a_third(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1, 2)
    close(tmp_path, "before", 1, 2)
    with playing(tmp_path, 3) as scene:
        scene.wait_for("in", 0, range(3))
        scene.kill(0, 0)
        scene.wait_for("pid", 1, range(3))
        # Two of three wait in MPI_Init for the one that is held up.
        entered = "resprout-*/life-1/entered-*"
        scene.wait_until(lambda: len(list(scene.job.temporary.glob(entered))) == 2)
        scene.kill(1, 1)
        ended = scene.end()
    assert ended.status == 0, str(ended)
    assert ended.out == "life 2 - read 0\n"
    assert [life["lost"] for life in ended.report["lives"]] == [[0], [1], []], str(ended)


def test_a_rank_that_is_stopped_is_ended_and_the_job_starts_again(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1, 2)
    with playing(tmp_path, 3) as scene:
        scene.wait_for("in", 0, range(3))
        scene.stop(0, 2)
        ended = scene.end()
    assert ended.status == 0, str(ended)
    assert ended.out == "life 1 - read 0\n"
    assert [(loss["rank"], loss["how"]) for loss in ended.report["losses"]] == [(2, "hung")]


def test_each_life_reads_the_input_from_its_beginning(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 1)
    with playing(tmp_path, 2, stdin=subprocess.PIPE) as scene:
        given = scene.job.process.stdin
        assert given is not None
        given.write(b"x" * 100_000)
        given.close()
        scene.wait_for("in", 0, [1])
        scene.kill(0, 1)
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 100000\n"), str(ended)


def test_later_lives_run_the_restart_command(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1)
    command = f"{jobs.PROGRAMS / 'lives'} {tmp_path} 0 none 'as told'"
    with playing(tmp_path, 2, ["--restart-command", command]) as scene:
        scene.wait_for("in", 0, range(2))
        scene.kill(0, 1)
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 as told read 0\n"), str(ended)
    assert [life["command"][-1] for life in ended.report["lives"]] == [str(tmp_path), "as told"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_job_that_is_being_started_again(
    number: signal.Signals, tmp_path: Path
) -> None:
    close(tmp_path, "in", 0, 0, 1)
    close(tmp_path, "before", 1, 1)
    with playing(tmp_path, 2) as scene:
        scene.wait_for("in", 0, range(2))
        scene.kill(0, 0)
        scene.wait_for("pid", 1, range(2))
        scene.job.process.send_signal(number)
        ended = scene.end()
    assert ended.status == 128 + number, str(ended)
    assert [life["how"] for life in ended.report["lives"]] == ["lost", "interrupted"], str(ended)


def test_a_signal_at_the_moment_of_a_loss_begins_no_life_that_stays(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1)
    close(tmp_path, "in", 1, 0, 1)
    with playing(tmp_path, 2) as scene:
        scene.wait_for("in", 0, range(2))
        scene.kill(0, 0)
        scene.job.process.send_signal(signal.SIGTERM)
        ended = scene.end()
    assert ended.status == 128 + signal.SIGTERM, str(ended)
    assert ended.out == ""
