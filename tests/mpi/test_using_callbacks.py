"""Callbacks of attributes may use communicators, also the one that is being freed."""

import jobs
import pytest


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("collectives", ["auto", "native", "resprout"])
def test_what_callbacks_use_waits_for_nobody_else(ranks: int, collectives: str) -> None:
    program = [str(jobs.PROGRAMS / "using_callbacks")]
    ended = jobs.resprout_run(ranks, program, ["--collectives", collectives])
    expected = [f"rank {rank}: right" for rank in range(ranks)]
    assert (ended.status, sorted(ended.out.splitlines())) == (0, expected), str(ended)
