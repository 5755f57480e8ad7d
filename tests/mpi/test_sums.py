"""RESPROUT_SUM=reproducible: the same bits for the same contributors."""

import sys
from pathlib import Path

import jobs
import pytest

RANKS = 6
TREES = ["ftco-allreduce:k=2", "ftco-allreduce:k=3", "ftco-allreduce:k=64"]


def sums(folder: Path, options: list[str], mode: str = "all", ranks: int = RANKS) -> list[bytes]:
    """What each rank got."""
    folder.mkdir()
    ended = jobs.resprout_run(ranks, [jobs.PROGRAMS / "sums", folder, mode], options)
    assert ended.status == 0, str(ended)
    return [(folder / f"sums-{rank}").read_bytes() for rank in range(ranks)]


def test_reproducible_sums_have_the_same_bits_on_every_tree(tmp_path: Path) -> None:
    options = ["--sum", "reproducible"]
    expected = sums(tmp_path / "default", options)
    assert len(expected[0]) == 3 * 4 * 500 * 8 and len(set(expected)) == 1
    for number, tree in enumerate(TREES):
        for transport in ["shm", "tcp"]:
            folder = tmp_path / f"{number}-{transport}"
            got = sums(folder, [*options, "--allreduce", tree, "--transport", transport])
            assert got == expected, f"{tree} over {transport}"


def test_other_sums_depend_on_the_tree(tmp_path: Path) -> None:
    """Otherwise the test above would show nothing."""
    binomial = sums(tmp_path / "2", ["--allreduce", TREES[0]])
    assert binomial != sums(tmp_path / "3", ["--allreduce", TREES[1]])


@pytest.mark.parametrize("tree", TREES[:2])
def test_a_loss_leaves_the_bits_of_the_others_sum(tree: str, tmp_path: Path) -> None:
    """A rank that dies before the first operation is one that gave nothing."""
    options = ["--sum", "reproducible", "--allreduce", tree]
    expected = sums(tmp_path / "without", options, "without-last")
    folder = tmp_path / "killed"
    folder.mkdir()
    kill = ["--inject", f"kill:rank={RANKS - 1},at=allreduce#1"]
    ended = jobs.resprout_run(RANKS, [jobs.PROGRAMS / "sums", folder, "all"], [*options, *kill])
    assert ended.status == 0 and ended.lost == {RANKS - 1}, str(ended)
    for rank in range(RANKS - 1):
        assert (folder / f"sums-{rank}").read_bytes() == expected[rank]


def test_reproducible_sums_are_those_of_exact_arithmetic_whoever_is_lost() -> None:
    program = [sys.executable, Path(__file__).parent / "programs" / "exact_sums.py"]
    ended = jobs.resprout_run(4, program, ["--sum", "reproducible"])
    assert ended.status == 0 and ended.lost == {1, 2, 3}, str(ended)
    assert "numbers compared" in ended.out, str(ended)


REPLICATED = [["--on-replica-loss", "end-plane"], ["--on-replica-loss", "stand-in"]]


@pytest.mark.parametrize("options", REPLICATED, ids=["end-plane", "stand-in"])
def test_replicas_have_the_same_bits(options: list[str], tmp_path: Path) -> None:
    """Also where no plane is whole any more, and everybody works them out."""
    stands_in = "stand-in" in options
    expected = sums(tmp_path / "alone", ["--sum", "reproducible"])
    folder = tmp_path / "replicas"
    folder.mkdir()
    victims = {(0, 1): 2, (1, 2): 3} if stands_in else {(0, 1): 2}
    faults = [
        f"--inject=kill:rank={rank},replica={plane},at=allreduce#{number}"
        for (plane, rank), number in victims.items()
    ]
    job = ["--replicas", "2", "--sum", "reproducible", *options, *faults]
    ended = jobs.resprout_run(RANKS, [jobs.PROGRAMS / "sums", folder, "all"], job)
    assert ended.status == 0, str(ended)
    for plane in (0, 1) if stands_in else (1,):
        for rank in set(range(RANKS)) - {rank for of, rank in victims if of == plane}:
            assert (folder / f"sums-{rank}-{plane}").read_bytes() == expected[rank], str(ended)
