"""Error handlers that call MPI themselves: whatever has called them waits for nothing of theirs."""

import jobs
import pytest

RANKS = 4
CALLS = ["agree", "iagree", "barrier", "recv", "dup", "shrink"]
REPAIRS = ["revoke", "agree", "shrink"]


def ends_well(*words: str) -> None:
    program = [str(jobs.PROGRAMS / "repairing_handlers"), *words]
    ended = jobs.resprout_run(RANKS, program, ["--on-loss", "error"])
    expected = sorted(f"rank {rank}: repaired, 3 left" for rank in range(RANKS - 1))
    assert (ended.status, sorted(ended.out.splitlines())) == (0, expected), str(ended)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("repair", REPAIRS)
def test_a_handler_may_repair_whatever_call_it_is_called_from(call: str, repair: str) -> None:
    ends_well(call, repair)


@pytest.mark.parametrize("call", CALLS)
def test_a_handler_need_not_come_back(call: str) -> None:
    ends_well(call, "revoke", "jump")
