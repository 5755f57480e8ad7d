"""Calls with arguments that MPI refuses get the error that they get without Resprout."""

import jobs
import pytest

RANKS = 2
PROGRAM = jobs.PROGRAMS / "wrong_arguments"
OPTIONS = [
    (), ("--collectives", "resprout"), ("--on-loss", "error"), ("--transport", "tcp"),
    ("--replicas", "2", "--verify", "msg-plus-hash"),
]  # fmt: skip


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What the ranks say under plain mpirun."""
    words = ["env", *(f"{name}={value}" for name, value in jobs.by_hand().items())]
    ended = jobs.run([*words, jobs.MPIRUN, "--oversubscribe", "-n", str(RANKS), PROGRAM])
    assert ended.status == 0, ended
    return sorted(ended.out.splitlines())


@pytest.mark.parametrize("options", OPTIONS)
def test_wrong_arguments_get_the_librarys_errors(
    options: tuple[str, ...], errors: list[str]
) -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM], options)
    assert ended.status == 0, ended
    assert sorted(ended.out.splitlines()) == errors
