"""What the MPI library makes for all members of a communicator is refused once one is lost."""

from pathlib import Path

import jobs
import pytest

CALLS = ["comm_dup", "comm_dup_with_info", "comm_split", "comm_split_type", "comm_create",
         "cart_create", "cart_sub", "graph_create", "dist_graph_create",
         "dist_graph_create_adjacent", "win_create", "win_allocate", "win_allocate_shared",
         "win_create_dynamic", "file_open"]  # fmt: skip


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_new_communicators_windows_and_files_are_refused_after_a_loss(
    ranks: int, tmp_path: Path
) -> None:
    program = [jobs.PROGRAMS / "refused", tmp_path / "file"]
    ended = jobs.resprout_run(ranks, program)
    assert ended.status == 0 and ended.lost == {ranks - 1}, str(ended)
    assert ended.out == f"{ranks - 1} go on\n", str(ended)
    for name in CALLS:
        operation = ended.report["operations"][name]
        assert operation["errors"] == ranks - 1, f"{name}: {ended}"
