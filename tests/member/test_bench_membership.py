"""`resprout bench membership` with real members that really die."""

import json
import subprocess
import sys
from pathlib import Path

from groups import PATIENCE


def test_a_small_bench_has_figures_of_everything(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "resprout", "bench", "membership", "-n", "3,8"]
    command += ["--radix", "2,4", "--groups", "1", "--repetitions", "2", "--output", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, ended.stderr
    rows = json.loads((tmp_path / "membership.json").read_text())["rows"]
    kinds = [(row["victim"], row["procs"], row["radix"]) for row in rows]
    assert kinds == [(v, n, a) for v in ("member", "root") for n in (3, 8) for a in (2, 4)]
    for row in rows:
        assert row["deaths"] == 2
        # A decision needs a suspicion, and the last view is there no sooner than the first.
        assert row["detection_us"] > 0 and row["stabilization_us"] > 0
        assert row["total_us"] >= row["detection_us"]
    for name in ("membership.csv", "membership.md", "membership.svg", "membership.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert "one root killed" in ended.stdout and "radix 4: member N^" in ended.stdout
