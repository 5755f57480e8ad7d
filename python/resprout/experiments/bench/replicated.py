"""A job of replicated ranks as users start it: `resprout run` as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resprout.errors import UserError
from resprout.launch import processes
from resprout.options import OPTIONS

NONE = "none"
EAGER, LAZY = ("all-to-all", "msg-plus-hash"), ("async", "async-hash")
METHODS = (NONE, *EAGER, *LAZY)
"""Of `resprout run --verify`. Each lazy one is the twin of the eager one at its place (Lazy Fault
Detection, chapter 4)."""
DEGREES = (2, 3)

_SECONDS_MAX = 300.0
_LEAVE_SECONDS = 20.0


def choose(option: str, text: str | None, valid: Sequence[str]) -> list[str]:
    """The words of an option, with commas in between; all valid ones without a text."""
    words = valid if text is None else text.split(",")
    wrong = [word for word in words if word not in valid]
    if wrong:
        raise UserError(f"{option}: {wrong[0]!r} is not valid; give some of {','.join(valid)}")
    return list(dict.fromkeys(words))


@dataclass(frozen=True)
class Job:
    ranks: int
    replicas: int
    method: str
    program: Sequence[str]
    faults: Sequence[str] = ()
    on_corruption: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    """For the ranks, beside ours."""

    def command(self, report: Path, mpi: str | None) -> list[str]:
        words = [sys.executable, "-m", "resprout", "run", "-n", str(self.ranks)]
        words += ["--replicas", str(self.replicas), "--report", str(report)]
        if self.method != NONE:
            words += ["--verify", self.method]
        if self.on_corruption is not None:
            words += ["--on-corruption", self.on_corruption]
        if mpi is not None:
            words += ["--mpi", mpi]
        return [*words, *(f"--inject={fault}" for fault in self.faults), "--", *self.program]

    def __str__(self) -> str:
        return f"{Path(self.program[0]).name}, {self.replicas} replicas, {self.method}"


@dataclass(frozen=True)
class Ended:
    """How a job ended, what it said, and its report."""

    status: int
    out: str
    err: str
    report: Mapping[str, Any]
    wall_s: float
    """Of the whole command."""


class NoEndError(UserError):
    """A job did not end in time, and was ended."""


def run_replicated(job: Job, mpi: str | None, seconds_max: float = _SECONDS_MAX) -> Ended:
    """From start to end. A NoEndError if that does not come, a UserError without a report."""
    ours = {option.variable for option in OPTIONS}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    with (
        tempfile.TemporaryDirectory(prefix="resprout-bench-") as folder,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        path = Path(folder) / "report.json"
        began = time.monotonic()
        process = subprocess.Popen(
            job.command(path, mpi), env={**environment, **job.variables}, stdin=subprocess.DEVNULL,
            stdout=out, stderr=err,
            preexec_fn=lambda: processes.end_with_parent(signal.SIGTERM),  # noqa: PLW1509
        )  # fmt: skip
        try:
            process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            raise NoEndError(f"{job}: no end after {seconds_max:.0f} s") from None
        finally:
            _end(process)
        wall = time.monotonic() - began
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        text = path.read_text() if path.exists() else ""
    if not text:
        raise UserError(f"{job}: no report; it said: {texts[1].strip()[-2000:] or 'nothing'}")
    return Ended(process.returncode, texts[0], texts[1], json.loads(text), wall)


def _end(process: subprocess.Popen[bytes]) -> None:
    """If it still runs: asked to, it ends its whole job."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)  # the second one is no request any more
            process.wait()
