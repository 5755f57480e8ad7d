"""`resprout bench injection` with bits that are really flipped on their way between replicas."""

import json
from pathlib import Path

import jobs

CASES = [
    (degree, method)
    for degree in (2, 3)
    for method in ("all-to-all", "msg-plus-hash", "async", "async-hash")
]


def test_every_flip_is_detected_and_with_three_replicas_corrected(tmp_path: Path) -> None:
    options = ["-n", "2", "--injections", "32", "--per-job", "4", "--kernel-jobs", "0"]
    command = ["bench", "injection", *options, "--output", str(tmp_path)]
    ended = jobs.run([jobs.RESPROUT, *command])
    assert ended.status == 0, str(ended)
    rows = json.loads((tmp_path / "injection.json").read_text())["rows"]
    for control in (True, False):
        mine = [row for row in rows if row["control"] == control]
        assert [(row["degree"], row["method"]) for row in mine] == CASES
    for row in rows:
        injected = 0 if row["control"] else 4
        assert row["jobs"] == 1 and row["injected"] == row["detected"] == injected, row
        assert row["corrected"] == (injected if row["degree"] == 3 else 0), row
        assert row["missed"] == row["falsely_accused"] == row["left"] == 0, row
        assert row["right_results"] or (row["degree"] == 2 and injected), row
    for name in ("csv", "md", "svg", "png"):
        assert (tmp_path / f"injection.{name}").stat().st_size > 0
    assert "none falsely accused, in 16 jobs" in ended.out


def test_a_kernel_whose_message_is_corrupted_is_put_right_by_the_others() -> None:
    options = ["-n", "2", "--injections", "8", "--per-job", "1", "--kernel-jobs", "1"]
    ended = jobs.run([jobs.RESPROUT, "bench", "injection", *options, "--format", "json"])
    assert ended.status == 0, str(ended)
    rows = json.loads(ended.out)["rows"]
    kernels = [row for row in rows if not row["control"] and row["program"] != "exchange"]
    assert len(kernels) == 3 * len(CASES)
    for row in kernels:
        assert row["injected"] == row["detected"] == 1, row
        assert row["corrected"] == (row["degree"] == 3), row
