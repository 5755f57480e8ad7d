"""The launcher around an mpirun that is none: status, signals, input, and nothing left behind."""

import ast
import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import make_program

# Runs a job as `resprout run` does, but without preloading anything.
_LAUNCH = """
import sys
from pathlib import Path
from resprout.launch.run import Request, execute, make_plan

request = Request(ranks=int(sys.argv[2]), program=sys.argv[3:], mpi=sys.argv[1])
report = execute(make_plan(request, shim=None), request)
print("status", report.exit_status, "missing", *report.missing, file=sys.stderr)
sys.exit(report.exit_status)
"""

# The program of the tests: says who it is, then waits, and survives what it is told to.
_WAIT = """\
    #!/usr/bin/env python3
    import os, signal, sys, time
    for name in sys.argv[2:]:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    with open(f"{sys.argv[1]}/{os.getpid()}", "w") as file:
        file.write("here")
    time.sleep(600)
"""

WATCHDOG_SECONDS = 60


@contextlib.contextmanager
def launched(
    mpi: Path, ranks: int, *program: str | Path, **options: object
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _LAUNCH, str(mpi), str(ranks), *map(str, program)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RESPROUT_")}
    # A launcher that is killed leaves its folder behind.
    environment["TMPDIR"] = str(mpi)
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **options}
    job = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **settings)  # type: ignore[call-overload]
    try:
        yield job
    finally:
        job.kill()
        job.communicate()


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] not in "ZX"


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WATCHDOG_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def waiter(tmp_path: Path) -> Path:
    return make_program(tmp_path / "wait", _WAIT)


class Here:
    """The processes of the program, as they have announced themselves."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()

    @property
    def pids(self) -> list[int]:
        return [int(entry.name) for entry in self.path.iterdir()]

    def wait_for(self, count: int) -> None:
        assert eventually(lambda: len(self.pids) == count)

    def are_gone(self) -> bool:
        return eventually(lambda: not any(map(is_alive, self.pids)))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    processes = Here(tmp_path / "here")
    yield processes
    for pid in processes.pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_job_and_is_its_status(
    fake_mpi: Path, waiter: Path, here: Here, number: signal.Signals
) -> None:
    with launched(fake_mpi, 3, waiter, here.path) as job:
        here.wait_for(3)
        job.send_signal(number)
        assert job.wait(WATCHDOG_SECONDS) == 128 + number
    assert here.are_gone()


def test_control_c_on_a_terminal_ends_the_job(fake_mpi: Path, waiter: Path, here: Here) -> None:
    terminal, ours = pty.openpty()
    # `setsid --ctty` makes it the terminal of the launcher and so of its process group.
    command = ["setsid", "--ctty", "--wait", sys.executable, "-c", _LAUNCH]
    command += [str(fake_mpi), "2", str(waiter), str(here.path)]
    job = subprocess.Popen(command, stdin=ours, stdout=ours, stderr=ours)
    os.close(ours)
    try:
        here.wait_for(2)
        os.write(terminal, b"\x03")
        assert job.wait(WATCHDOG_SECONDS) == 128 + signal.SIGINT
        assert here.are_gone()
    finally:
        job.kill()
        job.wait()
        os.close(terminal)


def test_quit_reaches_the_ranks_though_mpirun_does_not_pass_it_on(
    fake_mpi: Path, waiter: Path, here: Here
) -> None:
    with launched(fake_mpi, 2, waiter, here.path) as job:
        here.wait_for(2)
        job.send_signal(signal.SIGQUIT)
        assert job.wait(WATCHDOG_SECONDS) == 128 + signal.SIGQUIT
    assert here.are_gone()


def test_a_second_signal_kills_what_ignores_the_first(
    fake_mpi: Path, waiter: Path, here: Here
) -> None:
    with launched(fake_mpi, 2, waiter, here.path, "SIGTERM", "SIGINT") as job:
        here.wait_for(2)
        job.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert all(map(is_alive, here.pids))
        job.send_signal(signal.SIGTERM)
        assert job.wait(WATCHDOG_SECONDS) != 0
    assert here.are_gone()


def test_ranks_do_not_outlive_an_mpirun_that_is_killed(
    fake_mpi: Path, waiter: Path, here: Here
) -> None:
    with launched(fake_mpi, 3, waiter, here.path) as job:
        here.wait_for(3)
        children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        assert job.wait(WATCHDOG_SECONDS) == 128 + signal.SIGKILL
    assert here.are_gone()


def test_the_job_ends_when_the_launcher_is_killed(fake_mpi: Path, waiter: Path, here: Here) -> None:
    with launched(fake_mpi, 3, waiter, here.path) as job:
        here.wait_for(3)
        job.kill()
        job.wait(WATCHDOG_SECONDS)
        assert here.are_gone()


def test_stopped_ranks_are_ended_when_all_others_have_come_to_their_end(
    fake_mpi: Path, tmp_path: Path, here: Here
) -> None:
    # Rank 0 leaves its part of the report; rank 1 is stopped and nobody is left to see it.
    program = make_program(
        tmp_path / "stop",
        f"""\
        #!/bin/sh
        touch {here.path}/$$
        if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then touch "$RESPROUT_RUN_DIR/rank-0.json"; exit 0; fi
        kill -STOP $$
        """,
    )
    with launched(fake_mpi, 2, program) as job:
        job.wait(WATCHDOG_SECONDS)
    assert here.are_gone()


def test_a_rank_that_neither_who_aborts_nor_mpirun_has_ended_goes_with_the_job(
    fake_mpi: Path, tmp_path: Path, here: Here
) -> None:
    program = make_program(
        tmp_path / "abort",
        f"""\
        #!/bin/sh
        touch {here.path}/$$
        if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec sleep 600; fi
        echo '{{"schema":1,"rank":1,"status":7}}' > "$RESPROUT_RUN_DIR/abort.json"
        """,
    )
    with launched(fake_mpi, 2, program) as job:
        assert job.wait(WATCHDOG_SECONDS) == 7
    assert here.are_gone()


def test_the_run_directory_is_gone_afterwards(fake_mpi: Path) -> None:
    with launched(
        fake_mpi, 1, "sh", "-c", 'echo "$RESPROUT_RUN_DIR"; ls "$RESPROUT_RUN_DIR"'
    ) as job:
        said, _ = job.communicate(timeout=WATCHDOG_SECONDS)
    directory, *contents = said.split()
    assert contents == ["started-0", "starting", "stdin"]
    assert not Path(directory).exists()


@pytest.mark.parametrize("size", [0, 1, 100, 1 << 20])
def test_rank_0_gets_all_of_the_input_and_its_end(fake_mpi: Path, size: int) -> None:
    count = 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then wc -c; else cat; fi'
    with launched(fake_mpi, 3, "sh", "-c", count, stdin=subprocess.PIPE) as job:
        said, _ = job.communicate("x" * size, timeout=WATCHDOG_SECONDS)
    assert said.split() == [str(size)]


def test_input_that_nobody_reads_stops_nothing(fake_mpi: Path) -> None:
    with launched(fake_mpi, 2, "true", stdin=subprocess.PIPE) as job:
        assert job.wait(WATCHDOG_SECONDS) is not None


def test_the_program_sees_neither_what_is_the_launcher_s_nor_changed_words(
    fake_mpi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["a b", "", "$HOME", "it's", '"q"', "*", "-x"]
    show = "import sys, os; print(sys.argv[1:], os.environ.get('LD_PRELOAD'))"
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    with launched(fake_mpi, 1, sys.executable, "-c", show, *words) as job:
        said, _ = job.communicate(timeout=WATCHDOG_SECONDS)
    assert said.strip() == f"{words} None"


def test_variables_reach_the_program_whatever_their_names(
    fake_mpi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As bash exports functions; a shell in between would drop what it cannot use itself."""
    named = {"BASH_FUNC_greet%%": "() {  echo there\n}", "my-var": "1", "dotted.name": "a b\nc"}
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    show = "import os; print({k: v for k, v in os.environ.items() if not k.isidentifier()})"
    with launched(fake_mpi, 1, sys.executable, "-c", show) as job:
        said, _ = job.communicate(timeout=WATCHDOG_SECONDS)
    assert ast.literal_eval(said) == named


def test_a_program_that_is_not_there_is_named_by_its_rank(fake_mpi: Path, tmp_path: Path) -> None:
    program = make_program(tmp_path / "gone", "#!/there/is/no/such/interpreter\n")
    with launched(fake_mpi, 1, program) as job:
        _, said = job.communicate(timeout=WATCHDOG_SECONDS)
    assert f"{program} cannot be run: No such file or directory" in said
    assert job.returncode == 127, said


def test_mpirun_s_status_counts_where_ranks_leave_none(fake_mpi: Path) -> None:
    with launched(fake_mpi, 3, "sh", "-c", 'exit "$OMPI_COMM_WORLD_RANK"') as job:
        assert job.wait(WATCHDOG_SECONDS) == 2
