"""Checkpoints in memory with an XOR code (--checkpoint-code): what is lost with ranks is rebuilt.

On one host: ranks are killed, and their memory is taken away while no life runs. Hosts that die:
test_memory_checkpoint_hosts.py. The program is programs/lasting.c; 6 ranks are the groups 0, 2, 4
and 1, 3, 5.
"""

import random
import time
from pathlib import Path

import jobs
import pytest
from lasting import (
    PROGRAM,
    RESTART,
    begun,
    damage,
    lose,
    memory_of,
    result_of,
    undisturbed,
    wait_for_step,
)

RANKS, KIB = 6, 256
CODE = [*RESTART, "--checkpoint-code", "xor:3"]


def run(folder: Path, steps: int, losses: dict[int, tuple[int, ...]], *options: str) -> jobs.Ended:
    """In each of these steps, when all ranks are in it, so many ranks are lost at once."""
    for step in losses:
        (folder / f"wait-{step}").touch()

    def disturb(job: jobs.Job) -> None:
        for step, ranks in losses.items():
            wait_for_step(job, folder, step, RANKS)
            lose(job, *ranks)
            for rank in range(RANKS):
                (folder / f"step-{rank}").unlink()
            (folder / f"wait-{step}").unlink()

    program = [PROGRAM, str(steps), str(KIB), folder]
    return jobs.resprout_run(RANKS, program, [*CODE, *options], meanwhile=disturb)


def test_a_rank_of_a_group_is_rebuilt_and_later_another_one(tmp_path: Path) -> None:
    ended = run(tmp_path, 9, {3: (1,), 6: (3,)})
    assert result_of(ended) == undisturbed(RANKS, 9, KIB), str(ended)
    assert begun(ended) == [0, 3, 6], str(ended)
    assert "resprout: checkpoint 4: the part of rank 1 was lost, and rebuilt\n" in ended.err
    assert "resprout: checkpoint 7: the part of rank 3 was lost, and rebuilt\n" in ended.err


def test_ranks_of_different_groups_are_rebuilt_at_once(tmp_path: Path) -> None:
    ended = run(tmp_path, 6, {3: (1, 4)})
    assert result_of(ended) == undisturbed(RANKS, 6, KIB), str(ended)
    assert begun(ended) == [0, 3], str(ended)
    assert "resprout: checkpoint 4: the part of ranks 1, 4 was lost, and rebuilt\n" in ended.err


def test_two_ranks_of_a_group_are_too_many_and_a_line_says_so(tmp_path: Path) -> None:
    ended = run(tmp_path, 6, {3: (1, 3)})
    assert ended.status == 75, str(ended)
    said = "resprout: the job ends: checkpoint 3 is lost: nobody has the part of ranks 1, 3\n"
    assert said in ended.err, str(ended)


def test_two_ranks_of_a_group_come_back_from_files(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    options = ["--checkpoint-dir", str(files), "--files-every", "2"]
    ended = run(tmp_path, 6, {3: (0, 4)}, *options)
    assert result_of(ended) == undisturbed(RANKS, 6, KIB), str(ended)
    # Of checkpoint 4, that of step 3, not all files may have been there.
    assert begun(ended)[-1] in (1, 3), str(ended)
    assert "rebuilt" not in ended.err, str(ended)


def test_a_part_that_is_damaged_is_rebuilt(tmp_path: Path) -> None:
    (tmp_path / "wait-3").touch()

    def disturb(job: jobs.Job) -> None:
        wait_for_step(job, tmp_path, 3, RANKS)
        memory = memory_of(job)
        for path in memory.glob("rank-2-*"):
            damage(path)
        lose(job, 1)
        (tmp_path / "wait-3").unlink()

    program = [PROGRAM, "6", str(KIB), tmp_path]
    ended = jobs.resprout_run(RANKS, program, CODE, meanwhile=disturb)
    assert result_of(ended) == undisturbed(RANKS, 6, KIB), str(ended)
    assert begun(ended) == [0, 3], str(ended)
    assert "the part of ranks 1, 2 was lost, and rebuilt\n" in ended.err, str(ended)


@pytest.mark.parametrize("seed", range(2))
def test_a_rank_is_lost_at_any_moment_and_the_result_has_the_same_bits(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    ranks, size = draw.choice([(4, 4), (5, 2), (6, 3)])
    steps, kib = 60, 1024
    lost = []

    def disturb(job: jobs.Job) -> None:
        for step in (2, 30):
            wait_for_step(job, tmp_path, step)
            time.sleep(draw.random() * 0.05)
            lost.append(draw.randrange(ranks))
            lose(job, lost[-1])
            (tmp_path / "step-0").unlink(missing_ok=True)

    options = [*RESTART, "--checkpoint-code", f"xor:{size}"]
    program = [PROGRAM, str(steps), str(kib), tmp_path]
    ended = jobs.resprout_run(ranks, program, options, meanwhile=disturb)
    assert result_of(ended) == undisturbed(ranks, steps, kib), f"{lost} {ended}"
    assert len(ended.report["lives"]) == 3, f"{lost} {ended}"
    for step, begins in zip((2, 30), begun(ended)[1:], strict=True):
        assert begins >= step - 1, f"{lost} {ended}"
