"""The soak's jobs are their numbers, and what fails in it can be run again."""

import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jobs
import pytest
import soak
import soak_cases


def test_a_number_is_one_job_and_the_numbers_are_all_kinds_of_jobs() -> None:
    cases = [soak_cases.a_case(number) for number in range(1000)]
    assert cases == [soak_cases.a_case(number) for number in range(1000)]
    assert {case.ranks for case in cases} == set(range(2, 17))
    assert {case.transport for case in cases} == {"shm", "tcp"}
    assert {case.collectives for case in cases} == {"auto", "native", "resprout", "trees"}
    programs = {case.program for case in cases}
    assert programs == {f"{name}{form}" for name in ("mixed", "blocks")
                        for form in ("", ".py", "_nonblocking", "_persistent")}  # fmt: skip
    faults = [fault for case in cases for fault in case.faults]
    kinds = {(fault.split(":")[0], "after" in fault) for fault in faults}
    assert kinds == {("kill", False), ("stop", False), ("exit", False),
                     ("kill", True), ("stop", True)}  # fmt: skip
    entered = {name for fault in faults for name in re.findall(r"at=(\w+)#", fault)}
    assert entered == {"finalize", *soak.COLLECTIVES}
    assert all(len(case.victims) == len(case.faults) < case.ranks for case in cases)


def test_a_job_that_fails_leaves_its_log_and_the_command_that_runs_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak, "FOLDER", tmp_path)
    never = ("kill:rank=1,at=bcast#999999999",)
    case = replace(soak_cases.a_case(77), program="mixed", ranks=2, faults=never)
    done = soak.Soak()
    done.run_job(case)
    assert len(done.failures) == 1
    assert ".venv/bin/python tests/mpi/soak.py --job 77" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "job-77").iterdir()} >= {"failure", "rank-0"}


def test_it_goes_on_until_it_is_told_to_stop() -> None:
    command = [sys.executable, soak.__file__, "--seed", "4242"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "the first job is number 4242\n"
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=jobs.WATCHDOG_SECONDS)
    assert running.returncode == 0 and "stopped" in said and "; 0 failures" in said, said


@pytest.mark.parametrize("minutes", ["0", "-1", "soon"])
def test_minutes_are_a_number_above_zero(minutes: str) -> None:
    command = [sys.executable, soak.__file__, "--minutes", minutes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--minutes" in done.stderr
