"""Jobs of MPICH and Intel MPI, which Resprout starts itself on one host."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jobs
import other_mpis
import pytest

RANKS = 3
SUM = sum(range(RANKS))
PYTHON = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
total = comm.allreduce(comm.rank)
if comm.rank == 0:
    print(MPI.Get_library_version().split(chr(10))[0].split(":")[0], total)
"""

# Runs the Resprout of PYTHONPATH, not the work tree's, which a finder of modules would bring.
COPY = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in type(each).__module__]
from resprout.cli import main
sys.exit(main())
"""


@pytest.fixture(params=other_mpis.PREFIXES)
def prefix(request: pytest.FixtureRequest) -> Path:
    found = other_mpis.PREFIXES[request.param]
    other_mpis.need(found)
    return found


def ring(
    prefix: Path, how: str, *options: str, status: str = "", wrapper: str = "mpicc"
) -> jobs.Ended:
    program = other_mpis.program("ring", wrapper)
    variables = {"STATUS": status} if status else {}
    chosen = [*other_mpis.options(prefix), *options]
    return jobs.resprout_run(RANKS, [program, how], chosen, variables)


@pytest.mark.parametrize("wrapper", ["mpicc", "mpicc_abi"])
def test_ranks_find_each_other_and_come_to_their_ends(prefix: Path, wrapper: str) -> None:
    ended = ring(prefix, "whole", wrapper=wrapper)
    assert (ended.status, ended.out) == (0, f"sum {SUM} life -\n"), str(ended)
    name = next(name for name, one in other_mpis.PREFIXES.items() if one == prefix)
    assert ended.report["mpi"].startswith(name + " "), ended.report["mpi"]


def test_the_status_of_the_program_is_that_of_the_job(prefix: Path) -> None:
    assert ring(prefix, "whole", status="5").status == 5


def test_an_abort_ends_all_with_its_status(prefix: Path) -> None:
    assert ring(prefix, "abort").status == 9


@pytest.fixture
def without_libraries(tmp_path: Path) -> dict[str, str]:
    """The variables by which Python finds a Resprout that has nothing for these MPIs."""
    package = jobs.ROOT / "python" / "resprout"
    lacking = shutil.ignore_patterns("libresprout_mpich.so", "libresprout_mpi_abi.so")
    shutil.copytree(package, tmp_path / "resprout", ignore=lacking)
    return {"PYTHONPATH": str(tmp_path)}


def ring_alone(prefix: Path, how: str, variables: dict[str, str]) -> jobs.Ended:
    words = [sys.executable, "-c", COPY, "run", "-n", str(RANKS)]
    program = other_mpis.program("ring")
    return jobs.run([*words, *other_mpis.options(prefix), "--", program, how], variables)


def test_a_killed_rank_ends_the_job_and_it_is_said_what_helps(
    prefix: Path, without_libraries: dict[str, str]
) -> None:
    ended = ring_alone(prefix, "kill", without_libraries)
    assert ended.status == 137, str(ended)
    assert "rank 1" in ended.err and "was killed by SIGKILL: the job ends with it" in ended.err
    assert "--on-loss restart" in ended.err, str(ended)


def test_who_leaves_before_mpi_finalize_ends_the_job_with_its_status(
    prefix: Path, without_libraries: dict[str, str]
) -> None:
    ended = ring_alone(prefix, "exit", without_libraries)
    assert ended.status == 4, str(ended)
    assert "ended with status 4 before MPI_Finalize" in ended.err, str(ended)


@pytest.mark.parametrize("how", ["kill", "exit"])
def test_a_job_starts_again_after_a_loss(prefix: Path, how: str) -> None:
    ended = ring(prefix, how, "--on-loss", "restart")
    assert (ended.status, ended.out) == (0, f"sum {SUM} life 1\n"), str(ended)
    assert [(loss["rank"], loss["life"]) for loss in ended.report["losses"]] == [(1, 0)]
    assert [life["how"] for life in ended.report["lives"]] == ["lost", "whole"]


def test_a_python_with_mpi4py_gets_its_own_library(prefix: Path) -> None:
    ended = jobs.resprout_run(2, [prefix / "bin" / "python", "-c", PYTHON])
    assert ended.status == 0, str(ended)
    assert ended.out.split()[0] == ("MPICH" if prefix == other_mpis.MPICH else "Intel(R)")
    assert ended.out.split()[-1] == "1", str(ended)


def test_a_signal_to_resprout_reaches_the_ranks_and_ends_the_job(prefix: Path) -> None:
    program = [prefix / "bin" / "python", "-c", "from mpi4py import MPI\nwhile True: pass"]
    with jobs.started([jobs.RESPROUT, "run", "-n", "2", "--", *program]) as job:
        assert jobs.becomes_true(lambda: len(job.processes_by_rank()) == 2)
        os.kill(job.process.pid, signal.SIGTERM)
        ended = job.wait()
    assert ended.status == 128 + signal.SIGTERM, str(ended)


def test_if_the_launcher_is_killed_no_rank_is_left(prefix: Path) -> None:
    program = [prefix / "bin" / "python", "-c", "from mpi4py import MPI\nwhile True: pass"]
    with jobs.started([jobs.RESPROUT, "run", "-n", "2", "--", *program]) as job:
        assert jobs.becomes_true(lambda: len(job.processes_by_rank()) == 2)
        os.kill(job.process.pid, signal.SIGKILL)
        job.process.wait()
        assert jobs.becomes_true(lambda: not job.processes()), job.seen()


def test_a_program_of_the_wrong_mpi_is_refused(prefix: Path) -> None:
    program = jobs.BUILD / "tests" / "mpi" / "other" / "ring"
    command = [jobs.RESPROUT, "run", "--mpi", prefix, "-n", "2", "--", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"--mpi {prefix} has libmpi.so.12, libmpi_abi.so.1, but" in done.stderr
    assert "uses libmpi.so.40" in done.stderr


def test_a_job_of_open_mpi_knows_nothing_of_the_others() -> None:
    ended = jobs.resprout_run(2, [sys.executable, "-c", PYTHON])
    assert ended.status == 0 and ended.out.split()[0] == "Open", str(ended)
