"""`resprout bench injection` with bits that are really flipped on their way between replicas."""

import json
from pathlib import Path
from typing import Any

import covering
import jobs
import pytest

CASES = covering.with_every_value((2, 3), ("all-to-all", "msg-plus-hash", "async", "async-hash"))
Row = dict[str, Any]


def bench(degree: int, method: str, *options: str) -> tuple[jobs.Ended, list[Row]]:
    words = [
        "-n",
        "2",
        "--replicas",
        str(degree),
        "--methods",
        method,
        "--alone",
        "1",
        "--steps-jobs",
        "0",
        *options,
    ]
    ended = jobs.run([jobs.RESPROUT, "bench", "injection", *words, "--format", "json"])
    assert ended.status == 0, str(ended)
    return ended, json.loads(ended.out)["rows"]


@pytest.mark.parametrize(("degree", "method"), CASES)
def test_every_flip_is_detected_and_with_three_replicas_corrected(degree: int, method: str) -> None:
    options = ["--injections", "6", "--per-job", "6", "--kernel-jobs", "0"]
    ended, (control, flipped) = bench(degree, method, *options)
    assert control["control"] and not flipped["control"], str(ended)
    assert control["injected"] == control["falsely_accused"] == 0, str(ended)
    assert control["right_results"] == 1, str(ended)
    # A plane that has worked with what is wrong ends, and its other flips with it.
    injected = 1 if degree == 3 and method.startswith("async") else 6
    assert flipped["injected"] == flipped["detected"] == injected, str(ended)
    assert flipped["corrected"] == (injected if degree == 3 else 0), str(ended)
    assert flipped["missed"] == flipped["falsely_accused"] == flipped["left"] == 0, str(ended)
    assert flipped["right_results"] or degree == 2, str(ended)


@pytest.mark.parametrize("method", covering.a_share(["msg-plus-hash", "async-hash"], 2))
def test_a_kernel_in_which_something_is_corrupted_is_put_right_by_the_others(
    tmp_path: Path, method: str
) -> None:
    options = ["--injections", "6", "--per-job", "6", "--kernel-jobs", "1"]
    ended, rows = bench(3, method, *options, "--output", str(tmp_path))
    kernels = [row for row in rows if not row["control"] and row["program"] != "exchange"]
    assert [row["program"] for row in kernels] == ["lu", "mg", "ep", "ft"]
    for row in kernels:
        assert row["injected"] == row["detected"] == row["corrected"] == 1, str(ended)
    assert all(row["falsely_accused"] == 0 for row in rows), str(ended)
    for name in ("json", "csv", "md", "svg", "png"):
        assert (tmp_path / f"injection.{name}").stat().st_size > 0


@pytest.mark.parametrize("degree", covering.a_share([3, 2], 2))
def test_with_checkpoints_memory_and_messages_come_right(degree: int) -> None:
    options = ["--injections", "1", "--alone", "0", "--kernel-jobs", "0", "--steps-jobs", "2"]
    ended, rows = bench(degree, "async-hash", *options)
    (row,) = [row for row in rows if row["program"] == "steps" and not row["control"]]
    assert row["injected"] == row["detected"] == row["corrected"] == 2, str(ended)
    assert row["right_results"] == row["jobs"] == 2, str(ended)
