"""`resprout.notebook`: what the commands give, as tables and figures."""

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from resprout.cli import main
from resprout.errors import UserError
from resprout.notebook import campaign, query, simulate, timeline

SPEC = "corrected-tree:correction=checked"
PLAN = {
    "repetitions": 5,
    "product": [{"protocol": SPEC, "procs": [16, 64], "faults": ["none", "5%"]}],
}


def test_runs_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    table = simulate(SPEC, 64, faults="5%", fail_at=["3@4"], seed=7, runs=3)
    arguments = [
        "--procs",
        "64",
        "--faults",
        "5%",
        "--fail-at",
        "3@4",
        "--seed",
        "7",
        "--runs",
        "3",
    ]
    assert main(["sim", SPEC, *arguments, "--format", "json"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert isinstance(table, pa.Table)
    assert table.to_pylist() == [json.loads(line) for line in said]


def test_what_is_wrong_is_one_line() -> None:
    with pytest.raises(UserError, match=r"no-such-protocol"):
        simulate("no-such-protocol", 8)
    with pytest.raises(UserError, match=r"campaign: .*procs"):
        campaign({"product": [{"protocol": SPEC}]}, "unused")
    assert not Path("unused").exists()


def test_a_campaign_has_a_row_for_each_run_and_simulates_once(tmp_path: Path) -> None:
    table = campaign(PLAN, tmp_path / "results", jobs=2)
    assert table.num_rows == 20
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()}
    assert campaign(PLAN, tmp_path / "results").equals(table)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()} == written


def test_a_query_gives_a_table(tmp_path: Path) -> None:
    campaign(PLAN, tmp_path / "results")
    counts = query(
        "SELECT procs, count(*) AS n FROM runs GROUP BY procs ORDER BY procs", tmp_path / "results"
    )
    assert counts.to_pydict() == {"procs": [16, 64], "n": [10, 10]}
    with pytest.raises(UserError, match="SQL: "):
        query("SELECT nothing FROM runs", tmp_path / "results")


def test_a_timeline_is_a_figure_of_what_the_command_draws(tmp_path: Path) -> None:
    figure = timeline(SPEC, 16, faults="2,3")
    svg = io.StringIO()
    figure.savefig(svg, format="svg")
    for part in ("dead-2", "dead-3", "send-0"):
        assert f'id="{part}"' in svg.getvalue()
