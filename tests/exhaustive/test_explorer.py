"""Every interleaving and every crash point of small operations: no promise is broken in any state.

Bounds: up to 4 processes, 5 where it fits; up to 3 of them may die. `slander` is a process that is
suspected while it still runs, `loss` are messages of the dead that never arrive.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("RESPROUT_BUILD", ROOT / "build" / "release"))
ALL_FAULTS = "--slander --loss"

ALLREDUCE = [
    f"--procs 2 --crashes 1 {ALL_FAULTS}",
    f"--procs 3 --crashes 2 {ALL_FAULTS}",
    f"--procs 4 --crashes 2 {ALL_FAULTS}",
    f"--procs 4 --crashes 2 {ALL_FAULTS} --radix 3",
    f"--procs 4 --crashes 3 {ALL_FAULTS}",
    "--procs 5 --crashes 2",
]
REDUCE = [
    f"--procs 3 --crashes 2 {ALL_FAULTS} --root 1",
    f"--procs 4 --crashes 2 {ALL_FAULTS} --root 2",
]
CORRECTED_TREE = [
    "--procs 3 --crashes 2 --loss --correction checked",
    "--procs 4 --crashes 0 --correction checked --root 2",
    "--procs 4 --crashes 1 --correction checked",
    "--procs 4 --crashes 2 --correction optimized-opportunistic",
    "--procs 4 --crashes 2 --correction opportunistic --enter-first",
]
RELIABLE_BROADCAST = [
    f"--procs 2 --crashes 1 {ALL_FAULTS} --correction checked",
    f"--procs 3 --crashes 2 {ALL_FAULTS} --correction optimized-opportunistic",
    f"--procs 3 --crashes 2 {ALL_FAULTS} --correction none --root 1",
    "--procs 3 --crashes 2 --correction checked --root 2",
    "--procs 4 --crashes 2 --correction none",
    "--procs 4 --crashes 1 --correction optimized-opportunistic --enter-first",
]
CASES = [
    f"--protocol {protocol} {options}"
    for protocol, cases in [
        ("ftco-allreduce", ALLREDUCE),
        ("ftco-reduce", REDUCE),
        ("corrected-tree", CORRECTED_TREE),
        ("reliable-broadcast", RELIABLE_BROADCAST),
    ]
    for options in cases
]


def explore(options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILD / "bin" / "resprout_explore", *options.split()],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("options", CASES)
def test_all_promises_are_kept_in_every_state(options: str) -> None:
    done = explore(options)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, f"replay: resprout_explore {options}\n{done.stdout}{done.stderr}"
    states = re.search(r"(\d+) states, (\d+) steps, (\d+) ends", done.stdout)
    assert states is not None
    assert int(states[1]) > int(states[3]) > 0
    assert "all promises kept in every state" in done.stdout


@pytest.mark.parametrize(
    ("options", "violation"),
    [
        ("--protocol ftco-allreduce --defect promise", "disagrees"),
        ("--protocol ftco-allreduce --defect memory", "disagrees"),
        ("--protocol ftco-allreduce --defect suspicions", "never returned"),
        ("--protocol reliable-broadcast --defect suspicions", "never returned"),
    ],
)
def test_a_rule_that_is_broken_on_purpose_is_found_with_the_way_to_it(
    options: str, violation: str
) -> None:
    done = explore(f"{options} --procs 3 --crashes 1")
    assert done.returncode == 1
    assert violation in done.stdout
    way = done.stdout.split("steps:\n")[1].splitlines()
    assert any(step.strip() == "0 dies" for step in way)
