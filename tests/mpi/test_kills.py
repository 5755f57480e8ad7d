"""Real processes are killed, stopped and made to exit in the middle of a mix of collectives; the
survivors' results stay right, all alike, and nothing hangs or stays behind.

Each case is chosen by its number alone, so that a name is enough to repeat it.
"""

import os
import random
import re
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import jobs
import logs
import pytest

# How long the ranks work, and when timed faults come: after MPI_Init, or after the first operation.
WORK_MS = 400
FAULT_US = (1_000, 300_000)
# Shorter than by default, so that stopped ranks are found sooner.
HEARTBEAT_TIMEOUT_MS = 800
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


@dataclass(frozen=True)
class Case:
    number: int
    program: str
    ranks: int
    transport: str
    faults: tuple[str, ...]
    """As for --inject; or with `after=...us` in place of `at=`: a signal that the test sends."""
    large_percent: int = 2

    @property
    def victims(self) -> set[int]:
        return {int(re.findall(r"rank=(\d+)", fault)[0]) for fault in self.faults}

    @property
    def injected(self) -> list[str]:
        return [fault for fault in self.faults if "at=" in fault]

    @property
    def signals(self) -> list[tuple[int, int, signal.Signals]]:
        """When (in microseconds), to whom and which, the first one first."""
        found = [re.fullmatch(r"(\w+):rank=(\d+),after=(\d+)us", fault) for fault in self.faults]
        return sorted((int(f[3]), int(f[2]), SIGNALS[f[1]]) for f in found if f)

    @property
    def only_world(self) -> bool:
        """Faults by the clock must not meet the making of communicators: that is MPI's business."""
        return any(re.search(r"at=\d+us", fault) for fault in self.faults)

    def __str__(self) -> str:
        return f"{self.number}-{self.program}-{self.ranks}-{self.transport}-{'-'.join(self.faults)}"


class Chooser:
    """Makes cases; all that is not said is chosen by the case's number."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def add(self, kind: str, moment: str, victims: int = 1, first: int | None = None) -> None:
        """`moment`: a call's name, `time`, `signal` (the test sends it) or `mix`: any of them.

        `first`: the first victim.
        """
        number = len(self.cases)
        dice = random.Random(f"kill {number}")
        ranks = (4, 8, 16)[number // 2 % 3]
        chosen = dice.sample(range(ranks), victims)
        if first is not None:
            chosen = [first, *[rank for rank in chosen if rank != first]][:victims]
        faults = tuple(f"{kind}:rank={rank},{self._moment(moment, dice)}" for rank in chosen)
        program = "mpi4py" if number % 5 in (1, 4) else "c"
        large_percent = dice.choice((2, 2, 30)) if ranks < 16 else 2
        transport = "tcp" if number % 2 else "auto"
        self.cases.append(Case(number, program, ranks, transport, faults, large_percent))

    @staticmethod
    def _moment(moment: str, dice: random.Random) -> str:
        if moment == "mix":
            moment = dice.choice(["time", "allreduce", "bcast", "reduce", "barrier"])
        if moment in ("time", "signal"):
            word = "at" if moment == "time" else "after"
            return f"{word}={dice.randint(*FAULT_US)}us"
        last = {"allreduce": 60, "finalize": 1}.get(moment, 10)
        return f"at={moment}#{dice.randint(1, last)}"


def all_cases() -> list[Case]:
    chooser = Chooser()
    for _ in range(3):
        for call in ("allreduce", "bcast", "reduce", "barrier"):
            chooser.add("kill", call)
            chooser.add("kill", call, first=0)
            chooser.add("kill", call, victims=2)
        chooser.add("kill", "finalize")
        chooser.add("kill", "finalize", first=0)
        chooser.add("kill", "finalize", victims=2)
        chooser.add("exit", "finalize")
        for call in ("allreduce", "bcast", "reduce", "time"):
            chooser.add("exit", call)
            chooser.add("stop", call)
        chooser.add("stop", "finalize")
        chooser.add("stop", "mix", victims=2)
        chooser.add("exit", "mix", victims=2, first=0)
    for _ in range(10):
        chooser.add("kill", "time")
        chooser.add("kill", "time", first=0)
        chooser.add("kill", "signal")
        chooser.add("kill", "signal", victims=2)
        chooser.add("kill", "signal", victims=3, first=0)
        chooser.add("kill", "mix", victims=3)
        chooser.add("kill", "mix", victims=2, first=0)
    chooser.add("stop", "signal")
    chooser.add("stop", "signal", first=0)
    return chooser.cases


def gossip_cases() -> list[Case]:
    """Both transports, rank 0 and others, by the program's calls and by the clock."""
    chooser = Chooser()
    chooser.add("kill", "bcast", first=0)
    chooser.add("kill", "bcast", victims=2)
    chooser.add("kill", "time", first=0)
    chooser.add("kill", "signal", victims=2)
    chooser.add("kill", "bcast")
    return chooser.cases


def program_of(case: Case, folder: Path) -> list[str | Path]:
    work_ms = 0 if case.signals else WORK_MS
    arguments = [str(folder), str(case.number), str(work_ms), str(case.large_percent)]
    if case.only_world:
        arguments.append("world")
    if case.program == "c":
        return [jobs.PROGRAMS / "mixed", *arguments]
    return [sys.executable, Path(__file__).parent / "programs" / "mixed.py", *arguments]


def repeat_command() -> str:
    name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    return f"repeat with: .venv/bin/python -m pytest '{name}'"


def send_signals(case: Case, folder: Path, job: jobs.Job) -> None:
    """Once all ranks are at work."""
    if not case.signals:
        return
    logs.wait_for_work(folder, case.ranks, job)
    processes = job.processes_by_rank()
    began = time.monotonic()
    for after_us, rank, what in case.signals:
        time.sleep(max(0.0, began + after_us / 1e6 - time.monotonic()))
        os.kill(processes[rank], what)
    logs.say_enough(folder)


def check_logs(case: Case, folder: Path, ended: jobs.Ended) -> None:
    survivors = set(range(case.ranks)) - case.victims
    wrong = list(logs.problems(logs.read_logs(folder, case.ranks), survivors))
    assert not wrong, "\n".join([*wrong[:10], repeat_command(), str(ended)])


def lose_and_check(case: Case, folder: Path, *more_options: str) -> None:
    options = [f"--inject={fault}" for fault in case.injected]
    options += ["--transport", case.transport, *more_options]
    if any(fault.startswith("stop") for fault in case.faults):
        options += ["--heartbeat-timeout", str(HEARTBEAT_TIMEOUT_MS)]
    ended = jobs.resprout_run(
        case.ranks,
        program_of(case, folder),
        options,
        meanwhile=lambda job: send_signals(case, folder, job),
    )
    assert ended.status == 0, f"{ended}\n{repeat_command()}"
    assert ended.lost == case.victims, f"{ended}\n{repeat_command()}"
    check_logs(case, folder, ended)


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_survivors_of_a_loss_all_get_the_same_right_results(case: Case, tmp_path: Path) -> None:
    lose_and_check(case, tmp_path)


@pytest.mark.parametrize("case", gossip_cases(), ids=str)
def test_survivors_of_a_loss_under_gossip_do_so_too(case: Case, tmp_path: Path) -> None:
    lose_and_check(case, tmp_path, "--bcast", "corrected-gossip:rounds=4,correction=checked")


@pytest.mark.parametrize("fault", ["kill:rank=0,at=allreduce#30", "kill:rank=2,at=50000us"])
@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_a_preloaded_library_is_enough(fault: str, transport: str, tmp_path: Path) -> None:
    case = Case(7, "c", 4, transport, (fault,))
    variables = {"RESPROUT_TRANSPORT": transport, "RESPROUT_INJECT": fault}
    ended = jobs.mpirun_run(4, program_of(case, tmp_path), variables)
    check_logs(case, tmp_path, ended)


@pytest.mark.parametrize("program", ["c", "mpi4py"])
@pytest.mark.parametrize("ranks", [1, 3, 16])
def test_without_a_loss_every_result_contains_everybody(
    program: str, ranks: int, tmp_path: Path
) -> None:
    case = Case(1000 + ranks, program, ranks, "auto", ())
    ended = jobs.resprout_run(ranks, program_of(case, tmp_path))
    assert ended.status == 0 and ended.lost == set(), str(ended)
    check_logs(case, tmp_path, ended)
