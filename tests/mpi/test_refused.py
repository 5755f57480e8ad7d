"""What is refused: of what is made for all once one is lost, and what replicas cannot carry."""

import sys
from pathlib import Path

import jobs
import pytest

MADE = ["comm_dup", "comm_dup_with_info", "comm_split", "comm_split_type", "comm_create",
        "cart_create", "cart_sub", "graph_create", "dist_graph_create",
        "dist_graph_create_adjacent", "win_create", "win_allocate",
        "win_create_dynamic"]  # fmt: skip
REFUSED = ["win_allocate_shared", "file_open"]  # files together


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_after_a_loss_communicators_and_windows_are_made_and_what_needs_all_is_refused(
    ranks: int, tmp_path: Path
) -> None:
    program = [jobs.PROGRAMS / "refused", tmp_path / "file"]
    ended = jobs.resprout_run(ranks, program)
    assert ended.status == 0 and ended.lost == {ranks - 1}, str(ended)
    assert ended.out == f"{ranks - 1} go on\n", str(ended)
    said = "resprout_open: alone is neither apart nor together; it is apart"
    assert ended.err.count(said) == 2, str(ended)
    operations = ended.report["operations"]
    for name in MADE:
        assert operations[name]["errors"] == 0, f"{name}: {ended}"
    for name in REFUSED:
        assert operations[name]["errors"] == ranks - 1, f"{name}: {ended}"


@pytest.mark.parametrize(
    "options",
    [[], ["--verify", "async"], ["--on-replica-loss", "stand-in"]],
    ids=["plain", "verified", "stand-in"],
)
def test_replicas_cannot_revoke_and_a_line_says_so(options: list[str]) -> None:
    source = "from mpi4py import MPI; w = MPI.COMM_WORLD; w.rank or w.Revoke(); w.recv(tag=5)"
    words = ["--replicas", "2", *options]
    ended = jobs.resprout_run(2, [sys.executable, "-c", source], words)
    assert ended.status == 2, str(ended)
    said = "rank 0: MPIX_Comm_revoke would end calls in one replica that end well in another"
    assert ended.err.count(said) == 1, str(ended)
    assert "run it without --replicas" in ended.err
