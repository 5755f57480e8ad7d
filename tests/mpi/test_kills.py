"""Real processes are killed, stopped and made to exit in the middle of a mix of collectives; the
survivors' results stay right, all alike, and nothing hangs or stays behind.

Each case is chosen by its number alone, so that a name is enough to repeat it. Of the 153 cases of
one loss or several, those run that try each thing they are made of twice (covering.py); all run
with EVERY_CASE=1.
"""

import random
import sys
from collections import Counter
from pathlib import Path

import covering
import jobs
import kills
import pytest
from kills import FAULT_US, Case


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
        collectives = ("native", "auto", "trees")[number % 3]
        self.cases.append(
            Case(number, program, ranks, transport, faults, large_percent, collectives)
        )

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


def features(case: Case) -> set[covering.Feature]:
    """What is tried with everything else: who is lost how and when, and what all others use."""
    return {
        ("program", case.program),
        ("ranks", case.ranks),
        ("transport", case.transport),
        ("collectives", case.collectives),
        ("losses", len(case.faults)),
        ("root is lost", 0 in case.victims),
        *(("fault", name) for name in case.fault_names),
    }


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
    if case.program == "c":
        return [jobs.PROGRAMS / "mixed", *case.arguments(folder)]
    script = Path(__file__).parent / "programs" / "mixed.py"
    return [sys.executable, script, *case.arguments(folder)]


def test_the_chosen_cases_have_kills_before_inside_and_after_all() -> None:
    """On entering each function, inside of any by the clock and by a signal, and on leaving."""
    chosen = covering.chosen(all_cases(), features)
    every, tried = (
        Counter(feature for case in cases for feature in features(case))
        for cases in (all_cases(), chosen)
    )
    assert all(tried[one] >= min(times, covering.TIMES) for one, times in every.items()), tried
    kills_at = Counter(name for case in chosen for name in case.fault_names)
    for moment in ("allreduce", "bcast", "reduce", "barrier", "finalize", "clock", "signal"):
        assert kills_at[f"kill {moment}"] >= covering.TIMES, kills_at


@pytest.mark.parametrize("case", covering.chosen(all_cases(), features), ids=str)
def test_survivors_of_a_loss_all_get_the_same_right_results(case: Case, tmp_path: Path) -> None:
    kills.run(case, program_of(case, tmp_path), tmp_path)


@pytest.mark.parametrize("case", gossip_cases(), ids=str)
def test_survivors_of_a_loss_under_gossip_do_so_too(case: Case, tmp_path: Path) -> None:
    gossip = ["--bcast", "corrected-gossip:rounds=4,correction=checked"]
    kills.run(case, program_of(case, tmp_path), tmp_path, gossip)


@pytest.mark.parametrize("fault", ["kill:rank=0,at=allreduce#30", "kill:rank=2,at=50000us"])
@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_a_preloaded_library_is_enough(fault: str, transport: str, tmp_path: Path) -> None:
    case = Case(7, "c", 4, transport, (fault,))
    variables = {"RESPROUT_TRANSPORT": transport, "RESPROUT_INJECT": fault}
    ended = jobs.mpirun_run(4, program_of(case, tmp_path), variables)
    kills.check_logs(case, tmp_path, ended)


@pytest.mark.parametrize("program", ["c", "mpi4py"])
@pytest.mark.parametrize("ranks", [1, 3, 16])
def test_without_a_loss_every_result_contains_everybody(
    program: str, ranks: int, tmp_path: Path
) -> None:
    case = Case(1000 + ranks, program, ranks, "auto", ())
    kills.run(case, program_of(case, tmp_path), tmp_path)
