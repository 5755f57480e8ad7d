"""Checkpoints in memory without replicas: killed jobs go on from them, with the same bits."""

import random
import re
import sys
import time
from pathlib import Path

import covering
import jobs
import pytest
from lasting import (
    PROGRAM,
    RESTART,
    HeldLauncher,
    begun,
    damage,
    has_kept,
    kill,
    memory_of,
    parts_of,
    result_of,
    undisturbed,
    wait_for_step,
)

STENCIL = {
    "c": [jobs.BUILD / "examples" / "stencil" / "memory"],
    "python": [sys.executable, jobs.ROOT / "examples" / "stencil" / "memory.py"],
}
# What a step takes at least.
PAUSE = {"c": "3000", "python": "0.003"}


@pytest.mark.parametrize(("kind", "victims"), [("c", (0,)), ("c", (1, 3)), ("python", (2,))])
def test_a_stencil_goes_on_from_its_last_checkpoint(kind: str, victims: tuple[int, ...]) -> None:
    def disturb(job: jobs.Job) -> None:
        assert jobs.becomes_true(lambda: has_kept(job, 4), jobs.WATCHDOG_SECONDS), job.seen()
        kill(job, *victims)

    program = [*STENCIL[kind], "400", "20"]
    quick = jobs.resprout_run(4, program)
    ended = jobs.resprout_run(4, [*program, PAUSE[kind]], RESTART, meanwhile=disturb)
    results = re.findall(r"after \d+ steps: .*", ended.out)
    assert ended.status == 0 and results == re.findall(r"after .*", quick.out), str(ended)
    assert begun(ended)[0] == 0 and begun(ended)[-1] > 0, str(ended)
    assert [life["how"] for life in ended.report["lives"]] == ["lost", "whole"], str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(3), of_one=3))
def test_ranks_are_killed_at_any_moment_and_the_result_has_the_same_bits(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    ranks, steps, kib = draw.choice([2, 4]), 60, 2048
    killed = []

    def disturb(job: jobs.Job) -> None:
        for step in (2, 20, 38):
            wait_for_step(job, tmp_path, step)
            time.sleep(draw.random() * 0.05)
            killed.append(draw.sample(range(ranks), draw.choice([1, 1, 2])))
            kill(job, *killed[-1])
            # What the next life has said by then it says again.
            (tmp_path / "step-0").unlink(missing_ok=True)

    program = [PROGRAM, str(steps), str(kib), tmp_path]
    ended = jobs.resprout_run(ranks, program, RESTART, meanwhile=disturb)
    assert result_of(ended) == undisturbed(ranks, steps, kib), f"{killed} {ended}"
    lives = ended.report["lives"]
    assert len(lives) == 4, f"{killed} {ended}"
    # Every life goes on behind the step that was seen to be over before the one before it ended.
    for step, begins in zip((2, 20, 38), begun(ended)[1:], strict=True):
        assert begins >= step - 1, f"{killed} {ended}"


def test_a_checkpoint_that_is_damaged_is_noticed_and_the_one_before_is_taken(
    tmp_path: Path,
) -> None:
    ended = run_with_damage(tmp_path, count=1)
    assert result_of(ended) == undisturbed(2, 6, 256), str(ended)
    assert begun(ended) == [0, 2], str(ended)


def test_if_both_are_damaged_the_job_ends_and_says_whose_part_is_lost(tmp_path: Path) -> None:
    ended = run_with_damage(tmp_path, count=2)
    assert ended.status == 75, str(ended)
    # The newest one that the other rank's parts call whole.
    said = "resprout: the job ends: checkpoint 3 is lost: nobody has the part of rank 1\n"
    assert said in ended.err, str(ended)
    assert [life["how"] for life in ended.report["lives"]] == ["lost", "aborted"], str(ended)


def run_with_damage(folder: Path, count: int) -> jobs.Ended:
    """To rank 1's newest parts, before it goes on; all ranks are in step 3, behind checkpoint 4."""
    gate = folder / "wait-3"
    gate.touch()

    def disturb(job: jobs.Job) -> None:
        wait_for_step(job, folder, 3, ranks=2)
        memory = memory_of(job)
        held = HeldLauncher(job)
        with held:
            kill(job, 1)
            held.wait_until_no_rank_is_left()
            parts = parts_of(memory, 1)
            assert [generation for generation, _ in parts] == [4, 3]
            for _, path in parts[:count]:
                damage(path)
            gate.unlink()

    return jobs.resprout_run(2, [PROGRAM, "6", "256", folder], RESTART, meanwhile=disturb)


def test_who_protects_something_else_than_before_is_told_so(tmp_path: Path) -> None:
    other = f"{PROGRAM} 40 512 {tmp_path}"

    def disturb(job: jobs.Job) -> None:
        wait_for_step(job, tmp_path, 3)
        kill(job, 1)

    options = [*RESTART, "--restart-command", other]
    program = [PROGRAM, "40", "256", tmp_path]
    ended = jobs.resprout_run(2, program, options, meanwhile=disturb)
    assert ended.status == 75, str(ended)
    said = (
        "the job ends: rank 0 protects 1048592 bytes in 3 parts, and its checkpoint has 524304 "
        "bytes in 3 parts\n"
    )
    assert said in ended.err, str(ended)


def test_a_job_that_is_not_started_again_keeps_nothing() -> None:
    ended = jobs.resprout_run(2, [PROGRAM, "5", "64"])
    assert result_of(ended) == undisturbed(2, 5, 64)
    assert begun(ended) == [0], str(ended)
