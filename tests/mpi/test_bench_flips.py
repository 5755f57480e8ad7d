"""`resprout bench flips` with bits that are really flipped in processes."""

import json
from pathlib import Path

import jobs

ENDS = ("masked", "corrected", "detected", "noticed", "hung", "silent")


def test_every_flip_is_counted_once(tmp_path: Path) -> None:
    words = ["--flips", "5", "--replicas", "3", "--methods", "msg-plus-hash"]
    command = [jobs.RESPROUT, "bench", "flips", *words, "--format", "json", "--output", tmp_path]
    ended = jobs.run(command)
    assert ended.status == 0, str(ended)
    (row,) = json.loads(ended.out)["rows"]
    assert (row["degree"], row["method"], row["area"]) == (3, "msg-plus-hash", "process")
    assert row["flipped"] + row["left"] == 5, str(ended)
    assert sum(row[end] for end in ENDS) == row["flipped"], str(ended)
    for name in ("json", "csv", "md", "svg", "png", "pdf"):
        assert (tmp_path / f"flips.{name}").stat().st_size > 0
