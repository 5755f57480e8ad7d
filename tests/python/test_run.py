"""`resprout run` with a real MPI: real ranks, real kills."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from resprout.demo import FAULTS, is_right
from resprout.doctor.probes import without_fortran

ROOT = Path(__file__).resolve().parents[2]
PI = ROOT / "build" / "release" / "examples" / "pi" / "pi"
WATCHDOG_SECONDS = 120

# Ends as it is told: rank r with the r-th status.
_END_AFTER_MPI = """
import sys
from mpi4py import MPI
rank = MPI.COMM_WORLD.Get_rank()
MPI.Finalize()
sys.exit(int(sys.argv[1 + rank]))
"""
_END_WITHOUT_MPI = """
import os, sys
sys.exit(int(sys.argv[1 + int(os.environ["OMPI_COMM_WORLD_RANK"])]))
"""
_WAIT = """
import os, time
from mpi4py import MPI
print(os.getpid(), flush=True)
time.sleep(600)
"""


def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RESPROUT_")}
    return subprocess.Popen(
        [sys.executable, "-m", "resprout", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **{"stdin": subprocess.DEVNULL, **options},
    )  # type: ignore[call-overload]


def resprout(*arguments: object, given: str | None = None) -> tuple[int, str, str]:
    """Status, stdout and stderr."""
    job = start(*arguments, **({} if given is None else {"stdin": subprocess.PIPE}))
    try:
        said, complained = job.communicate(given, timeout=WATCHDOG_SECONDS)
    finally:
        job.kill()
        job.wait()
    return job.returncode, said, complained


def test_a_job_without_losses_says_nothing_of_its_own() -> None:
    status, said, complained = resprout("run", "-n", 3, "--", PI, 5, 1000)
    assert status == 0
    assert is_right(said)
    assert "15000 points" in said
    assert "resprout" not in complained


def test_two_ranks_die_and_the_answer_is_right(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    inject = [word for fault in FAULTS for word in ("--inject", fault)]
    status, said, complained = resprout(
        "run", "-n", 8, *inject, "--report", file, "--", PI, 400, 2000
    )
    assert status == 0, complained
    assert is_right(said), said
    assert "says rank 1)" in said
    # A rank that dies on entering its n-th allreduce has contributed to the n-1 before.
    assert f"{2000 * (6 * 400 + 149 + 299)} points" in said
    report = json.loads(file.read_text())
    assert [loss["rank"] for loss in report["losses"]] == [0, 5]
    assert [loss["how"] for loss in report["losses"]] == ["killed", "killed"]
    assert all(loss["found_by"] not in (0, None) for loss in report["losses"])
    assert all(loss["delay_ns"] >= 0 for loss in report["losses"])
    assert {touched["operation"] for touched in report["touched"]} == {"allreduce"}
    assert report["missing"] == []
    assert complained.count("going on without it") == 2


def test_strict_reports_a_loss_as_status_3() -> None:
    fault = "kill:rank=1,at=allreduce#10"
    status, said, _ = resprout("run", "-n", 4, "--strict", "--inject", fault, "--", PI, 50, 1000)
    assert status == 3
    assert is_right(said)


@pytest.mark.parametrize("program", [_END_AFTER_MPI, _END_WITHOUT_MPI])
def test_the_largest_status_of_all_ranks_is_ours(program: str) -> None:
    status, _, _ = resprout("run", "-n", 3, "--", sys.executable, "-c", program, 0, 7, 5)
    assert status == 7


# Says which program it is, and whose ranks are lost.
_PART = """
import sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
said = comm.allgather(sys.argv[1] if comm.Get_rank() != 3 else "")
comm.Barrier()
if comm.Get_rank() == 0:
    print(*said)
"""


@pytest.mark.parametrize("options", [(), ("--replicas", 2)])
def test_several_programs_are_one_job(options: tuple[object, ...], tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    first = [sys.executable, "-c", _PART, "ocean"]
    second = [":", "-n", 2, sys.executable, "-c", _PART, "ice"]
    status, said, complained = resprout(
        "run", "-n", 2, *options, "--report", file, "--", *first, *second
    )
    assert (status, said) == (0, "ocean ocean ice \n"), complained
    report = json.loads(file.read_text())
    assert report["ranks"] == 4
    assert report["command"] == [*map(str, first), *map(str, second)]


def test_faults_and_refusals_know_all_programs_of_a_job() -> None:
    others = [":", "-n", 2, sys.executable, "-c", _PART, "ice"]
    words = ["--", sys.executable, "-c", _PART, "ocean", *others]
    status, said, complained = resprout(
        "run", "-n", 2, "--inject", "kill:rank=3,at=barrier#1", *words
    )
    assert (status, said) == (0, "ocean ocean ice \n"), complained
    assert "rank 3" in complained
    status, _, complained = resprout("run", "-n", 2, "--inject", "kill:rank=4,at=1s", *words)
    assert status == 2 and "rank 4 is not one of the 4 ranks" in complained
    status, said, complained = resprout("run", "-n", 2, "--", "true", ":", "-n", 2, "./nobody")
    assert (status, said) == (2, "")
    assert complained == "resprout: ./nobody is not a program that can be run\n"


def test_a_job_whose_ranks_all_crash_does_not_end_with_0() -> None:
    crash = "import os; from mpi4py import MPI; os.kill(os.getpid(), 11)"
    status, _, _ = resprout("run", "-n", 2, "--", sys.executable, "-c", crash)
    assert status != 0


@pytest.mark.parametrize("size", [5, 300_000])
def test_rank_0_reads_our_input_to_its_end(size: int) -> None:
    count = "import sys; from mpi4py import MPI; print(len(sys.stdin.read()))"
    status, said, _ = resprout("run", "-n", 2, "--", sys.executable, "-c", count, given="x" * size)
    assert status == 0
    assert sorted(map(int, said.split())) == [0, size]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_real_job(number: signal.Signals) -> None:
    job = start("run", "-n", 3, "--", sys.executable, "-c", _WAIT)
    try:
        assert job.stdout is not None
        pids = [int(job.stdout.readline()) for _ in range(3)]
        job.send_signal(number)
        assert job.wait(WATCHDOG_SECONDS) == 128 + number
        deadline = time.monotonic() + WATCHDOG_SECONDS
        while any(Path(f"/proc/{pid}").exists() for pid in pids):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        job.kill()
        job.communicate()


def test_the_doctor_says_for_programs_what_it_says_for_people() -> None:
    status, said, complained = resprout("doctor", "--json")
    value = json.loads(said)
    assert complained == ""
    assert value["ok"] == (status == 0)
    assert value["mpi"]["library"] == "Open MPI"
    assert all(setting["reason"] for setting in value["settings"])
    assert "Open MPI" in [row["library"] for row in value["mpis"]]
    verdicts = {check["name"]: check["verdict"] for check in value["checks"]}
    assert {"MPI", "compiler", "start", "reading memory", "loss, with Resprout"} <= set(verdicts)
    assert set(verdicts.values()) <= {"ok", "note", "bad"}
    assert (status == 0) == ("bad" not in verdicts.values())


def test_the_doctor_examines_the_mpi_that_is_named(fake_mpi: Path) -> None:
    status, said, _ = resprout("doctor", "--json", "--mpi", fake_mpi)
    value = json.loads(said)
    assert value["mpi"]["prefix"] == str(fake_mpi)
    # It has no compiler, so nothing could be tried.
    (compiler,) = [check for check in value["checks"] if check["name"] == "compiler"]
    assert compiler["verdict"] == "note"
    assert status in (0, 1)


def test_the_doctor_says_that_an_mpi_has_no_compiler_for_fortran(tmp_path: Path) -> None:
    assert "no mpifort" in without_fortran(tmp_path / "mpicc")
    (tmp_path / "mpifort").touch()
    assert without_fortran(tmp_path / "mpicc") == ""


def test_the_doctor_has_a_diagnosis_where_there_is_no_mpi() -> None:
    status, said, _ = resprout("doctor", "--json", "--mpi", "/nonexistent")
    value = json.loads(said)
    assert status == 1
    assert value["mpi"] is None
    assert value["checks"][0]["verdict"] == "bad"
