"""Files that are written through MPI where siblings stand in: whoever is lost nobody hangs, and
what the user finds is whole or is said not to be."""

import sys
from pathlib import Path

import jobs
import pytest
from test_files import COUNT, STEPS, check_meanwhile, numbers, written
from test_stand_in import kill

SOURCE = Path(__file__).parent / "programs" / "files.py"
RANKS = 4


def run(what: str, folder: Path, *options: str) -> jobs.Ended:
    program = [sys.executable, SOURCE, "whole", what, folder]
    words = ["--replicas", "2", "--on-replica-loss", "stand-in", *options]
    return jobs.resprout_run(RANKS, program, words)


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def check_output(ended: jobs.Ended) -> None:
    said = sorted(line for line in ended.out.splitlines() if line.endswith(" is done"))
    assert said == [f"rank {rank} is done" for rank in range(RANKS)], str(ended)


@pytest.mark.parametrize("method", ["none", "async-hash"])
@pytest.mark.parametrize("plane", [None, 0, 1])
def test_the_file_is_that_of_a_plane_that_has_lost_nobody(
    plane: int | None, method: str, tmp_path: Path
) -> None:
    faults = [] if plane is None else kill(plane, 2, "file_set_view#4")
    ended = run("meanwhile", tmp_path, "--verify", method, *faults)
    assert ended.status == 0, str(ended)
    check_output(ended)
    check_meanwhile(ended, tmp_path, RANKS)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_shared_pointer_of_a_plane_is_its_own(tmp_path: Path) -> None:
    ended = run("shared", tmp_path)
    assert ended.status == 0, str(ended)
    check_output(ended)


@pytest.mark.parametrize("call", ["file_set_view#4", "barrier#5"])
def test_where_no_plane_is_whole_all_files_stay_and_that_is_said(call: str, tmp_path: Path) -> None:
    ended = run("meanwhile", tmp_path, *kill(0, 2, call), *kill(1, 0, call))
    assert how(ended) == ["gaps", "gaps"], str(ended)
    assert ended.status == 5, str(ended)
    check_output(ended)
    file, shadow = sorted(tmp_path.iterdir())
    assert f"{file} may lack what ranks should have written that plane 0 has lost" in ended.err
    assert f"what other planes have is in {shadow}" in ended.err
    # All is there, in one or the other.
    for path, lost in ((file, 2), (shadow, 0)):
        read = numbers(path)
        for step in range(STEPS):
            of_step = read[COUNT * RANKS * step : COUNT * RANKS * (step + 1)]
            for rank in set(range(RANKS)) - {lost}:
                assert of_step[rank::RANKS] == written(rank, step), f"{path} {rank} {step}"
