"""One job with faults, and what became of it."""

import contextlib
import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

# How long a job that is told to end may take for it.
_ENDS_SECONDS = 20.0
_LOOK_SECONDS = 0.25
_WORDS_MAX = 600


class Outcome(Enum):
    """From good to bad."""

    SAME = "same output"
    RIGHT = "right"
    """--check says so."""
    NOT_REACHED = "not reached"
    """The rank did not come to that call."""
    DIFFERS = "other output"
    STATUS = "other status"
    WRONG = "wrong"
    """--check says so."""
    CRASHED = "others died"
    """A rank into which no fault was put."""
    HUNG = "hung"

    @property
    def is_failure(self) -> bool:
        return self in (Outcome.WRONG, Outcome.CRASHED, Outcome.HUNG)


@dataclass(frozen=True)
class Trial:
    """What became of a job."""

    faults: tuple[str, ...]
    outcome: Outcome
    status: int | None
    """Nothing: it hung, and was ended."""
    seconds: float
    words: str = ""
    """The end of what it said on stderr."""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "outcome": self.outcome.value}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "Trial":
        return cls(tuple(value["faults"]), Outcome(value["outcome"]), value["status"],
                   value["seconds"], value["words"])  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """A job, come to its end or ended."""

    status: int | None
    seconds: float
    out: bytes
    err: str
    report: dict[str, Any]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.out).hexdigest()


@dataclass(frozen=True)
class Job:
    """How to start the program."""

    ranks: int
    program: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Of `resprout run`."""
    is_over: threading.Event = field(default_factory=threading.Event)
    """All jobs are to end at once."""

    def run(self, faults: Sequence[str], seconds_max: float) -> Ended:
        with tempfile.TemporaryDirectory(prefix="resprout-torture-") as folder:
            report = Path(folder) / "report.json"
            command = [sys.executable, "-m", "resprout", "run", "-n", str(self.ranks)]
            command += [*self.options, "--report", str(report)]
            command += [word for fault in faults for word in ("--inject", fault)]
            command += ["--", *self.program]
            began = time.monotonic()
            with (
                (Path(folder) / "out").open("w+b") as out,
                (Path(folder) / "err").open("w+b") as err,
            ):
                status = self._wait(command, out, err, seconds_max)
                seconds = time.monotonic() - began
                out.seek(0)
                err.seek(0)
                said = err.read().decode(errors="replace")
                return Ended(status, seconds, out.read(), said, _read(report))

    def _wait(self, command: Sequence[str], out: Any, err: Any, seconds_max: float) -> int | None:
        """Its status; nothing: it took longer, and was ended with all that it had started."""
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        end = time.monotonic() + seconds_max
        while time.monotonic() < end and not self.is_over.is_set():
            with contextlib.suppress(subprocess.TimeoutExpired):
                return job.wait(_LOOK_SECONDS)
        while job.poll() is None:
            job.send_signal(signal.SIGTERM)  # the second one kills all at once
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(_ENDS_SECONDS)
        return None


def _read(report: Path) -> dict[str, Any]:
    try:
        found = json.loads(report.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_right(check: str, output: bytes) -> bool:
    command = ["sh", "-c", check]
    null = subprocess.DEVNULL
    said = subprocess.run(command, input=output, stdout=null, stderr=null, check=False)
    return said.returncode == 0


def judge(faults: Sequence[str], ended: Ended, plain: Ended, check: str | None) -> Trial:
    """`plain`: the job without faults. `check`: a command that is given the output."""

    def end(outcome: Outcome, words: str = "") -> Trial:
        return Trial(tuple(faults), outcome, ended.status, ended.seconds, words[-_WORDS_MAX:])

    if ended.status is None:
        return end(Outcome.HUNG, ended.err)
    losses = ended.report.get("losses", [])
    came = [loss for loss in losses if loss["fault"] is not None]
    others = [loss["rank"] for loss in losses if loss["fault"] is None]
    if others:
        return end(Outcome.CRASHED, ended.err)
    if len(came) < len(faults):
        return end(Outcome.NOT_REACHED)
    if ended.status != plain.status:
        return end(Outcome.STATUS, ended.err)
    if check is not None:
        return end(Outcome.RIGHT if _is_right(check, ended.out) else Outcome.WRONG)
    return end(Outcome.SAME if ended.digest == plain.digest else Outcome.DIFFERS)
