"""What replicas write to files through MPI is compared, and the job's file is the majority's."""

from array import array
from pathlib import Path

import covering
import jobs
import pytest

RANKS = 3
WORDS = 1000
METHODS = ["all-to-all", "async-hash", "msg-plus-hash", "async"]
EVERY_CASE = [
    (replicas, method, on_loss, half, plane)
    for replicas in (2, 3)
    for method in METHODS
    for on_loss in ("end-plane", "stand-in")
    for half in (0, 1)
    for plane in range(replicas)
]
FEW = [
    (3, "all-to-all", "end-plane", 0, 0),
    (3, "async-hash", "end-plane", 1, 0),
    (3, "msg-plus-hash", "stand-in", 1, 0),
    (2, "async", "end-plane", 1, 1),
]


def contents() -> bytes:
    """As the views of the ranks lay it out."""
    numbers = array("i")
    for block in range(2 * WORDS // 10):
        half, begin = divmod(block * 10, WORDS)
        for rank in range(RANKS):
            first = (half * RANKS + rank) * WORDS + begin
            numbers.extend(range(first, first + 10))
    return numbers.tobytes()


@pytest.mark.parametrize(
    ("replicas", "method", "on_loss", "half", "plane"),
    EVERY_CASE if covering.is_every_case_wanted() else FEW,
)
def test_the_file_is_the_majority_s_and_two_that_differ_end_the_job(
    replicas: int, method: str, on_loss: str, half: int, plane: int, tmp_path: Path
) -> None:
    file = tmp_path / "out"
    program = [jobs.PROGRAMS / "written_wrong", file, str(half), str(plane)]
    options = ["--replicas", str(replicas), "--verify", method, "--on-replica-loss", on_loss]
    ended = jobs.resprout_run(RANKS, program, options)
    assert ended.status == (0 if replicas == 3 else 4), str(ended)
    found = ended.report["corruptions"]
    assert found, str(ended)
    assert {one["call"] for one in found} <= {"file_sync", "file_close"}, str(ended)
    assert {(one["of"], one["sender"]) for one in found} == {("result", 1)}, str(ended)
    assert "what rank 1 has written to a file" in ended.err, str(ended)
    if replicas == 3:
        assert all(one["wrong_replicas"] == [plane] for one in found), str(ended)
        assert file.read_bytes() == contents(), str(ended)
        assert [path.name for path in tmp_path.iterdir()] == ["out"], str(ended)


def test_nothing_is_found_where_all_write_the_same(tmp_path: Path) -> None:
    file = tmp_path / "out"
    program = [jobs.PROGRAMS / "written_wrong", file, "0", "9"]
    ended = jobs.resprout_run(RANKS, program, ["--replicas", "3", "--verify", "all-to-all"])
    assert ended.status == 0, str(ended)
    assert ended.report["corruptions"] == []
    assert file.read_bytes() == contents()
