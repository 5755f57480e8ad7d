"""`resprout bench recovery`: what it makes of options and samples. Real jobs: tests/mpi."""

import csv
import json
from typing import Any

import pytest
from resprout.cli import main
from resprout.experiments.bench.output import as_csv, as_json
from resprout.experiments.bench.recovery import show
from resprout.experiments.bench.recovery.draw import render
from resprout.experiments.bench.recovery.figures import Row, comparisons, rows_of
from resprout.experiments.bench.recovery.measure import FAULTS, WAYS, Sample, jobs


def rows() -> list[Row]:
    """ULFM's way knows after 40 ms, or 1 with our detector, and then takes 5; ours takes 1."""
    samples = []
    for faults in FAULTS:
        for way in WAYS:
            known = 1000.0 if way.has_our_detector else 40000.0
            rest = 1000.0 if way.is_ours else 5000.0
            for noise in (0.0, 10.0, 500.0):
                times = (known + rest + noise, known, rest) if faults.victims else (50.0, 0.0, 0.0)
                samples.append(Sample(8, faults.name, way.name, *times))
    return rows_of(samples)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "4"], ["--ranks", "'4'", "8 to 64"]),
        (["-n", "8,many"], ["--ranks", "'8,many'"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--output", "/proc/nothing"], ["--output", "/proc/nothing"]),
        (["--mpi", "/nowhere"], ["--mpi", "/nowhere"]),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "recovery", *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert all(name in said.err for name in names), said.err


def test_rows_have_medians_and_quartiles() -> None:
    row = next(row for row in rows() if row.faults == "one" and row.way == "resprout")
    assert (row.jobs, row.total.median, row.total.lower, row.total.upper) == (3, 2010, 2005, 2255)
    assert row.detection.median == row.recovery.median == 1000


def test_the_comparison_gives_both_the_same_detection() -> None:
    (sentence,) = comparisons(rows())
    # With a detection of 1 ms each 6 ms to 2; from there 5 to 1; with its own detector 45 to 2.
    assert sentence.startswith("8 ranks: one 3.0 (5.0, 22), two parallel 3.0 (5.0, 22)")


def test_a_way_without_a_good_end_has_no_figures_and_the_others_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = [row for row in rows() if (row.faults, row.way) != ("two serial", "ulfm, told")]
    (sentence,) = comparisons(left)
    assert "two parallel 3.0 (5.0, 22), two serial - (-, 22), three mixed 3.0 (5.0, 22)" in sentence
    show.print_tables(left)
    assert "two serial - (-, 22)" in " ".join(capsys.readouterr().out.split())
    assert render(left, "svg", "two serial").startswith(b"<?xml")


def test_every_format_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    parsed: dict[str, Any] = json.loads(as_json(rows(), {"mpi": "some MPI"}))
    assert parsed["schema"] == 1 and len(parsed["rows"]) == len(FAULTS) * len(WAYS)
    assert len(list(csv.DictReader(as_csv(rows()).splitlines()))) == len(parsed["rows"])
    assert show.as_markdown(rows()).count("\n| 8 | ") == len(parsed["rows"])
    show.print_tables(rows())
    assert "two serial" in capsys.readouterr().out


def test_the_picture_shows_all_ways() -> None:
    picture = render(rows(), "svg").decode()
    assert all(way.name in picture for way in WAYS)
    assert render(rows(), "png").startswith(b"\x89PNG")


def test_as_many_jobs_as_are_announced() -> None:
    assert jobs([8, 16], 5) == 2 * 5 * 4 * 5
