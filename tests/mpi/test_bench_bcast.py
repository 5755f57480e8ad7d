"""`resprout bench bcast` with real processes, some really killed; hints of communicators."""

import json
from pathlib import Path

import jobs
import pytest

HINTS = jobs.PROGRAMS / "hints"


@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_a_small_bench_has_figures_of_everything(transport: str, tmp_path: Path) -> None:
    command = ["bench", "bcast", "-n", "3,4", "--sizes", "8,64KiB,1MiB", "--dead", "0,1"]
    command += ["--jobs", "2", "--repetitions", "3", "--calls", "2", "--output", str(tmp_path)]
    ended = jobs.run([jobs.RESPROUT, *command, "--transport", transport])
    assert ended.status == 0, str(ended)
    rows = json.loads((tmp_path / "bcast.json").read_text())["rows"]
    names = {row["variant"] for row in rows}
    assert names >= {"native", "default", "binomial", "binomial+2", "lame3+2", "checked", "gossip"}
    measured = {(row["ranks"], row["dead"], row["bytes"], row["variant"]) for row in rows}
    assert measured == {
        (ranks, dead, size, name)
        for ranks in (3, 4)
        for dead in (0, 1)
        for size in (8, 1 << 16, 1 << 20)
        for name in names
        if dead == 0 or name != "native"
    }
    for row in rows:
        assert row["samples"] == 2 * 3
        assert 0 < row["minimum"] <= row["lower_quartile"] <= row["median"] <= row["upper_quartile"]
        assert row["to_binomial"] > 0
        assert (row["to_native"] is None) == (row["dead"] > 0) == (row["to_no_loss"] is not None)
    for name in ("bcast.csv", "bcast.md", "bcast.svg", "bcast-1-killed.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert "4 ranks, 1 of them killed" in ended.out


def test_a_spec_that_only_the_simulator_can_do_is_refused_in_one_line() -> None:
    command = ["bench", "bcast", "-n", "2", "--dead", "0", "--sizes", "8", "--jobs", "1"]
    ended = jobs.run([jobs.RESPROUT, *command, "--bcast", "corrected-gossip:time=9"])
    assert ended.status == 2, str(ended)
    assert ended.out == ""
    assert ended.err.count("\n") == 1 and "option time" in ended.err, str(ended)


def test_a_communicator_has_the_broadcast_that_its_hint_asks_for() -> None:
    ended = jobs.resprout_run(4, [HINTS])
    assert ended.status == 0 and ended.out.split() == ["ok"], str(ended)
    refused = "resprout: resprout_bcast: corrected-tree: tree='oak' is not one of"
    assert ended.err.count(refused) == 4, str(ended)
    assert ended.calls("bcast") == 4 * 2 * 5, str(ended)
