"""What programs of MPICH and Intel MPI do after a loss: they repair their communicators, make new
ones and windows, go back to checkpoints, and come to their ends.

The programs are those that Open MPI is tried with. All on both libraries runs with EVERY_CASE=1.
"""

from pathlib import Path

import covering
import jobs
import other_mpis
import pytest
from test_other_mpis_kills import with_shim

IS_EVERY_CASE = covering.is_every_case_wanted()
# Of MPI_Finalize, which takes some milliseconds, on busy cores more.
MOMENTS = [0, 100, 300, 500, 800, 1200, 1700, 2300, 3000, 4000, 6000, 9000, 14000, 20000, 40000]
REVOKED = ["recv_any", "ssend", "sends_waitall", "probe", "allreduce", "create_group", "win_create"]


@pytest.fixture(params=other_mpis.PREFIXES if IS_EVERY_CASE else ["MPICH"])
def prefix(request: pytest.FixtureRequest) -> Path:
    return with_shim(request.param)


def run(prefix: Path, ranks: int, words: list[str], *options: str) -> jobs.Ended:
    chosen = [*other_mpis.options(prefix), "--on-unanswered", "ignore", *options]
    program = [other_mpis.program(words[0]), *words[1:]]
    return jobs.resprout_run(ranks, program, chosen)


def repaired(prefix: Path, ranks: int, words: list[str], *options: str) -> jobs.Ended:
    """With --on-loss error, where nothing is left unanswered."""
    chosen = [*other_mpis.options(prefix), "--on-loss", "error", *options]
    return jobs.resprout_run(ranks, [other_mpis.program(words[0]), *words[1:]], chosen)


def check_all_through(ended: jobs.Ended, ranks: int, victim: int) -> None:
    assert ended.status == 0 and ended.lost == {victim}, str(ended)
    living = [f"rank {rank} is through" for rank in range(ranks) if rank != victim]
    assert sorted(ended.out.splitlines()) == living, str(ended)


def test_a_communicator_made_after_a_loss_is_one_like_any_other(prefix: Path) -> None:
    ended = repaired(prefix, 4, ["derived"])
    assert ended.status == 0 and ended.out.count(" checks\n") == 3, str(ended)
    assert ended.lost == {1}, str(ended)


def test_a_program_repairs_its_communicator_itself(prefix: Path) -> None:
    faults = ["kill:rank=1,at=sendrecv#200", "kill:rank=3,at=comm_agree#12"]
    options = [word for fault in faults for word in ("--inject", fault)]
    ended = repaired(prefix, 4, ["repair", "500"], *options)
    assert ended.status == 0 and ended.out.startswith("2 are left after"), str(ended)


@pytest.mark.parametrize("how", ["", "groups"] if IS_EVERY_CASE else ["groups"])
def test_a_death_in_the_making_of_a_communicator_keeps_nobody(prefix: Path, how: str) -> None:
    words = ["makings", "100", how] if how else ["makings", "100"]
    ended = run(prefix, 4, words, "--inject", "kill:rank=2,at=0.06s")
    assert ended.status == 0 and ended.lost == {2}, str(ended)
    assert ended.out.count(" is through\n") == 3, str(ended)


@pytest.mark.parametrize("kind", ["created", "allocated", "made"] if IS_EVERY_CASE else ["made"])
def test_fences_outlive_a_loss(prefix: Path, kind: str) -> None:
    fault = "kill:rank=1,at=win_fence#11"
    check_all_through(run(prefix, 4, ["fences", "12", kind], "--inject", fault), 4, 1)


@pytest.mark.parametrize("call", REVOKED if IS_EVERY_CASE else ["ssend"])
def test_whoever_waits_on_a_revoked_communicator_leaves_it(prefix: Path, call: str) -> None:
    ended = jobs.resprout_run(3, [other_mpis.program("revoke"), call], other_mpis.options(prefix))
    assert ended.status == 0 and ended.out == "all is over\n", str(ended)


def test_a_job_goes_on_from_its_checkpoints_in_memory(prefix: Path) -> None:
    options = [*other_mpis.options(prefix), "--on-loss", "restart"]
    program = [other_mpis.program("lasting"), "40", "64"]
    whole = jobs.resprout_run(3, program, options)
    ended = jobs.resprout_run(3, program, [*options, "--inject", "kill:rank=1,at=allreduce#20"])
    assert (whole.status, ended.status) == (0, 0), f"{whole}{ended}"
    assert ended.out.splitlines()[-1] == whole.out.splitlines()[-1], f"{whole}{ended}"
    assert "begins at step 19\n" in ended.out, str(ended)
    assert [life["how"] for life in ended.report["lives"]] == ["lost", "whole"], str(ended)


@pytest.mark.parametrize("library", other_mpis.PREFIXES)
def test_a_death_in_mpi_finalize_keeps_nobody(library: str) -> None:
    ended = run(with_shim(library), 3, ["finalize"])
    assert sorted(ended.out.splitlines()) == ["rank 0 is through", "rank 2 is through"], str(ended)


@pytest.mark.parametrize("time_us", MOMENTS if IS_EVERY_CASE else MOMENTS[::7])
@pytest.mark.parametrize("library", other_mpis.PREFIXES)
def test_a_death_at_any_moment_of_mpi_finalize_keeps_nobody(library: str, time_us: int) -> None:
    ended = run(with_shim(library), 3, ["finalize", str(time_us)])
    through = {int(line.split()[1]) for line in ended.out.splitlines()}
    assert through - {1} == {0, 2}, str(ended)


def test_messages_to_who_waits_in_a_collective_do_not_stop_their_sender(prefix: Path) -> None:
    ended = run(prefix, 3, ["unheard"])
    assert (ended.status, ended.out) == (0, "3000 are right\n"), str(ended)
