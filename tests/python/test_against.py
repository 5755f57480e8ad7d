"""`resprout reproduce corrected-trees --against PROGRAM`, with a small program of ours.

It speaks the command line of the authors' simulator. Told to deviate it counts a message too many
in one collective.
"""

import json
import sys
from pathlib import Path

import pytest
from resprout.cli import main
from resprout.experiments.reproduce.corrected_trees import against as against_module
from resprout.experiments.reproduce.corrected_trees.against import cases, collectives

STAND_IN = """#!{python}
import argparse

from resprout.experiments.reproduce.corrected_trees.against import collectives
from resprout.native import Simulation

parser = argparse.ArgumentParser()
for name in ("-P", "-L", "-o", "-g", "-k", "--parallelism"):
    parser.add_argument(name, type=int, required=True)
for name in ("--coll", "--faults", "--results-format", "--header"):
    parser.add_argument(name, required=True)
given = parser.parse_args()
assert given.results_format == "csv-columns" and given.parallelism == 2 and given.g == given.o
spec = {{(name, k): spec for name, spec, k in collectives()}}[given.coll, given.k]
faults = given.faults if given.faults == "none" else given.faults + ","
run = Simulation(spec, procs=given.P, latency=given.L, overhead=given.o).run(faults=faults)
columns = {{
    "TotalRuntime": run["quiescence_latency"],
    "MsgTask": run["messages"] + (given.coll == {deviating!r} and given.faults != "none"),
    "UnreachedNodes": run["uncolored"],
}}
print(given.header)
print(",".join(str(columns[name]) for name in given.header.split(",")))
"""


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against_module, "_SIZES", (20,))
    monkeypatch.setattr(against_module, "_TREES", ("binomial",))
    monkeypatch.setattr(against_module, "_SHARES", (0.0, 0.1))
    monkeypatch.setattr(against_module, "_DRAWS", 1)


def program(tmp_path: Path, deviating: str = "") -> Path:
    path = tmp_path / "simulator"
    path.write_text(STAND_IN.format(python=sys.executable, deviating=deviating))
    path.chmod(0o755)
    return path


def run(path: Path, *options: str) -> int:
    return main(["reproduce", "corrected-trees", "--against", str(path), *options])


def test_a_program_that_agrees_is_equal_in_all_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(program(tmp_path)) == 0
    said = capsys.readouterr().out
    assert f"{len(cases())} of {len(cases())} cases are equal" in said
    assert all(name in said for name, _, _ in collectives())


def test_a_planted_deviation_is_found_and_can_be_seen_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deviating = program(tmp_path, "ack_binomial_bcast")
    assert run(deviating, "--format", "json") == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    different = [row for row in rows if not row["equal"]]
    assert different and len(rows) == len(cases())
    for row in rows:
        is_planted = row["collective"] == "ack_binomial_bcast" and bool(row["faults"])
        assert row["equal"] == (not is_planted)
        assert row["theirs"]["messages"] - row["ours"]["messages"] == is_planted
    assert run(deviating) == 1
    said = capsys.readouterr().out
    assert "the first that differs" in said
    assert "resprout sim acknowledged-tree:tree=binomial --procs 20 --faults" in said


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "cannot be run"),
        ("#!/bin/sh\necho hello\n", "did not answer with a row"),
        ("#!/bin/sh\necho TotalRuntime,MsgTask,UnreachedNodes\necho 1,2,3\nexit 1\n", "answer"),
    ],
)
def test_another_program_is_refused_in_one_line(
    tmp_path: Path, text: str | None, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program"
    if text is not None:
        path.write_text(text)
        path.chmod(0o755)
    assert run(path) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert "--against" in said.err and problem in said.err


def test_only_the_whole_of_corrected_trees_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(program(tmp_path))
    for words in (["ftco"], ["corrected-trees", "fig8"]):
        assert main(["reproduce", *words, "--against", path]) == 2
        assert "--against: only `corrected-trees`" in capsys.readouterr().err
