"""What is not valid, not for Resprout or not wanted, in gathers, scatters, exchanges and scans."""

import jobs

PROGRAM = jobs.PROGRAMS / "block_edges"


def test_arguments_that_are_not_valid_give_the_errors_that_mpi_has_for_them() -> None:
    ended = jobs.resprout_run(3, [PROGRAM, "mistakes"])
    assert ended.status == 0 and ended.out == "mistakes\n" * 3, str(ended)


def test_collectives_between_two_groups_are_the_mpi_librarys() -> None:
    ended = jobs.resprout_run(4, [PROGRAM, "between"])
    assert ended.status == 0 and ended.out == "between\n" * 4, str(ended)


def test_in_error_mode_every_call_on_a_communicator_with_a_loss_returns_it() -> None:
    ended = jobs.resprout_run(4, [PROGRAM, "lost"], ["--on-loss", "error"])
    assert ended.out == "lost\n" * 3 and ended.lost == {1}, str(ended)
