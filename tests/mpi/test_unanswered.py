"""Calls that need data which only a dead rank had: `--on-unanswered` says what follows.

programs/unanswered.c checks itself: what each call returns, and what its handler hears.
"""

import covering
import jobs
import pytest

PROGRAM = jobs.PROGRAMS / "unanswered"
RANKS = 4
STATUS = 75
CALLS = ["recv", "bcast", "waitall", "get", "scatter", "sendrecv", "ibcast", "probe", "start"]


def run(handler: str, calls: str, *options: str) -> jobs.Ended:
    return jobs.resprout_run(RANKS, [PROGRAM, handler, calls], options)


def lines(ended: jobs.Ended) -> list[str]:
    """Those that say that the job ends for want of data."""
    return [line for line in ended.err.splitlines() if f"status {STATUS}, as" in line]


def check_that_it_ended(ended: jobs.Ended, call: str, why: str, on: str = "field") -> None:
    assert ended.status == STATUS, ended
    assert "WRONG" not in ended.err, ended
    assert "is through" not in ended.out, ended
    (line,) = lines(ended)
    assert f"{call} on {on} needs data of rank 0, which is lost" in line, ended
    assert why in line, ended
    assert "--on-unanswered ignore" in line, ended
    assert any(one["ends_job"] for one in ended.report["unanswered"]), ended
    (loss,) = ended.report["losses"]
    assert loss["pid"] is not None, ended


def check_that_it_went_on(ended: jobs.Ended) -> None:
    assert ended.status == 0, ended
    assert "WRONG" not in ended.err, ended
    assert ended.out.count("is through") == RANKS - 1, ended
    assert lines(ended) == [], ended
    assert {one["rank"] for one in ended.report["unanswered"]} == {1, 2, 3}, ended
    assert all(one["lost"] == [0] for one in ended.report["unanswered"]), ended


@pytest.mark.parametrize("call", CALLS if covering.is_every_case_wanted() else CALLS[:4])
def test_under_the_default_handler_the_job_ends(call: str) -> None:
    names = {"get": "MPI_Win_fence", "ibcast": "MPI_Ibcast", "start": "MPI_Wait"}
    name = names.get(call, f"MPI_{call.capitalize()}")
    on = "shown" if call == "get" else "field"
    check_that_it_ended(run("fatal", call), name, "its error handler is fatal", on)


@pytest.mark.parametrize("collectives", ["auto", "native", "trees"])
def test_a_handler_of_the_program_hears_of_each_such_call_and_of_no_other(collectives: str) -> None:
    check_that_it_went_on(run("own", "all", "--collectives", collectives))


@pytest.mark.parametrize(
    ("handler", "mode"), [("returns", "handler"), ("fatal", "ignore"), ("own", "ignore")]
)
def test_codes_are_returned_if_the_program_or_its_user_says_so(handler: str, mode: str) -> None:
    check_that_it_went_on(run(handler, "all", "--on-unanswered", mode))


@pytest.mark.parametrize("handler", ["returns", "own"])
def test_the_job_ends_in_any_case_if_its_user_says_so(handler: str) -> None:
    ended = run(handler, "recv", "--on-unanswered", "abort")
    check_that_it_ended(ended, "MPI_Recv", "as --on-unanswered abort says")
