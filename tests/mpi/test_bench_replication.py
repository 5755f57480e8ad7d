"""`resprout bench replication` with real jobs of copies and replicas."""

import json
from pathlib import Path

import jobs

METHODS = ["none", "async", "async-hash"]


def test_a_small_bench_has_figures_of_everything(tmp_path: Path) -> None:
    options = ["--size", "smallest", "-n", "2", "--only", "cg", "--repetitions", "1"]
    options += ["--replicas", "3", "--methods", ",".join(METHODS)]
    command = ["bench", "replication", *options, "--output", str(tmp_path)]
    ended = jobs.run([jobs.RESPROUT, *command])
    assert ended.status == 0, str(ended)
    rows = json.loads((tmp_path / "replication.json").read_text())["rows"]
    kinds = [(row["kernel"], row["degree"], row["method"]) for row in rows]
    replicated = [(3, method) for method in ("copies", *METHODS)]
    assert kinds == [("cg", *case) for case in ((1, "copies"), *replicated)]
    for row in rows:
        assert row["samples"] == 1
        # Who is through MPI_Finalize has entered it, and the command is over later still.
        assert 0 < row["computed_s"] <= row["time_s"] < row["wall_s"]
        if row["method"] in METHODS[1:]:
            assert row["compared"] > 0 and row["open_max"] > 0
    for name in ("replication.csv", "replication.md", "replication-3.svg", "replication-3.png",
                 "replication-memory-3.svg", "replication-memory-3.png"):  # fmt: skip
        assert (tmp_path / name).stat().st_size > 0
    memory = (tmp_path / "replication-memory.csv").read_text().splitlines()
    assert {line.split(",")[2] for line in memory[1:]} == set(METHODS[1:])
    assert any(float(line.split(",")[4]) > 0 for line in memory[1:])
    assert "3 replicas" in ended.out and "async-hash takes at most 1.10" in ended.out
