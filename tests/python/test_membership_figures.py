"""`resprout bench membership`: what it makes of options and samples. Real ones: tests/member."""

import csv
import json

import pytest
from resprout.cli import main
from resprout.errors import UserError
from resprout.experiments.bench.membership import show
from resprout.experiments.bench.membership.draw import render
from resprout.experiments.bench.membership.figures import Row, growth, rows_of
from resprout.experiments.bench.membership.measure import (
    VICTIMS,
    Apart,
    Plan,
    Sample,
    measure,
    work_of,
)
from resprout.experiments.bench.output import as_csv, as_json


def rows() -> list[Row]:
    """Twice the members take twice the time."""
    samples = []
    for procs in (8, 16, 32):
        for radix in (2, 4):
            for victim in VICTIMS:
                for noise in (0.0, 1.25 * procs, 10.0 * procs):
                    times = (100.0 * procs + noise, 50.0, 80.0 * procs, 20.0 * procs)
                    samples.append(Sample(procs, radix, victim, *times))
    return rows_of(samples)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "2"], ["--members", "'2'", "3 to 400"]),
        (["-n", "8,many"], ["--members", "'8,many'"]),
        (["--radix", "3"], ["--radix", "'3'", "powers of two"]),
        (["--radix", ""], ["--radix", "''"]),
        (["--groups", "0"], ["--groups"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--output", "/proc/nothing"], ["--output", "/proc/nothing"]),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "membership", *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert all(name in said.err for name in names), said.err


def test_rows_have_medians_and_quartiles_and_stand_by_victim_members_and_radix() -> None:
    first = rows()[0]
    assert (first.victim, first.procs, first.radix, first.deaths) == ("member", 8, 2, 3)
    assert (first.total.lower, first.total.median, first.total.upper) == (805, 810, 845)
    assert [row.procs for row in rows()[:6]] == [8, 8, 16, 16, 32, 32]


def test_growth_is_a_power_of_the_members() -> None:
    assert growth(rows())[0] == "radix 2: member N^1.00 (8 to 32), root N^1.00 (8 to 32)"
    assert growth([row for row in rows() if row.procs == 8]) == []


def test_every_format_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    parsed = json.loads(as_json(rows(), {"groups": 3}))
    assert len(parsed["rows"]) == 12
    assert len(list(csv.DictReader(as_csv(rows()).splitlines()))) == 12
    assert show.as_markdown(rows()).count("\n| member |") == 6
    show.print_tables(rows())
    assert "one root killed" in capsys.readouterr().out


def test_the_picture_shows_all_radixes_and_victims() -> None:
    picture = render(rows(), "svg").decode()
    assert all(text in picture for text in ("radix 2", "radix 4", *VICTIMS))
    assert render(rows(), "png").startswith(b"\x89PNG")


def test_as_many_deaths_as_are_announced() -> None:
    plan = Plan((4, 5), (2,), groups=1, repetitions=2)
    with Apart(lambda: measure(plan)) as apart:
        samples = list(apart.samples())
    assert len(samples) == plan.deaths == 8
    assert sum(work_of(sample.procs) for sample in samples) == plan.work
    for sample in samples:
        spans = (sample.detection_us, sample.stabilization_us, sample.installation_us)
        assert sample.total_us == pytest.approx(sum(spans), abs=1)


def test_an_error_of_who_measures_is_told() -> None:
    def fail() -> list[Sample]:
        raise UserError("no room")

    with Apart(lambda: iter(fail())) as apart, pytest.raises(UserError, match="no room"):
        list(apart.samples())
