"""Files that are opened through MPI and outlive losses, before, after and while they are open."""

import random
import sys
from array import array
from pathlib import Path

import covering
import jobs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "files.py"
COUNT, STEPS = 1000, 12  # as the program has them
FIRST_LOSS = {
    "world": ["--inject", "kill:rank=1,at=allreduce#5"],
    "shrunk": ["--inject", "kill:rank=1,at=allreduce#5", "--on-loss", "error"],
    "whole": [],
}
WHERE = list(FIRST_LOSS)


def run(ranks: int, where: str, what: str, folder: Path, *options: str) -> jobs.Ended:
    words = [*FIRST_LOSS[where], *options]
    ended = jobs.resprout_run(ranks, [sys.executable, PROGRAM, where, what, folder], words)
    assert ended.status == 0, str(ended)
    assert "not tested for post-failure operation" not in ended.err, str(ended)
    done = {line for line in ended.out.splitlines() if line.endswith(" is done")}
    assert len(done) >= ranks - len(ended.lost), str(ended)
    return ended


def numbers(path: Path) -> list[int]:
    read = array("q")
    read.frombytes(path.read_bytes())
    return list(read)


def written(rank: int, step: int = 0) -> list[int]:
    return [1000 * i + 10 * rank + step for i in range(COUNT)]


@pytest.mark.parametrize("where", WHERE)
def test_what_each_member_writes_all_can_read(where: str, tmp_path: Path) -> None:
    ended = run(5, where, "in-turns", tmp_path)
    size = 4 if where == "shrunk" else 5
    read = numbers(tmp_path / "file")
    assert len(read) == COUNT * size, str(ended)
    for rank in range(size):
        is_lost = where == "world" and rank == 1
        assert read[rank::size] == ([0] * COUNT if is_lost else written(rank)), rank


@pytest.mark.parametrize("where", WHERE)
def test_what_concerns_the_whole_file_is_done_once(where: str, tmp_path: Path) -> None:
    run(5, where, "as-a-whole", tmp_path)


@pytest.mark.parametrize("where", WHERE)
def test_the_shared_pointer_is_one_for_all(where: str, tmp_path: Path) -> None:
    run(5, where, "shared", tmp_path)


@pytest.mark.parametrize("victim", [0, 3])
@pytest.mark.parametrize("call", ["file_set_view", "barrier"])
def test_members_are_lost_while_a_file_is_open(call: str, victim: int, tmp_path: Path) -> None:
    fault = f"kill:rank={victim},at={call}#5"
    ended = run(5, "whole", "meanwhile", tmp_path, "--inject", fault)
    assert ended.lost == {victim}
    check_meanwhile(ended, tmp_path, 5)


def check_meanwhile(ended: jobs.Ended, folder: Path, ranks: int) -> None:
    read = numbers(folder / "file")
    for step in range(STEPS):
        of_step = read[COUNT * ranks * step : COUNT * ranks * (step + 1)]
        for rank in set(range(ranks)) - ended.lost:
            assert of_step[rank::ranks] == written(rank, step), f"{rank} in {step}\n{ended}"


def check_steps(ended: jobs.Ended, folder: Path, ranks: int) -> None:
    for step in range(STEPS):
        read = numbers(folder / f"file-{step}")
        assert len(read) == COUNT * ranks, str(ended)
        for rank in set(range(ranks)) - ended.lost:
            own = read[COUNT * rank : COUNT * (rank + 1)]
            assert own == written(rank, step), f"{rank} in {step}\n{ended}"


@pytest.mark.parametrize("victim", [0, 3])
@pytest.mark.parametrize("call", ["file_open", "file_set_size", "file_close"])
def test_members_are_lost_in_calls_on_files(call: str, victim: int, tmp_path: Path) -> None:
    fault = f"kill:rank={victim},at={call}#4"
    ended = run(5, "world", "steps", tmp_path, "--inject", fault)
    assert ended.lost == {1, victim}
    check_steps(ended, tmp_path, 5)


@pytest.mark.parametrize("seed", covering.a_share(range(20), of_one=8))
def test_whoever_is_lost_at_whatever_moment_the_others_have_their_files(
    seed: int, tmp_path: Path
) -> None:
    chosen = random.Random(seed)
    ranks = 3 + seed % 6
    victims = chosen.sample([0, *range(2, ranks)], chosen.randint(1, ranks - 2))
    faults = [f"--inject=kill:rank={v},at={chosen.uniform(0.01, 0.25):.4f}s" for v in victims]
    if seed % 2 == 0:
        check_steps(run(ranks, "world", "steps", tmp_path, *faults), tmp_path, ranks)
    else:
        check_meanwhile(run(ranks, "whole", "meanwhile", tmp_path, *faults), tmp_path, ranks)
