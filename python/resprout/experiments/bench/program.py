"""The program of a bench: compiled for the MPI that there is, run as a job, heard line by line."""

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from resprout.errors import UserError
from resprout.launch import job
from resprout.launch.command import Plan
from resprout.launch.mpi import Mpi


def compile_program(mpi: Mpi, source: Path, program: Path, flags: Sequence[str] = ()) -> Path:
    """`program`, built from `source` by the compiler of this MPI, with `flags` at the end."""
    command = [str(mpi.mpicc), "-O2", "-o", str(program), str(source), *flags]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(f"{mpi.mpicc} is needed to compile, but: {error.strerror}") from error
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UserError(f"{mpi.mpicc} fails: {why}")
    return program


class Listener:
    """Hears what a job says, on a thread of its own, line by line."""

    def __init__(self) -> None:
        self.is_done = False
        self._other_lines: list[str] = []

    def hear(self, words: list[str]) -> bool:
        """A line. False: it is none that was expected."""
        raise NotImplementedError

    def telling_line(self) -> str:
        """What we have said ourselves; else what was said first that is no frame."""
        texts = [line.strip() for line in self._other_lines if line.strip().strip("-=*")]
        ours = [text for text in texts if text.startswith(("resprout: ", "bench: "))]
        return (ours or texts or ["it said nothing"])[0].removeprefix("resprout: ")

    def listen(self, fd: int) -> None:
        with os.fdopen(fd, errors="replace") as lines:
            for line in lines:
                if line.split() == ["done"]:
                    self.is_done = True
                elif not self.hear(line.split()):
                    self._other_lines.append(line)


def run(plan: Plan, listener: Listener) -> None:
    """A job from start to end. A UserError if it does not say that it is done."""
    reading, writing = os.pipe()
    thread = threading.Thread(target=listener.listen, args=(reading,))
    thread.start()
    try:
        with job.run_directory() as directory:
            end = job.run(plan, directory, output=writing)
    finally:
        os.close(writing)
        thread.join()
    if end.signals:
        raise KeyboardInterrupt
    if not listener.is_done:
        raise UserError(f"a job of {plan.ranks} ranks failed: {listener.telling_line()}")
