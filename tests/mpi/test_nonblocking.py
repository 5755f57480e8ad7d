"""Non-blocking and persistent collectives: results while nobody is lost, and what is difficult."""

from pathlib import Path

import jobs
import pytest

UNDER_WAY = jobs.PROGRAMS / "under_way"
FORMS = {"nonblocking": "ibcast", "persistent": "bcast_init"}
BLOCK_FORMS = {"nonblocking": "iscan", "persistent": "scan_init"}
SIBLINGS = ("--replicas", "2", "--verify", "async-hash", "--on-replica-loss", "stand-in")


def check(mode: str, ranks: int, *more: str | Path, options: tuple[str, ...] = ()) -> jobs.Ended:
    transport = "tcp" if ranks % 2 else "auto"
    ended = jobs.resprout_run(ranks, [UNDER_WAY, mode, *more], ["--transport", transport, *options])
    assert ended.status == 0 and ended.out == f"{mode}\n", str(ended)
    return ended


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ranks", [3, 8])
def test_reductions_and_broadcasts_give_the_native_result(form: str, ranks: int) -> None:
    transport = "tcp" if ranks % 2 else "auto"
    program = [jobs.PROGRAMS / f"equality_{form}", "layouts"]
    ended = jobs.resprout_run(ranks, program, ["--transport", transport])
    assert ended.status == 0 and int(ended.out.split()[0]) >= 150, str(ended)
    # It was not the MPI library that was compared with itself.
    assert ended.calls(FORMS[form]) >= 10 * ranks and ended.calls("bcast") == 0, str(ended)


@pytest.mark.parametrize("form", BLOCK_FORMS)
@pytest.mark.parametrize("ranks", [4, 7])
def test_gathers_and_their_kin_give_the_native_result(form: str, ranks: int) -> None:
    transport = "tcp" if ranks % 2 else "auto"
    program = [jobs.PROGRAMS / f"equality_blocks_{form}", "20"]
    ended = jobs.resprout_run(ranks, program, ["--transport", transport])
    assert ended.status == 0 and ended.out == "20 rounds\n", str(ended)
    assert ended.calls(BLOCK_FORMS[form]) == 20 * ranks and ended.calls("scan") == 0, str(ended)


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_hundreds_on_two_communicators_end_in_any_order(ranks: int) -> None:
    check("many", ranks)


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_rank_that_waits_for_a_message_goes_on_with_a_sum(ranks: int) -> None:
    check("needed", ranks)


@pytest.mark.parametrize("collectives", ["auto", "native", "trees"])
def test_a_rank_in_a_collective_elsewhere_goes_on_with_a_sum(collectives: str) -> None:
    check("elsewhere", 4, options=("--collectives", collectives))


def test_each_thread_is_told_the_end_of_its_own() -> None:
    check("threads", 2)


@pytest.mark.parametrize("ranks", [3, 4])
def test_what_needs_no_operator_goes_on_while_ranks_compute(ranks: int, tmp_path: Path) -> None:
    check("alone", ranks, tmp_path / "through")


@pytest.mark.parametrize("ranks", [3, 4])
def test_persistent_requests_start_again_and_again(ranks: int) -> None:
    check("persistent", ranks)


# mpi4py is such a program.
@pytest.mark.parametrize("options", [(), ("--collectives", "trees"), SIBLINGS])
def test_persistent_requests_start_when_the_arrays_of_their_call_are_gone(
    options: tuple[str, ...],
) -> None:
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "arrays_gone", "3"], options)
    assert (ended.status, ended.out) == (0, "right\n"), str(ended)


@pytest.mark.parametrize("ranks", [3, 4])
def test_what_is_freed_early_is_kept_while_it_is_needed(ranks: int) -> None:
    check("freed", ranks)


def test_mistakes_are_those_that_mpi_makes_of_them() -> None:
    check("mistakes", 4)


@pytest.mark.parametrize("ranks", [4, 5])
def test_every_call_that_completes_one_says_that_a_rank_was_lost(ranks: int) -> None:
    ended = check("lost", ranks, options=("--on-loss", "error"))
    assert ended.lost == {1}, str(ended)
