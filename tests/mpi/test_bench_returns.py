"""`resprout bench returns` with real jobs, each of which loses a process."""

import json
from pathlib import Path

import jobs

STAGES = ["a pause before", "in MPI_Init", "has data", "computes"]


def test_a_small_bench_has_figures_of_everything(tmp_path: Path) -> None:
    command = ["bench", "returns", "-n", "2", "--mib", "1", "--checkpoints", "2", "--work", "0.2"]
    command += ["--every", "0.1", "--repetitions", "1", "--output", str(tmp_path)]
    with jobs.started([jobs.RESPROUT, *command]) as started:
        ended = started.wait(8 * jobs.WATCHDOG_SECONDS)  # it is nine jobs
    assert ended.status == 0, str(ended)
    found = json.loads((tmp_path / "returns.json").read_text())
    rows = found["rows"]
    assert [row["what"] for row in rows if row["of"] == "checkpoint"] == [
        "plain copy", "wire", "checkpoint",
    ]  # fmt: skip
    assert all(row["samples"] == 2 for row in rows if row["of"] == "checkpoint")
    assert 0 < found["share_in_checkpoints"] < 1
    again = ["restart from memory", "standby, from memory", "restart from files"]
    for way in [*again, "by hand from files"]:
        times = [row["time_us"] for row in rows if row["what"] == way]
        assert [row["time"] for row in rows if row["what"] == way] == STAGES
        # First MPI_Init, then the data, then a step.
        assert 0 < times[1] <= times[2] <= times[3], way
    replicas = [row["time"] for row in rows if row["what"] == "two replicas"]
    assert replicas == ["a pause before", "computes"]
    for name in ("returns.csv", "returns.md", "returns.svg", "returns.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert "times a plain copy" in ended.out
