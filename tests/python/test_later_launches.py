"""Launches that begin while others run: their ends, signals, input, and nothing left behind."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import make_program
from test_job import WATCHDOG_SECONDS, Here, eventually

# Two launches at first; a third one with another program when the file `more` is there. Says what
# it is told.
_LAUNCH = """
import sys
from dataclasses import replace
from pathlib import Path
from resprout.launch import job, stdin
from resprout.launch.command import Plan
from resprout.launch.mpi import identify

prefix, folder, first, later = map(Path, sys.argv[1:5])
if len(sys.argv) > 5:
    stdin._KEPT_BYTES_MAX = int(sys.argv[5])
plan = Plan(identify(prefix / "bin" / "mpirun"), 2, [str(first)], None)
begun = []

def start_of(name, plan):
    own = folder / name
    own.mkdir()
    return job.Start(plan, own)

def more():
    if begun or not (folder / "more").exists():
        return []
    begun.append(True)
    own = replace(plan, program=[str(later)])
    if not later.exists():
        own = replace(own, mpi=replace(plan.mpi, launcher=later))
    return [start_of("later", own)]

def on_end(index, end):
    print("end", index, end.mpirun_status, flush=True)
    return False

starts = [start_of("a", plan), start_of("b", plan)]
ends = job.run_all(starts, lambda: print("start", flush=True), on_end, more=more)
print("ends", *(end.mpirun_status for end in ends), *(len(end.signals) for end in ends))
"""

_WAIT = """\
    #!/usr/bin/env python3
    import os, sys, time
    from pathlib import Path
    here, name = Path({here!r}), Path(os.environ["RESPROUT_RUN_DIR"]).name
    rank = os.environ["OMPI_COMM_WORLD_RANK"]
    if rank == "0" and {reads}:
        Path({folder!r}, "read-" + name).write_bytes(sys.stdin.buffer.read({reads}))
    (here / str(os.getpid())).touch()
    while not Path({folder!r}, "go").exists():
        time.sleep(0.02)
    if rank == "0" and {reads}:
        with Path({folder!r}, "read-" + name).open("ab") as file:
            file.write(sys.stdin.buffer.read())
    sys.exit({status})
"""


class Launched:
    """The launcher under test and the programs that it starts."""

    def __init__(self, folder: Path, mpi: Path, *words: str, reads: int = 0) -> None:
        self.folder = folder
        self.here = Here(folder / "here")
        first, later = (self._program(n, s, reads) for n, s in (("first", 0), ("later-one", 7)))
        if words[:1] == ("missing",):
            later, words = folder / "nowhere", words[1:]
        command = [sys.executable, "-c", _LAUNCH, mpi, folder, first, later, *words]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RESPROUT_")}
        self.process = subprocess.Popen(
            list(map(str, command)),
            env=environment,
            stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )

    def _program(self, name: str, status: int, reads: int) -> Path:
        text = _WAIT.format(
            here=str(self.here.path), folder=str(self.folder), status=status, reads=reads
        )
        return make_program(self.folder / name, text)

    def touch(self, name: str) -> None:
        (self.folder / name).touch()

    def said(self) -> list[str]:
        out, _ = self.process.communicate(timeout=WATCHDOG_SECONDS)
        return out.decode().splitlines()

    def read_by(self, name: str) -> bytes:
        path = self.folder / f"read-{name}"
        return path.read_bytes() if path.exists() else b""


Launch = Callable[..., Launched]


@pytest.fixture
def launched(tmp_path: Path, fake_mpi: Path) -> Iterator[Launch]:
    made: list[Launched] = []

    def launch(*words: str, reads: int = 0) -> Launched:
        made.append(Launched(tmp_path, fake_mpi, *words, reads=reads))
        return made[-1]

    yield launch
    for one in made:
        one.process.kill()
        one.process.wait()
        one.touch("go")  # who has not even begun by now ends by itself
        for pid in one.here.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_launch_may_begin_while_others_run_and_its_end_is_told(
    launched: Launch,
) -> None:
    job = launched()
    job.here.wait_for(4)
    job.touch("more")
    job.here.wait_for(6)
    job.touch("go")
    said = job.said()
    assert said[:2] == ["start", "start"]
    assert sorted(said[2:5]) == ["end 0 0", "end 1 0", "end 2 7"]
    assert said[5:] == ["ends 0 0 7 0 0 0"]


def test_a_signal_ends_a_later_launch_too(launched: Launch) -> None:
    job = launched()
    job.here.wait_for(4)
    job.touch("more")
    job.here.wait_for(6)
    job.process.send_signal(signal.SIGTERM)
    assert job.said()[-1] == "ends 1 1 1 1 1 1"
    assert job.here.are_gone()


def test_none_begins_after_a_signal(launched: Launch) -> None:
    job = launched()
    job.here.wait_for(4)
    # The launchers are stopped, so that the signal ends nobody yet.
    children = Path(f"/proc/{job.process.pid}/task/{job.process.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGSTOP)
    job.process.send_signal(signal.SIGTERM)
    assert eventually(lambda: is_taken(job.process.pid, signal.SIGTERM))
    job.touch("more")
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.process.wait(1.0)  # several looks
    for child in children:
        os.kill(int(child), signal.SIGCONT)
    assert job.said()[-1] == "ends 1 1 1 1"
    assert len(job.here.pids) == 4


def is_taken(pid: int, what: signal.Signals) -> bool:
    """It does not wait for the process any more."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    pending = [int(line.split()[1], 16) for line in status if line[:7] in ("SigPnd:", "ShdPnd:")]
    return not any(mask >> (what - 1) & 1 for mask in pending)


def test_a_later_launch_ends_with_the_launcher(launched: Launch) -> None:
    job = launched()
    job.here.wait_for(4)
    job.touch("more")
    job.here.wait_for(6)
    job.process.kill()
    assert job.here.are_gone()


def test_a_later_launch_that_cannot_be_started_disturbs_nobody(launched: Launch) -> None:
    job = launched("missing")
    job.here.wait_for(4)
    job.touch("more")
    assert job.process.stdout is not None
    said = [job.process.stdout.readline() for _ in range(3)]
    assert said == [b"start\n", b"start\n", b"end 2 126\n"]
    job.touch("go")
    assert job.said()[-1] == "ends 0 0 126 0 0 0"


@pytest.mark.parametrize("kept", [1 << 20, 100])
def test_a_later_launch_gets_all_input_from_the_beginning_if_that_can_still_be_had(
    launched: Launch, kept: int
) -> None:
    job = launched(str(kept), reads=150)
    assert job.process.stdin is not None
    job.process.stdin.write(b"a" * 150)
    job.process.stdin.flush()
    assert eventually(lambda: job.read_by("a") == job.read_by("b") == b"a" * 150)
    job.here.wait_for(4)
    job.touch("more")
    job.here.wait_for(6)
    job.process.stdin.write(b"b" * 100_000)
    job.process.stdin.flush()
    job.touch("go")
    job.said()
    everything = b"a" * 150 + b"b" * 100_000
    assert job.read_by("a") == job.read_by("b") == everything
    assert job.read_by("later") == (everything if kept > 100 else b"")
