"""However a job ends, it ends for all, says the right status, and leaves nothing behind."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import jobs
import pytest

ENDINGS = jobs.PROGRAMS / "endings"
MIXED = jobs.PROGRAMS / "mixed"


@pytest.mark.parametrize(("rank", "status"), [(0, 1), (2, 77), (3, 255)])
@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_abort_ends_the_job_with_its_status(rank: int, status: int, transport: str) -> None:
    program = [ENDINGS, "abort", str(rank), str(status)]
    ended = jobs.resprout_run(4, program, ["--transport", transport])
    assert ended.status == status, str(ended)
    assert f"rank {rank} called MPI_Abort({status})" in ended.err, str(ended)


def test_others_go_on_without_a_process_that_the_mpi_library_gives_up() -> None:
    ended = jobs.resprout_run(4, [ENDINGS, "given-up", "2"])
    assert ended.status == 0 and ended.lost == {2}, str(ended)
    assert ended.out == "3 go on\n", str(ended)
    assert "rank 2: the MPI library has given up this process: nothing is at number 7" in ended.err


def test_abort_ends_a_job_that_was_started_by_hand() -> None:
    ended = jobs.mpirun_run(4, [ENDINGS, "abort", "2", "5"])
    assert ended.status != 0, str(ended)


@pytest.mark.parametrize("status", [0, 7])
def test_the_exit_status_is_the_program_s(status: int) -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "status", str(status)])
    assert ended.status == status, str(ended)


def test_a_line_says_that_all_ranks_were_killed() -> None:
    faults = [word for rank in range(3) for word in ("--inject", f"kill:rank={rank},at=barrier#9")]
    ended = jobs.resprout_run(3, [ENDINGS, "forever"], faults)
    assert ended.status == 128 + signal.SIGKILL, str(ended)
    assert "rank" in ended.err and " the job ended after " in ended.err, str(ended)


def test_a_rank_whose_error_is_fatal_is_not_said_to_have_called_abort() -> None:
    ended = jobs.resprout_run(2, [jobs.PROGRAMS / "erroneous", "fatal", "Bcast,4,4,0,0,9,0"])
    assert ended.status != 0 and "error handler is fatal" in ended.err, str(ended)
    assert "MPI_Abort" not in ended.err, str(ended)


@pytest.mark.parametrize("rank", [0, 2])
def test_nobody_waits_for_a_rank_that_exits_in_a_callback_of_finalize(rank: int) -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "in-finalize", str(rank), "5"])
    assert ended.status == 5, str(ended)


@pytest.mark.parametrize(("how", "status"), [("segv", 139), ("abort", 134)])
def test_a_mistake_on_the_way_out_of_main_is_no_success(how: str, status: int) -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "late-mistake", "1", how])
    assert ended.status == status, str(ended)


def test_a_job_of_which_every_rank_crashes_fails() -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "crash"])
    assert ended.status not in (0, 3), str(ended)


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [("segv", 139, "was ended by SIGSEGV"), ("abort", 134, "was ended by SIGABRT"),
     ("overflow", 139, "was ended by SIGSEGV"), ("heap", 134, "was ended by SIGABRT"),
     ("0", 1, "exited without MPI_Finalize, status 0"),
     ("9", 9, "exited without MPI_Finalize, status 9"),
     ("own-abort", 134, "was ended by SIGABRT"), ("blocked-segv", 139, "was ended by SIGSEGV"),
     *((how, 9, "exited without MPI_Finalize, status 9") for how in ("quick", "_exit")),
     ("kernel-exit", 9, "exited without MPI_Finalize, status 9")],
)  # fmt: skip
def test_a_job_goes_on_without_a_rank_that_makes_a_mistake_and_fails(
    how: str, status: int, said: str
) -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "mistake", "1", how])
    assert (ended.status, ended.out) == (status, "2 go on\n"), str(ended)
    assert said in ended.err and ended.lost == {1}, str(ended)


@pytest.mark.parametrize(("how", "status"), [("9", 9), ("fpe", 136), ("0", 1)])
def test_a_job_all_of_whose_replicas_make_the_same_mistake_has_its_status(
    how: str, status: int
) -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "mistake", "1", how], ["--replicas", "2"])
    assert ended.status == status, str(ended)


def test_a_job_whose_ranks_all_leave_without_the_end_of_mpi_fails() -> None:
    ended = jobs.resprout_run(3, [ENDINGS, "mistake", "-1", "0"])
    assert ended.status == 1, str(ended)


def test_a_job_of_which_no_rank_survives_fails() -> None:
    faults = [f"--inject=kill:rank={rank},at={100 * rank + 100}ms" for rank in range(3)]
    ended = jobs.resprout_run(3, [ENDINGS, "forever"], faults)
    assert ended.status == 137 and ended.lost == {0, 1, 2}, str(ended)


def test_strict_gives_3_if_a_rank_was_lost(tmp_path: Path) -> None:
    program = [MIXED, str(tmp_path), "1", "100", "2"]
    lossy = ["--inject", "kill:rank=1,at=allreduce#5", "--strict"]
    assert jobs.resprout_run(4, program, lossy).status == 3
    assert jobs.resprout_run(4, program, ["--strict"]).status == 0


def test_faults_that_do_not_come_about_are_said(tmp_path: Path) -> None:
    faults = ["kill:rank=1,at=ialltoallw#4", "stop:rank=2,at=100s"]
    program = [MIXED, str(tmp_path), "1", "20", "2"]
    ended = jobs.resprout_run(4, program, [f"--inject={fault}" for fault in faults])
    assert ended.status == 0, str(ended)
    assert ended.report["faults_left"] == faults
    for fault in faults:
        assert f"{fault} did not come about" in ended.err, str(ended)


@pytest.mark.parametrize("what", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_the_job(what: signal.Signals) -> None:
    with jobs.started([jobs.RESPROUT, "run", "-n", "4", "--", ENDINGS, "forever"]) as job:
        assert jobs.becomes_true(lambda: "on and on" in job.said().out, jobs.WATCHDOG_SECONDS)
        job.process.send_signal(what)
        ended = job.wait()
    assert ended.status == 128 + what, str(ended)


def test_a_killed_launcher_takes_the_job_along() -> None:
    with jobs.started([jobs.RESPROUT, "run", "-n", "4", "--", ENDINGS, "forever"]) as job:
        assert jobs.becomes_true(lambda: "on and on" in job.said().out, jobs.WATCHDOG_SECONDS)
        job.process.kill()
        job.process.wait()
        assert jobs.becomes_true(lambda: not job.processes(), 30), job.processes()


@pytest.mark.parametrize("bytes_count", [0, 1, 300_000])
def test_stdin_reaches_rank_0_and_only_it(bytes_count: int) -> None:
    text = b"0123456789abcde\n" * (bytes_count // 16 + 1)
    text = text[:bytes_count]
    command = [jobs.RESPROUT, "run", "-n", "3", "--", ENDINGS, "echo"]
    with jobs.started(command, stdin=subprocess.PIPE) as job:
        assert job.process.stdin is not None
        writer = threading.Thread(target=write_all, args=(job.process.stdin, text))
        writer.start()
        ended = job.wait()
        writer.join()
    assert ended.status == 0, str(ended)
    assert ended.out == text.decode(), f"{len(ended.out)} characters of {len(text)} came"


def write_all(pipe, text: bytes) -> None:  # type: ignore[no-untyped-def]
    pipe.write(text)
    pipe.close()


WRONG = [
    ("RESPROUT_TRANSPORT", "pigeon"),
    ("RESPROUT_ON_LOSS", "panic"),
    ("RESPROUT_HEARTBEAT_TIMEOUT_MS", "soon"),
    ("RESPROUT_HEARTBEAT_PERIOD_MS", "5000"),
    ("RESPROUT_NETWORK", "everywhere"),
    ("RESPROUT_INJECT", "kill:rank=9,at=1s"),
    ("RESPROUT_INJECT", "tickle:rank=1,at=1s"),
    ("RESPROUT_BCAST", "corrected-treee"),
    ("RESPROUT_ALLREDUCE", "ftco-allreduce:k=none"),
    ("RESPROUT_VERBOSE", "loudly"),
    ("RESPROUT_TRANSPORTS", "tcp"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_variable_stops_the_job_with_one_line_from_one_rank(name: str, value: str) -> None:
    ended = jobs.mpirun_run(4, [ENDINGS, "status", "0"], {name: value})
    lines = [line for line in ended.err.splitlines() if line.startswith("resprout:")]
    assert ended.status != 0, str(ended)
    assert len(lines) == 1 and name in lines[0], str(ended)


@pytest.mark.parametrize(("name", "value"), [("RESPROUT_TRANSPORT", "pigeon"), WRONG[-1]])
def test_the_launcher_refuses_a_wrong_variable_itself(name: str, value: str) -> None:
    ended = jobs.resprout_run(4, [ENDINGS, "status", "0"], variables={name: value})
    assert ended.status == 2 and ended.out == "", str(ended)
    assert len(ended.err.splitlines()) == 1 and (value in ended.err or name in ended.err)


def test_ranks_stopped_by_the_kernel_for_a_while_are_told_apart_from_hung_ones() -> None:
    """A stop that is shorter than the timeout is no loss."""
    command = [jobs.RESPROUT, "run", "-n", "4", "--heartbeat-timeout", "10000", "--", ENDINGS]
    with jobs.started([*command, "forever"]) as job:
        assert jobs.becomes_true(lambda: "on and on" in job.said().out, jobs.WATCHDOG_SECONDS)
        victim = job.processes_by_rank()[2]
        os.kill(victim, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(victim, signal.SIGCONT)
        time.sleep(0.5)
        assert len(job.processes_by_rank()) == 4 and "died" not in job.said().err
        job.process.send_signal(signal.SIGTERM)
        job.wait()
