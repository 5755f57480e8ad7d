"""Ranks of MPICH and Intel MPI are killed in collectives: the others have right results.

All kinds of calls, and mpi4py on Intel MPI, whose ranks do not yield while they wait, run with
EVERY_CASE=1.
"""

from pathlib import Path

import covering
import jobs
import other_mpis
import pytest

PACKAGE = jobs.ROOT / "python" / "resprout"
SHIM = PACKAGE / "libresprout_mpich.so"
# By MPICH's compiler wrappers: for its own binary interface, and for that of MPI 5.
SHIMS = {"mpicc": SHIM, "mpicc_abi": PACKAGE / "libresprout_mpi_abi.so"}
KINDS = ("allreduce", "bcast", "barrier", "reduce", "gather", "alltoall", "iallreduce", "sendrecv")
TRIED = KINDS if covering.is_every_case_wanted() else ("allreduce", "gather")
TRANSPORTS = ["shm", "tcp"] if covering.is_every_case_wanted() else ["shm"]
ROUNDS = 600
PYTHON = """
from array import array
from mpi4py import MPI
comm = MPI.COMM_WORLD
comm.Set_errhandler(MPI.ERRORS_RETURN)
before, wrong = comm.size, 0
for _ in range(400):
    total = array("d", [0.0])
    comm.Allreduce(array("d", [1.0]), total)
    wrong += not 1 <= total[0] <= before
    before = total[0]
    comm.Barrier()
import sys
sys.stdout.write(f"rank {comm.rank} {'ok' if wrong == 0 else wrong} {int(before)}\\n")
"""


def with_shim(name: str, shim: Path = SHIM) -> Path:
    if not shim.exists():
        pytest.skip(f"there is no {shim.name}; `make mpis` builds it")
    other_mpis.need(other_mpis.PREFIXES[name])
    return other_mpis.PREFIXES[name]


@pytest.fixture(params=other_mpis.PREFIXES)
def prefix(request: pytest.FixtureRequest) -> Path:
    return with_shim(request.param)


@pytest.fixture(params=other_mpis.PREFIXES if covering.is_every_case_wanted() else ["MPICH"])
def prefix_of_python(request: pytest.FixtureRequest) -> Path:
    return with_shim(request.param)


def killed(
    prefix: Path, kind: str, ranks: int, victims: list[int], *more: str, wrapper: str = "mpicc"
) -> jobs.Ended:
    faults = [f"kill:rank={victim},at={kind}#{100 + 50 * i}" for i, victim in enumerate(victims)]
    options = [word for fault in faults for word in ("--inject", fault)]
    program = [other_mpis.program("collectives", wrapper), kind, str(ROUNDS)]
    chosen = [*other_mpis.options(prefix), "--on-unanswered", "ignore", *options, *more]
    return jobs.resprout_run(ranks, program, chosen)


def check(ended: jobs.Ended, ranks: int, victims: list[int]) -> None:
    assert ended.status == 0, str(ended)
    survivors = [rank for rank in range(ranks) if rank not in victims]
    assert sorted(ended.out.splitlines()) == [f"rank {rank} ok" for rank in survivors], str(ended)
    assert ended.lost == {*victims}, str(ended)


@pytest.mark.parametrize("kind", TRIED)
def test_survivors_of_a_kill_have_right_results_and_the_job_ends_well(
    prefix: Path, kind: str
) -> None:
    victim = KINDS.index(kind) % 4
    check(killed(prefix, kind, 4, [victim]), 4, [victim])


@pytest.mark.parametrize("kind", TRIED)
def test_so_have_those_of_a_program_with_the_binary_interface_of_mpi_5(
    prefix: Path, kind: str
) -> None:
    with_shim("MPICH", SHIMS["mpicc_abi"])
    victim = KINDS.index(kind) % 4
    check(killed(prefix, kind, 4, [victim], wrapper="mpicc_abi"), 4, [victim])


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_several_ranks_are_lost_one_after_the_other(prefix: Path, transport: str) -> None:
    ended = killed(prefix, "allreduce", 6, [0, 3, 5], "--transport", transport)
    check(ended, 6, [0, 3, 5])


def test_a_job_without_losses_has_none_to_tell_of(prefix: Path) -> None:
    ended = killed(prefix, "bcast", 3, [])
    check(ended, 3, [])
    assert ended.err.startswith("resprout: no rank of 3 was lost"), str(ended)


def test_ranks_of_mpi4py_are_lost(prefix_of_python: Path) -> None:
    python = prefix_of_python / "bin" / "python"
    options = ["--inject", "kill:rank=1,at=allreduce#100"]
    ended = jobs.resprout_run(3, [python, "-c", PYTHON], options)
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == ["rank 0 ok 2", "rank 2 ok 2"], str(ended)
    assert ended.lost == {1}


def test_a_loss_is_an_error_where_that_is_asked_for(prefix_of_python: Path) -> None:
    script = (
        "from mpi4py import MPI\nn = 0\n"
        "try:\n"
        "    while True: MPI.COMM_WORLD.Barrier(); n += 1\n"
        "except MPI.Exception as error:\n"
        "    import sys; sys.stdout.write('told %s\\n' % ('fail' in str(error).lower()))\n"
    )
    options = ["--on-loss", "error", "--inject", "kill:rank=0,at=barrier#50"]
    ended = jobs.resprout_run(3, [prefix_of_python / "bin" / "python", "-c", script], options)
    assert ended.out.splitlines() == ["told True", "told True"], str(ended)
