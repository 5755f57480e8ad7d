"""What programs ask the system for, as replicas that are compared get it: alike, or named."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import covering
import jobs
import pytest

RANKS = 2
METHODS = ["msg-plus-hash", "async-hash", "all-to-all", "async"]
PROGRAM = jobs.PROGRAMS / "patterns"
SCRIPT = Path(__file__).parent / "programs" / "patterns.py"
DECIDED = (
    "getpid",
    "own-pid",
    "gethostname",
    "uname",
    "processor-name",
    "getrandom",
    "getentropy",
    "urandom",
    "urandom-stream",
    "time-seed",
    "clock",
    "processor",
    "addresses",
)
UNDECIDED = (
    "clock-in-thread",
    "random-in-thread",
    "mkdtemp",
    "mkstemp",
    "inode",
    "replica-variable",
)
NAMED = {
    "clock-in-thread": "a clock in a thread",
    "random-in-thread": "a random number in a thread",
    "mkdtemp": "mkdtemp",
    "mkstemp": "mkstemp",
}
PYTHON = (
    "hash",
    "set-order",
    "random",
    "secrets",
    "numpy",
    "uuid",
    "getpid",
    "gethostname",
)


def run(program: Sequence[str | Path], *options: str) -> jobs.Ended:
    return jobs.resprout_run(RANKS, program, ["--replicas", "2", *options])


def check(ended: jobs.Ended) -> None:
    assert (ended.status, ended.out) == (0, "done\n"), str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    assert ended.report["verification"]["unverified"] == 0, str(ended)


@pytest.mark.parametrize("method", covering.a_share(METHODS, 2))
def test_replicas_get_the_same_answers(method: str) -> None:
    check(run([PROGRAM, *DECIDED], "--verify", method))


@pytest.mark.parametrize("method", covering.a_share(METHODS, 4))
def test_replicas_of_python_programs_do_too(method: str) -> None:
    check(run([sys.executable, SCRIPT, *PYTHON], "--verify", method))


@pytest.mark.parametrize("pattern", UNDECIDED)
def test_what_replicas_do_not_get_alike_ends_the_job_and_is_named(pattern: str) -> None:
    ended = run([PROGRAM, pattern], "--verify", "msg-plus-hash")
    assert ended.status == 4 and ended.report["corruptions"], str(ended)
    call = NAMED.get(pattern)
    calls = [one["call"] for one in ended.report["undecided"]]
    assert calls == ([] if call is None else [call]), str(ended)
    if call is not None:
        (one,) = ended.report["undecided"]
        assert "patterns+0x" in one["where"], str(ended)
        assert f"uses {call} at {one['where']}, which may differ" in ended.err, str(ended)


def test_a_random_number_in_a_thread_of_a_python_program_is_named() -> None:
    ended = run([sys.executable, SCRIPT, "secrets-in-thread"], "--verify", "msg-plus-hash")
    assert ended.status == 4, str(ended)
    calls = {one["call"] for one in ended.report["undecided"]}
    assert calls == {"a random number in a thread"}, str(ended)
    assert any(".py:" in one["where"] for one in ended.report["undecided"]), str(ended)


@pytest.mark.parametrize("pattern", covering.a_share(["getpid", "getrandom", "urandom"], 3))
def test_with_answers_of_their_own_they_differ(pattern: str) -> None:
    ended = run([PROGRAM, pattern], "--verify", "msg-plus-hash", "--system", "own")
    assert ended.status == 4 and ended.report["corruptions"], str(ended)


@pytest.mark.parametrize("loss", ["end-plane", "stand-in"])
def test_another_replica_answers_when_one_is_lost(loss: str) -> None:
    faults = ["--inject", "kill:rank=0,replica=0,at=sendrecv#3"]
    options = ["--verify", "async-hash", "--on-replica-loss", loss, *faults]
    ended = run([PROGRAM, *DECIDED], *options)
    assert (ended.status, ended.out) == (0, "done\n"), str(ended)
    assert ended.report["corruptions"] == [], str(ended)


def test_without_replicas_a_process_is_told_what_the_system_says() -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM, "own-pid"])
    assert (ended.status, ended.out) == (0, "done\n"), str(ended)


def test_random_devices_of_cpp_are_alike(tmp_path: Path) -> None:
    source, program = tmp_path / "device.cpp", tmp_path / "device"
    source.write_text(CPP)
    flags = ["-x", "c++", "-lstdc++", "-O1"]
    command = [jobs.BIN / "mpicc", *flags[:2], source, "-o", program, *flags[2:]]
    subprocess.run(command, check=True)
    check(run([program], "--verify", "msg-plus-hash"))


CPP = """
#include <mpi.h>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>

int main(int argc, char** argv) {
  std::random_device before;
  unsigned long numbers[4] = {before()};
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  numbers[1] = std::random_device()();
  std::ifstream("/dev/urandom").read(reinterpret_cast<char*>(&numbers[2]), sizeof numbers[2]);
  numbers[3] = std::chrono::steady_clock::now().time_since_epoch().count();
  unsigned long sums[4];
  MPI_Allreduce(numbers, sums, 4, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::puts("done");
  MPI_Finalize();
}
"""
