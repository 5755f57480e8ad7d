"""Ranks that live, and do not come to what all others wait in: it is said who waits for whom."""

import covering
import jobs
import pytest

RANKS = 4


def run(how: str, *options: str) -> "jobs.Ended":
    program = [jobs.PROGRAMS / "latecomers", how]
    return jobs.resprout_run(RANKS, program, ["--call-timeout", "2", *options])


@pytest.mark.parametrize("collectives", covering.a_share(["auto", "trees", "native"], 3))
def test_a_rank_that_never_comes_is_ended_and_the_others_go_on(collectives: str) -> None:
    ended = run("computes", "--on-call-timeout", "end", "--collectives", collectives)
    assert ended.status == 0, str(ended)
    assert ended.out == "sum 3\n", str(ended)
    assert "ranks 0-1, 3 have waited in MPI_Barrier on MPI_COMM_WORLD" in ended.err, str(ended)
    assert "rank 2 has been outside of MPI" in ended.err, str(ended)
    assert [loss["rank"] for loss in ended.report["losses"]] == [2], str(ended)
    assert ended.report["losses"][0]["how"] == "stood_still", str(ended)


def test_the_one_on_whom_a_chain_hangs_is_ended() -> None:
    ended = run("chain", "--on-call-timeout", "end", "--on-unanswered", "ignore")
    assert ended.status == 0, str(ended)
    assert "rank 2 has waited in MPI_Recv on MPI_COMM_WORLD" in ended.err, str(ended)
    assert [loss["rank"] for loss in ended.report["losses"]] == [3], str(ended)


def test_a_deadlock_is_named_and_ends_the_job_if_so_asked() -> None:
    ended = run("deadlock", "--on-call-timeout", "abort")
    assert ended.status == 76, str(ended)
    assert "the program is in a deadlock" in ended.err, str(ended)
    assert ended.report["call_timeouts"][0]["ends_job"], str(ended)
    assert ended.report["missing"] == [], str(ended)


def test_one_that_is_late_is_reported_and_waited_for() -> None:
    ended = run("late")
    assert ended.status == 0, str(ended)
    assert ended.out == "sum 4\n", str(ended)
    assert ended.report["losses"] == [], str(ended)
