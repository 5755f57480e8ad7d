"""Of what is made for all members of a communicator, once one is lost: what is refused."""

from pathlib import Path

import jobs
import pytest

MADE = ["comm_dup", "comm_dup_with_info", "comm_split", "comm_split_type", "comm_create",
        "cart_create", "cart_sub"]  # fmt: skip
REFUSED = ["graph_create", "dist_graph_create", "dist_graph_create_adjacent", "win_create",
           "win_allocate", "win_allocate_shared", "win_create_dynamic",
           "file_open"]  # fmt: skip


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_after_a_loss_communicators_are_made_and_graphs_windows_and_files_refused(
    ranks: int, tmp_path: Path
) -> None:
    program = [jobs.PROGRAMS / "refused", tmp_path / "file"]
    ended = jobs.resprout_run(ranks, program)
    assert ended.status == 0 and ended.lost == {ranks - 1}, str(ended)
    assert ended.out == f"{ranks - 1} go on\n", str(ended)
    operations = ended.report["operations"]
    for name in MADE:
        assert operations[name]["errors"] == 0, f"{name}: {ended}"
    for name in REFUSED:
        assert operations[name]["errors"] == ranks - 1, f"{name}: {ended}"
