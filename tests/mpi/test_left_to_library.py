"""Collectives that are left to the MPI library until a loss, and what of them a loss leaves behind.

`test_block_kills.py` kills ranks inside of each of them.
"""

from pathlib import Path

import jobs
import kills
import pytest
from kills import Case
from test_block_kills import FUNCTIONS, program_of

FAR_APART = jobs.PROGRAMS / "far_apart"
RANKS = 4


@pytest.mark.parametrize("ranks", [2, 4])
def test_the_library_carries_all_that_has_data(ranks: int, tmp_path: Path) -> None:
    case = Case(400 + ranks, "c", ranks, "auto", (), 30, "native")
    ended = kills.run(case, program_of(case, tmp_path), tmp_path)
    operations = ended.report["operations"]
    assert {name for name in FUNCTIONS if operations[name]["native"]} == set(FUNCTIONS), ended


@pytest.mark.parametrize("call", ["allgatherv#3", "alltoallv#4"])
def test_what_the_lost_have_not_given_stays_where_parts_are_far_apart(call: str) -> None:
    ended = jobs.resprout_run(
        RANKS,
        [FAR_APART, "6"],
        [f"--inject=kill:rank=2,at={call}", "--collectives", "native"],
    )
    assert (ended.status, ended.lost) == (0, {2}), ended
    assert ended.out.count("is through, without 1") == RANKS - 1, ended
