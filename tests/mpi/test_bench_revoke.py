"""`resprout bench revoke` with real processes whose communicators are really revoked."""

import json
from pathlib import Path

import jobs
import pytest

WAYS = ["resprout", "ulfm"]


def bench(*options: str) -> jobs.Ended:
    ended = jobs.run([jobs.RESPROUT, "bench", "revoke", "--repetitions", "2", *options])
    assert ended.status == 0, str(ended)
    return ended


def test_a_small_bench_has_figures_of_everything(tmp_path: Path) -> None:
    ended = bench("-n", "2,4", "--sizes", "8,4KiB,128KiB", "--output", str(tmp_path))
    rows = json.loads((tmp_path / "revoke.json").read_text())["rows"]
    cases = [(2, "barrier", 0, 0), (2, "allreduce", 8, 0), (4, "barrier", 0, 0)]
    cases += [(4, "allreduce", 8, 0), *((4, "barrier", 0, rank) for rank in (1, 2, 3))]
    cases += [(4, "allreduce", 4096, 0), (4, "allreduce", 131072, 0)]
    keys = ("ranks", "operation", "bytes", "initiator")
    kinds = [(*(row[key] for key in keys), row["way"]) for row in rows]
    assert kinds == [(*case, way) for case in cases for way in WAYS]
    for row in rows:
        assert row["samples"] == 2
        assert row["before_us"] > 0 and row["settled_us"] > 0
        assert 0 < row["revoked_lower_us"] <= row["revoked_us"] <= row["revoked_upper_us"]
        assert all(row[f"after_{number}_us"] > 0 for number in range(1, 21))
        assert row["way"] == "resprout" or row["revoked_to_ulfm"] == 1
    for name in ("revoke.csv", "revoke.md", "revoke.svg", "revoke.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert "4 ranks" in ended.out and "first after" in ended.out


@pytest.mark.parametrize("carrier", ["native", "resprout"])
def test_whoever_carries_collectives_and_waits_in_them_is_interrupted(carrier: str) -> None:
    options = ["-n", "3", "--sizes", "8,1MiB", "--pause", "2000", "--collectives", carrier]
    rows = json.loads(bench(*options, "--format", "json").out)["rows"]
    assert len(rows) == 2 * 5
