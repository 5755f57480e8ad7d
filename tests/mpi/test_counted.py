"""Faults on purpose come at every call that makes or ends something."""

import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "counted"
CALLS = [
    "cart_create", "cart_sub", "comm_create", "comm_create_from_group", "comm_create_group",
    "comm_disconnect", "comm_dup", "comm_dup_with_info", "comm_free", "comm_idup",
    "comm_idup_with_info", "comm_split", "comm_split_type", "dist_graph_create",
    "dist_graph_create_adjacent", "graph_create", "intercomm_create", "intercomm_merge",
    "win_create", "win_fence", "win_free",
]  # fmt: skip


def test_all_of_them_are_counted() -> None:
    ended = jobs.resprout_run(4, [PROGRAM])
    assert ended.status == 0, str(ended)
    assert [call for call in CALLS if ended.calls(call) == 0] == [], str(ended)


@pytest.mark.parametrize("call", CALLS)
def test_a_rank_ends_there_and_nobody_else(call: str) -> None:
    ended = jobs.resprout_run(4, [PROGRAM], ["--inject", f"kill:rank=2,at={call}#1"])
    assert (ended.status, ended.lost) == (0, {2}), str(ended)
    assert ended.report["faults_left"] == [], str(ended)
