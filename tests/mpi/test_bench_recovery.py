"""`resprout bench recovery` with real processes that really die."""

import json
import signal
from pathlib import Path

import jobs

FAULTS = ["none", "one", "two parallel", "two serial", "three mixed"]
WAYS = ["resprout", "resprout, binomial", "ulfm, told", "ulfm"]


def test_a_small_bench_has_figures_of_everything(tmp_path: Path) -> None:
    command = ["bench", "recovery", "-n", "8", "--repetitions", "1", "--output", str(tmp_path)]
    ended = jobs.run([jobs.RESPROUT, *command])
    assert ended.status == 0, str(ended)
    found = json.loads((tmp_path / "recovery.json").read_text())
    rows, failed = found["rows"], found["no_good_end"]
    assert all(job.startswith("ulfm") for job in failed), failed
    # Where ULFM's way fails three times there is no figure.
    expected = [(f, w) for f in FAULTS for w in WAYS
                if failed.get(f"{w}, 8 ranks, faults {f}", 0) < 3]  # fmt: skip
    assert [(row["faults"], row["way"]) for row in rows] == expected
    for row in rows:
        assert row["procs"] == 8 and row["jobs"] == 1 and row["total_us"] > 0
        # Whoever waits for the dead knows of the first death before the last result is there.
        assert (row["recovery_us"] > 0) == (row["detection_us"] > 0) == (row["faults"] != "none")
    for name in ("recovery.csv", "recovery.md", "recovery.svg", "recovery.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert "two serial" in ended.out and "8 ranks: one " in ended.out


def test_a_reproduction_that_is_ended_ends_its_bench(tmp_path: Path) -> None:
    command = [jobs.RESPROUT, "reproduce", "ftco", "table1", "--output", str(tmp_path)]
    with jobs.started(command) as job:
        assert jobs.becomes_true(lambda: bool(job.processes_by_rank()), seconds=120), job.seen()
        job.process.send_signal(signal.SIGTERM)
        ended = job.wait()
    assert ended.status == -signal.SIGTERM, str(ended)
