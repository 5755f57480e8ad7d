"""Files that are written through MPI where siblings stand in: whoever is lost nobody hangs, what is
read is what was written, and what the user finds is whole or is said not to be."""

import functools
import sys
import tempfile
from pathlib import Path

import covering
import jobs
import pytest
from test_files import COUNT, STEPS, check_meanwhile, numbers, written
from test_stand_in import kill, random_victims

SOURCE = Path(__file__).parent / "programs" / "files.py"
ALL_FORMS = jobs.PROGRAMS / "stand_in_files"
RANKS = 4
CALLS = (
    "barrier",
    "file_close",
    "file_iwrite_all",
    "file_iwrite_at",
    "file_open",
    "file_read_at_all",
    "file_set_view",
    "file_sync",
    "file_write_all",
    "file_write_at",
    "file_write_at_all",
    "file_write_ordered",
    "file_write_ordered_begin",
)


def run(what: str, folder: Path, *options: str) -> jobs.Ended:
    program = [sys.executable, SOURCE, "whole", what, folder]
    words = ["--replicas", "2", "--on-replica-loss", "stand-in", *options]
    return jobs.resprout_run(RANKS, program, words)


def in_all_forms(seed: int, ranks: int, replicas: int, folder: Path, *options: str) -> jobs.Ended:
    """Files are written in all forms and read back, and are what they are without a loss."""
    words = ["--replicas", str(replicas), "--on-replica-loss", "stand-in", *options]
    ended = jobs.resprout_run(ranks, [ALL_FORMS, folder / "file", str(seed), "20"], words)
    assert ended.status == 0, str(ended)
    assert "wrong" not in ended.out, str(ended)
    assert " ends: " not in ended.err, str(ended)
    check_output(ended, ranks)
    found, wanted = contents(folder), expected(seed, ranks)
    assert sorted(found) == sorted(wanted), str(ended)
    for name, text in wanted.items():
        assert found[name] == text, f"{name}: {first_difference(found[name], text)}\n{ended}"
    return ended


def first_difference(found: bytes, wanted: bytes) -> str:
    pairs = enumerate(zip(found, wanted, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), -1)
    return f"{len(found)} bytes, not {len(wanted)}; the first that differs is {at}"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@functools.cache
def expected(seed: int, ranks: int) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        ended = jobs.resprout_run(ranks, [ALL_FORMS, Path(folder) / "file", str(seed), "20"])
        assert (ended.status, "wrong" in ended.out, ended.lost) == (0, False, set()), str(ended)
        return contents(Path(folder))


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def check_output(ended: jobs.Ended, ranks: int = RANKS) -> None:
    said = sorted(line for line in ended.out.splitlines() if line.endswith(" is done"))
    assert said == [f"rank {rank} is done" for rank in range(ranks)], str(ended)


@pytest.mark.parametrize("method", ["none", "async-hash"])
@pytest.mark.parametrize("plane", [None, 0, 1])
def test_the_file_is_whole_whichever_plane_has_lost_somebody(
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
def test_where_no_plane_is_whole_the_file_is(call: str, tmp_path: Path) -> None:
    ended = run("meanwhile", tmp_path, *kill(0, 2, call), *kill(1, 0, call))
    assert how(ended) == ["gaps", "gaps"], str(ended)
    assert ended.status == 0, str(ended)
    check_output(ended)
    read = numbers(tmp_path / "file")
    for step in range(STEPS):
        of_step = read[COUNT * RANKS * step : COUNT * RANKS * (step + 1)]
        for rank in range(RANKS):
            assert of_step[rank::RANKS] == written(rank, step), f"{rank} {step}"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("seed", [1, 2])
def test_who_is_lost_in_a_plane_has_written_and_all_can_read_it(seed: int, tmp_path: Path) -> None:
    faults = kill(0, 2, "file_sync#7") + kill(1, 0, "file_write_ordered#3")
    ended = in_all_forms(seed, 4, 2, tmp_path, *faults)
    assert how(ended) == ["gaps", "gaps"], str(ended)


@pytest.mark.parametrize("seed", covering.a_share(range(30), of_one=10))
def test_whoever_is_lost_files_are_what_they_are_without(seed: int, tmp_path: Path) -> None:
    ranks, replicas = 2 + seed % 5, 2 + seed % 2
    in_all_forms(seed, ranks, replicas, tmp_path, *random_victims(seed, ranks, replicas, CALLS, 12))


def test_what_goes_where_the_shared_pointer_is_stays_if_no_plane_is_whole(tmp_path: Path) -> None:
    ended = run("anywhere", tmp_path, *kill(0, 2, "barrier#5"), *kill(1, 0, "barrier#8"))
    assert how(ended) == ["gaps", "gaps"], str(ended)
    assert ended.status == 5, str(ended)
    check_output(ended)
    file, shadow = sorted(path for path in tmp_path.iterdir() if len(path.suffixes) < 2)
    assert f"{file} may lack what ranks should have written that plane 0 has lost" in ended.err
    assert f"what other planes have is in {shadow}" in ended.err


def test_what_a_rank_has_written_alone_is_that_of_the_plane_in_which_it_could(
    tmp_path: Path,
) -> None:
    ended = run("alone", tmp_path, *kill(0, 2, "barrier#1"), *kill(1, 0, "barrier#1"))
    assert how(ended) == ["gaps", "gaps"], str(ended)
    assert ended.status == 0, str(ended)
    check_output(ended)
    for rank in range(RANKS):
        assert numbers(tmp_path / f"file-{rank}") == written(rank), rank
    assert len(list(tmp_path.iterdir())) == RANKS


NEEDS = " ends: MPI_File_open needs a file that a lost rank has written, or removed, alone"


def check_read_by_others(ended: jobs.Ended, folder: Path) -> None:
    assert ended.status == 0, str(ended)
    check_output(ended)
    read = numbers(folder / "file")
    for rank in range(RANKS):
        assert read[COUNT * rank : COUNT * (rank + 1)] == written(rank, 1), rank
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_who_needs_what_a_lost_one_has_written_alone_ends_and_is_stood_in_for(
    tmp_path: Path,
) -> None:
    ended = run("read-by-others", tmp_path, *kill(0, 2, "file_open#1"))
    check_read_by_others(ended, tmp_path)
    assert f"of plane 0{NEEDS}" in ended.err, str(ended)


def test_what_a_lost_one_has_removed_alone_is_removed_in_its_plane(tmp_path: Path) -> None:
    faults = kill(0, 2, "file_delete#1") + kill(1, 0, "barrier#3")
    ended = run("read-by-others", tmp_path, *faults)
    check_read_by_others(ended, tmp_path)
    assert how(ended) == ["gaps", "gaps"], str(ended)
    assert NEEDS not in ended.err, str(ended)
