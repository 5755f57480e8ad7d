"""Jobs whose next life stands by: it waits in MPI_Init, and goes on when a rank is lost."""

import re
import sys
from pathlib import Path

import fortran
import jobs
import pytest
from lives import close, playing, ranks_of, wait_for_standby

STENCIL = {
    "c": [jobs.BUILD / "examples" / "stencil" / "memory"],
    "python": [sys.executable, jobs.ROOT / "examples" / "stencil" / "memory.py"],
}
STANDBY = ["--on-loss", "restart", "--standby"]


def hows(ended: jobs.Ended) -> list[str]:
    return [life["how"] for life in ended.report["lives"]]


def test_who_stands_by_is_held_in_mpi_init_until_a_rank_is_lost(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1, 2)
    with playing(tmp_path, 3, ["--standby"]) as scene:
        scene.wait_for("in", 0, range(3))
        wait_for_standby(scene.job, 1, 3)
        waiting = ranks_of(scene.job, 1)
        assert len(waiting) == 3 and not list(tmp_path.glob("in-1-*"))
        scene.kill(0, 1)
        ended = scene.end()
    assert ended.status == 0, str(ended)
    assert ended.out == "life 1 - read 0\n"
    assert [life["lost"] for life in ended.report["lives"]] == [[1], []], str(ended)
    # They are the same processes.
    assert {rank: scene.find(1, rank)[0] for rank in range(3)} == waiting
    assert "the job starts again with the ranks that stood by (restart 1" in ended.err, str(ended)


def test_after_each_loss_another_life_stands_by_until_there_may_be_none(tmp_path: Path) -> None:
    for life in range(3):
        close(tmp_path, "in", life, 0, 1)
    with playing(tmp_path, 2, ["--standby", "--max-restarts", "2"]) as scene:
        for life in range(2):
            scene.wait_for("in", life, range(2))
            wait_for_standby(scene.job, life + 1, 2)
            scene.kill(life, life)
        scene.wait_for("in", 2, range(2))
        assert not ranks_of(scene.job, 3)
        scene.open("in", 2, 0, 1)
        ended = scene.end()
    assert ended.status == 0 and ended.out == "life 2 - read 0\n", str(ended)
    assert [life["lost"] for life in ended.report["lives"]] == [[0], [1], []], str(ended)


def test_a_job_that_loses_nobody_ends_those_that_stand_by(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1)
    with playing(tmp_path, 2, ["--standby"], words=["7"]) as scene:
        scene.wait_for("in", 0, range(2))
        wait_for_standby(scene.job, 1, 2)
        scene.open("in", 0, 0, 1)
        ended = scene.end()
    assert ended.status == 7 and ended.out == "life 0 - read 0\n", str(ended)
    assert hows(ended) == ["whole"] and "stood by" not in ended.err, str(ended)


def test_if_one_that_stands_by_is_lost_the_job_goes_on_and_starts_anew_after_a_loss(
    tmp_path: Path,
) -> None:
    close(tmp_path, "in", 0, 0, 1)
    with playing(tmp_path, 2, ["--standby"]) as scene:
        scene.wait_for("in", 0, range(2))
        wait_for_standby(scene.job, 1, 2)
        first = ranks_of(scene.job, 1)
        jobs.kill_together([first[1]])
        scene.wait_until(lambda: "that stood by have ended" in scene.job.said(0).err)
        assert len(ranks_of(scene.job, 0)) == 2
        scene.kill(0, 0)
        ended = scene.end()
    assert ended.status == 0 and ended.out == "life 1 - read 0\n", str(ended)
    assert {scene.find(1, rank)[0] for rank in range(2)}.isdisjoint(first.values())
    assert hows(ended) == ["lost", "whole"], str(ended)


def test_a_loss_that_comes_before_those_that_stand_by_are_there_waits_for_them(
    tmp_path: Path,
) -> None:
    close(tmp_path, "in", 0, 0, 1)
    close(tmp_path, "before", 1, 1)
    with playing(tmp_path, 2, ["--standby"]) as scene:
        scene.wait_for("pid", 1, [1])
        scene.kill(0, 1)
        assert jobs.becomes_true(lambda: not ranks_of(scene.job, 0), jobs.WATCHDOG_SECONDS)
        scene.open("before", 1, 1)
        ended = scene.end()
    assert ended.status == 0 and ended.out == "life 1 - read 0\n", str(ended)
    assert hows(ended) == ["lost", "whole"], str(ended)


def lose_one(program: list[object], ranks: int, rank: int) -> jobs.Ended:
    """Of a program that says `begins at step N` on rank 0, once it has a checkpoint."""

    def disturb(job: jobs.Job) -> None:
        wait_for_standby(job, 1, ranks)
        counts = "resprout-*/life-0/checkpoint-counts"
        counted = jobs.becomes_true(
            lambda: bool(list(job.temporary.glob(counts))), jobs.WATCHDOG_SECONDS
        )
        assert counted, job.seen()
        jobs.kill_together([ranks_of(job, 0)[rank]])

    ended = jobs.resprout_run(ranks, program, STANDBY, meanwhile=disturb)  # type: ignore[arg-type]
    begun = [int(step) for step in re.findall(r"begins at step (\d+)", ended.out)]
    assert ended.status == 0 and begun[0] == 0 and begun[-1] > 0, str(ended)
    assert hows(ended) == ["lost", "whole"], str(ended)
    assert "with the ranks that stood by" in ended.err, str(ended)
    return ended


def results_of(ended: jobs.Ended) -> list[str]:
    return re.findall(r"after \d+ steps: .*", ended.out)


@pytest.mark.parametrize(("kind", "pause"), [("c", "20000"), ("python", "0.02")])
def test_a_stencil_goes_on_from_its_last_checkpoint(kind: str, pause: str) -> None:
    program = [*STENCIL[kind], "600", "20"]
    assert results_of(lose_one([*program, pause], 4, 2)) == results_of(
        jobs.resprout_run(4, program)
    )


@fortran.needs_compiler
def test_a_program_in_fortran_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    source = jobs.ROOT / "tests" / "fortran" / "compiled" / "kept.f90"
    program = fortran.compiled(source, tmp_path, uses_resprout=True)
    ended = lose_one([program], 3, 1)
    assert results_of(ended) == ["after 600 steps: 1080000"], str(ended)


def test_a_signal_ends_those_that_stand_by_too(tmp_path: Path) -> None:
    close(tmp_path, "in", 0, 0, 1)
    with playing(tmp_path, 2, ["--standby"]) as scene:
        scene.wait_for("in", 0, range(2))
        wait_for_standby(scene.job, 1, 2)
        scene.job.process.terminate()
        ended = scene.end()
    assert ended.status == 143, str(ended)
