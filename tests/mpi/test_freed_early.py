"""Requests that outlive their communicators: what a loss does to them is told to the handler of the
communicator that they were started on.

programs/freed_early.c checks itself: what each call returns, and what which handler hears.
"""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "freed_early"
RANKS = 4
CALLS = {"receive": "Wait", "broadcast": "Ibcast", "earliest": "Wait", "started-after": "Wait",
         "early-broadcast": "Ibcast", "waitall": "Waitall", "early": "Wait"}  # fmt: skip
USUAL = 3


@pytest.mark.parametrize("call", list(CALLS)[: None if covering.is_every_case_wanted() else USUAL])
def test_a_fatal_handler_ends_the_job_though_its_communicator_is_freed(call: str) -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM, "fatal", call])
    assert ended.status == 75 and "WRONG" not in ended.err, ended
    assert f"MPI_{CALLS[call]} on freed needs data of rank 0, which is lost" in ended.err, ended


def test_a_handler_of_the_program_hears_once_of_each_request_on_a_freed_communicator() -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM, "own", "all"])
    assert ended.status == 0 and "WRONG" not in ended.err, ended
    assert ended.out.count("is through") == RANKS - 1, ended


def test_keys_that_are_freed_with_their_communicators_raise_no_error_later() -> None:
    ended = jobs.resprout_run(2, [jobs.PROGRAMS / "reused_keys"])
    assert (ended.status, ended.out) == (0, "nobody heard of an error\n"), str(ended)
