"""Where numbers end: of communicators, and of bytes and elements in one call."""

import covering
import jobs
import pytest

COMMUNICATORS = jobs.PROGRAMS / "many_communicators"
# What these cases have in common: they need more memory, or minutes, than `make test` has.
much = pytest.mark.skipif(
    not covering.is_every_case_wanted(), reason=f"needs much memory or time: {covering.EVERY}=1"
)


def test_after_a_loss_there_are_as_many_communicators_again_as_were_freed() -> None:
    ended = jobs.resprout_run(3, [COMMUNICATORS])
    assert (ended.status, ended.out, ended.lost) == (0, "32\n", {1}), str(ended)
    assert "of the 32 that can be in use after a loss" in ended.err, str(ended)


def test_many_communicators_are_used_one_after_the_other() -> None:
    ended = jobs.resprout_run(2, [COMMUNICATORS, "400"])
    assert (ended.status, ended.out, ended.lost) == (0, "400\n", set()), str(ended)


@much
def test_nearly_all_communicators_that_the_mpi_library_can_make_are_the_program_s() -> None:
    ended = jobs.resprout_run(2, [COMMUNICATORS, "70000"])
    assert ended.status == 0 and 65000 < int(ended.out) < 65536, str(ended)
    assert "the MPI library has a number for no more of them" in ended.err, str(ended)
    assert "after a loss" not in ended.err, str(ended)


@much
@pytest.mark.parametrize("collectives", ["auto", "resprout"])
def test_collectives_of_more_bytes_or_elements_than_an_int_counts(collectives: str) -> None:
    program = [jobs.PROGRAMS / "beyond_ints"]
    ended = jobs.resprout_run(2, program, ["--collectives", collectives])
    assert (ended.status, ended.out) == (0, "beyond ints\n"), str(ended)
