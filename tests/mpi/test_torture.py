"""`resprout torture` finds the places where a program bears no loss, and no others."""

import json
from pathlib import Path

import jobs

PROGRAM = str(jobs.PROGRAMS / "tortured")


def torture(*words: str | Path) -> jobs.Ended:
    return jobs.run([jobs.RESPROUT, "torture", "-n", "3", "--json", *words])


def test_a_program_that_bears_every_loss_passes() -> None:
    ended = torture("--points", "6", "--check", "grep -q 'sum [23]' || [ $? = 1 ]", "--", PROGRAM)
    assert ended.status == 0, str(ended)
    assert {trial["outcome"] for trial in json.loads(ended.out)} == {"right"}, str(ended)


def test_where_it_hangs_is_shown_once_and_not_tried_again(tmp_path: Path) -> None:
    words = ["--timeout", "20", "--state", tmp_path / "state", "--", PROGRAM, "stubborn"]
    ended = torture("--points", "30", *words)
    trials = json.loads(ended.out)
    hung = [trial["faults"] for trial in trials if trial["outcome"] == "hung"]
    assert ended.status == 1, str(ended)
    assert hung == [["kill:rank=1,at=send#1"]], str(ended)
    again = torture("--points", "30", *words)
    assert json.loads(again.out) == trials, str(again)
