"""`resprout bench recovery` with real processes that really die."""

import json
from pathlib import Path

import jobs

FAULTS = ["none", "one", "two parallel", "two serial", "three mixed"]
WAYS = ["resprout", "resprout, binomial", "ulfm, told", "ulfm"]


def test_a_small_bench_has_figures_of_everything(tmp_path: Path) -> None:
    command = ["bench", "recovery", "-n", "8", "--repetitions", "1", "--output", str(tmp_path)]
    ended = jobs.run([jobs.RESPROUT, *command])
    assert ended.status == 0, str(ended)
    rows = json.loads((tmp_path / "recovery.json").read_text())["rows"]
    assert [(row["faults"], row["way"]) for row in rows] == [(f, w) for f in FAULTS for w in WAYS]
    for row in rows:
        assert row["procs"] == 8 and row["jobs"] == 1 and row["total_us"] > 0
        # Whoever waits for the dead knows of the first death before the last result is there.
        assert (row["recovery_us"] > 0) == (row["detection_us"] > 0) == (row["faults"] != "none")
    for name in ("recovery.csv", "recovery.md", "recovery.svg", "recovery.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert "two serial" in ended.out and "8 ranks: one " in ended.out
