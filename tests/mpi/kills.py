"""Jobs some of whose ranks are lost, and what must hold of the survivors then."""

import os
import random
import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import covering
import jobs
import logs

# How long the ranks work, and when timed faults come: after MPI_Init, or after the first operation.
WORK_MS = 400
FAULT_US = (1_000, 300_000)
# Shorter than by default, so that stopped ranks are found sooner.
HEARTBEAT_TIMEOUT_MS = 800
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


def kills_at_calls(seed: int, count: int, ranks: int, calls: Sequence[str], number_max: int) -> str:
    """So many ranks, each killed as it enters some call: never while MPI makes a communicator.

    Open MPI 5.0 does not bear a death there (docs/reference/open-mpi.md); by the clock it could
    come then.
    """
    chosen = random.Random(seed)
    victims = chosen.sample(range(ranks), count)
    return ";".join(
        f"kill:rank={rank},at={chosen.choice(calls)}#{chosen.randint(1, number_max)}"
        for rank in victims
    )


def kills_at_any_moment(seed: int, count: int, ranks: int, within_s: float) -> str:
    """So many ranks, each killed by the clock, counted from MPI_Init."""
    chosen = random.Random(seed)
    return ";".join(
        f"kill:rank={rank},at={chosen.uniform(0, within_s):.4f}s"
        for rank in chosen.sample(range(ranks), count)
    )


def victims_of(faults: Sequence[str]) -> set[int]:
    return {int(rank) for fault in faults for rank in re.findall(r"rank=([0-9]+)", fault)}


def check_none_else_lost(ended: jobs.Ended, faults: str) -> None:
    """Who is killed by the clock may have been through before, if the machine was late."""
    assert ended.status == 0 and ended.lost <= victims_of([faults]), str(ended)


def check_survivors(ended: jobs.Ended, ranks: int, faults: str) -> None:
    """All but the victims have come to the program's end, and these if they were not killed."""
    check_none_else_lost(ended, faults)
    said = re.findall(r"^(?:rank )?([0-9]+) is (?:through|done)$", ended.out, re.MULTILINE)
    assert {int(rank) for rank in said} | ended.lost == set(range(ranks)), str(ended)


@dataclass(frozen=True)
class Case:
    number: int
    program: str
    ranks: int
    transport: str
    faults: tuple[str, ...]
    """As for --inject; or with `after=...us` in place of `at=`: a signal that the test sends."""
    large_percent: int = 2
    collectives: str = "auto"
    repeat: str = ""
    """The command that runs it again; without one, that of the test which runs now."""

    @property
    def victims(self) -> set[int]:
        return victims_of(self.faults)

    @property
    def fault_names(self) -> list[str]:
        """`kill bcast`: on entering one; else `clock`, counted from MPI_Init, or `signal`."""
        words = [re.fullmatch(r"(\w+):rank=\d+,(at|after)=(\w+)(#\d+)?", f) for f in self.faults]
        when = [(w[1], w[2], w[3]) for w in words if w]
        assert len(when) == len(self.faults), self.faults
        return [
            f"{what} {'signal' if how == 'after' else 'clock' if moment[0].isdigit() else moment}"
            for what, how, moment in when
        ]

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

    def arguments(self, folder: Path, *more: str) -> list[str]:
        """Of a program that is like mixed.c."""
        work_ms = 0 if self.signals else WORK_MS
        words = [str(folder), str(self.number), str(work_ms), str(self.large_percent), *more]
        return [*words, "world"] if self.only_world else words

    def __str__(self) -> str:
        words = [str(self.number), self.program, str(self.ranks), self.transport, self.collectives]
        return "-".join([*words, *self.faults])


def repeat_command(case: Case) -> str:
    if case.repeat:
        return f"repeat with: {case.repeat}"
    name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    every = f"{covering.EVERY}=1 " if covering.is_every_case_wanted() else ""
    return f"repeat with: {every}.venv/bin/python -m pytest '{name}'"


def run(
    case: Case,
    program: Sequence[str | Path],
    folder: Path,
    more_options: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    within: Sequence[str | Path] = (),
) -> jobs.Ended:
    """Run it; exactly the victims are lost, and the survivors' logs hold.

    `within`: a command that runs the launcher, on another host say.
    """
    options = [f"--inject={fault}" for fault in case.injected]
    options += ["--transport", case.transport, "--collectives", case.collectives, *more_options]
    if any(fault.startswith("stop") for fault in case.faults):
        options += ["--heartbeat-timeout", str(HEARTBEAT_TIMEOUT_MS)]
    ended = jobs.resprout_run(
        case.ranks,
        program,
        options,
        variables,
        meanwhile=lambda job: _send_signals(case, folder, job),
        within=within,
    )
    assert ended.status == 0, f"{ended}\n{repeat_command(case)}"
    assert ended.lost == case.victims, f"{ended}\n{repeat_command(case)}"
    check_logs(case, folder, ended)
    return ended


def _send_signals(case: Case, folder: Path, job: jobs.Job) -> None:
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
    assert not wrong, "\n".join([*wrong[:10], repeat_command(case), str(ended)])
