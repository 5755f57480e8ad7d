"""`resprout query` as its users see it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from resprout.cli import main
from resprout.experiments.campaign import dataset as dataset_module

FILE = """\
repetitions = 20
runs_per_part = 15
[[product]]
protocol = "corrected-tree"
procs = [16, 100]
faults = ["none", "5%"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A name that would be a pattern for DuckDB.
    folder = tmp_path_factory.mktemp("query") / "all [of] them*"
    file = folder.with_name("campaign.toml")
    file.write_text(FILE)
    assert main(["campaign", str(file), "--output", str(folder)]) == 0
    return folder


def answer(capsys: pytest.CaptureFixture[str], sql: str, *arguments: object) -> str:
    capsys.readouterr()
    assert main(["query", sql, *(str(argument) for argument in arguments)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def objects(capsys: pytest.CaptureFixture[str], sql: str, *arguments: object) -> list[Any]:
    said = answer(capsys, sql, *arguments, "--format", "json")
    return [json.loads(line) for line in said.splitlines()]


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main(["query", *(str(argument) for argument in arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


def test_sql_goes_over_all_rows_of_a_folder(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT procs, faults, count(*) AS runs, sum(messages) AS messages FROM runs "
    rows = [row for file in sorted(results.iterdir()) for row in pq.read_table(file).to_pylist()]
    expected = []
    for procs, faults in ((16, "5%"), (16, "none"), (100, "5%"), (100, "none")):
        own = [r["messages"] for r in rows if (r["procs"], r["faults"]) == (procs, faults)]
        expected.append({"procs": procs, "faults": faults, "runs": len(own), "messages": sum(own)})
    # Fault-free: one message of the tree for each but the root, five of the correction for all.
    assert expected[3]["messages"] == 20 * (99 + 5 * 100)
    assert objects(capsys, sql + "GROUP BY ALL ORDER BY ALL", results) == expected


def test_rows_come_in_the_order_of_the_campaign(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = objects(capsys, "SELECT procs, faults, repetition FROM runs", results)
    expected = [(p, f, r) for p in (16, 100) for f in ("none", "5%") for r in range(20)]
    assert [tuple(row.values()) for row in rows] == expected


def test_files_and_folders_are_one_table(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = results / "part-00000.parquet"
    assert objects(capsys, "SELECT count(*) n FROM runs", first) == [{"n": 15}]
    assert objects(capsys, "SELECT count(*) n FROM runs", results, first) == [{"n": 95}]
    assert objects(capsys, "SELECT 1 AS one") == [{"one": 1}]


def test_all_formats_say_the_same(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT faults, avg(quiescence_latency) AS mean, any_value(contributors) AS nobody "
    sql += "FROM runs GROUP BY ALL ORDER BY ALL"
    rows = objects(capsys, sql, results)
    assert {row["nobody"] for row in rows} == {None}
    read = csv.DictReader(io.StringIO(answer(capsys, sql, results, "--format", "csv")))
    assert list(read) == [
        {key: "" if value is None else str(value) for key, value in row.items()} for row in rows
    ]
    table = answer(capsys, sql, results)
    for row in rows:
        assert row["faults"] in table
        assert f"{row['mean']:.3f}".rstrip("0") in table
    for format in ("parquet", "json", "csv", "table"):
        output = tmp_path / f"answer.{format}"
        assert answer(capsys, sql, results, "--format", format, "-o", output) == ""
    assert pq.read_table(tmp_path / "answer.parquet").to_pylist() == rows
    assert (tmp_path / "answer.table").read_text() == table
    assert [json.loads(line) for line in (tmp_path / "answer.json").open()] == rows
    assert len(list(tmp_path.iterdir())) == 4


def test_json_has_values_of_every_type(capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT 170141183460469231731687303715884105727 AS large, 1.5::DECIMAL(3, 1) AS exact, "
    sql += "'nan'::DOUBLE AS nan, DATE '2020-02-29' AS day, [1, 2] AS list, {'a': NULL} AS struct"
    assert objects(capsys, sql) == [
        {
            "large": 2**127 - 1,
            "exact": 1.5,
            "nan": None,
            "day": "2020-02-29",
            "list": [1, 2],
            "struct": {"a": None},
        }
    ]


def test_a_long_table_is_cut_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "SELECT '[red]' || range AS r FROM range(2000)"]) == 0
    said = capsys.readouterr()
    assert "[red]999" in said.out
    assert "[red]1000" not in said.out
    assert "1000 rows" in said.err
    assert len(objects(capsys, "SELECT * FROM range(20001)")) == 20001


def test_an_unfinished_campaign_is_said_to_be_one(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in sorted(results.iterdir())[:2]:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert main(["query", "SELECT count(*) AS n FROM runs", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "30" in said.out
    assert "2 of 6 parts" in said.err


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT 1 1 1", "syntax error"),
        ("SELECT proc FROM runs", '"proc" not found'),
        ("SELECT * FROM rums", "rums"),
        ("SELECT 'x'::INT FROM runs", "Could not convert string 'x'"),
        ("CREATE TABLE t AS SELECT * FROM runs", "give a SELECT"),
        ("", "give a SELECT"),
    ],
)
def test_wrong_sql_is_one_line(
    results: Path, sql: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert named in refusal(capsys, sql, results)


def test_sql_that_needs_results_says_how_to_give_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert "name a FILE or DIR" in refusal(capsys, "SELECT * FROM runs")


def test_sources_that_are_no_results_are_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT 1"
    assert "No such file" in refusal(capsys, sql, tmp_path / "none.parquet")
    assert "has no results" in refusal(capsys, sql, tmp_path)
    (tmp_path / "text.parquet").write_text("text")
    assert "not a whole Parquet file" in refusal(capsys, sql, tmp_path / "text.parquet")
    pq.write_table(pa.table({"procs": [1]}), tmp_path / "other.parquet")
    assert "has no results" in refusal(capsys, sql, tmp_path / "other.parquet")


@pytest.mark.parametrize(
    "metadata",
    [
        {"resprout.schema": "3"},
        {
            "resprout.schema": "3",
            "resprout.version": "0",
            "resprout.campaign": "a",
            "resprout.part": "one",
            "resprout.parts": "2",
        },
        {b"resprout.schema": b"\xff"},
    ],
)
def test_a_file_whose_header_makes_no_sense_is_refused(
    tmp_path: Path, metadata: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"procs": [1]}).replace_schema_metadata(metadata), path)
    assert str(path) in refusal(capsys, "SELECT 1", path)


def test_a_file_of_another_version_is_refused(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_module, "SCHEMA", 4)
    line = refusal(capsys, "SELECT 1", results)
    assert "has schema 3; this version reads and writes 4" in line


def test_a_folder_of_mixed_campaigns_is_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.toml"
    file.write_text("seed = 1\n" + FILE)
    folder = tmp_path / "mixed"
    assert main(["campaign", str(file), "-o", str(folder)]) == 0
    (folder / "part-00002.parquet").write_bytes((results / "part-00002.parquet").read_bytes())
    assert "several campaigns" in refusal(capsys, "SELECT 1", folder)


def test_wrong_options_leave_no_file(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = "SELECT * FROM runs"
    late = "SELECT ('x' || range)::INT FROM range(100000)"
    output = tmp_path / "answer"
    assert "table, json, csv, parquet" in refusal(capsys, good, results, "--format", "xml")
    assert "--output" in refusal(capsys, good, results, "--format", "parquet")
    assert "cannot be written" in refusal(capsys, good, results, "-o", "/nonexistent/answer")
    assert "cannot be written" in refusal(capsys, good, results, "-o", "/dev/null")
    for format in ("csv", "json", "parquet", "table"):
        assert "SQL" in refusal(capsys, late, results, "--format", format, "-o", output)
    assert list(tmp_path.iterdir()) == []
