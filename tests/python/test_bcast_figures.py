"""`resprout bench bcast`: what it makes of options and samples. Real jobs: tests/mpi."""

import csv
import json
from dataclasses import replace
from typing import Any

import pytest
from resprout.cli import main
from resprout.experiments.bench.bcast import show
from resprout.experiments.bench.bcast.draw import render
from resprout.experiments.bench.bcast.figures import Row, rows_of
from resprout.experiments.bench.bcast.measure import Found
from resprout.experiments.bench.bcast.plan import (
    Measurement,
    Request,
    make_measurement,
    size_text,
    work_of,
)
from resprout.experiments.bench.bcast.variants import VARIANTS
from resprout.experiments.bench.output import as_csv, as_json


def measurement_of(**changes: Any) -> Measurement:
    given = {
        "ranks": "8",
        "sizes": "8",
        "dead": "0",
        "variants": None,
        "specs": [],
        "jobs": 2,
        "repetitions": 3,
        "calls": 1,
        "seed": 1,
    }
    return make_measurement(Request(**(given | changes)))


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "1"], ["--ranks", "'1'", "2 to 1024"]),
        (["-n", "4,x"], ["--ranks", "'x'"]),
        (["--sizes", "8,3k"], ["--sizes", "'3k'", "64KiB"]),
        (["--sizes", ""], ["--sizes", "''"]),
        (["--dead", "-1"], ["--dead", "'-1'"]),
        (["-n", "4,8", "--dead", "0,3"], ["--dead", "3 of 4", "0 to 2"]),
        (["--variants", "binomial,oak"], ["--variants", "'oak'", "lame2+2"]),
        (["--bcast", "corrected-tree:tree=oak"], ["--bcast", "tree='oak'", "kary"]),
        (["--bcast", "ftco-allreduce"], ["--bcast", "corrected-gossip"]),
        (["--jobs", "0"], ["--jobs", "1 to 1000"]),
        (["--repetitions", "0"], ["--repetitions", "1 to 10000"]),
        (["--calls", "0"], ["--calls", "1 to 10000"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--transport", "pigeon"], ["--transport", "'pigeon'", "auto, shm, tcp"]),
        (["--output", "/proc/bench"], ["--output", "/proc/bench"]),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_option(
    capsys: pytest.CaptureFixture[str], options: list[str], names: list[str]
) -> None:
    assert main(["bench", "bcast", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("resprout: ") and said.err.count("\n") == 1
    assert [name for name in names if name not in said.err] == []


def test_each_number_of_ranks_is_measured_whole_and_with_losses() -> None:
    measurement = measurement_of(ranks="8,4", dead="2,0", sizes="4MiB,8,1KiB")
    assert [(job.ranks, job.victims) for job in measurement.jobs] == [
        (4, ()),
        (4, (1, 2)),
        (8, ()),
        (8, (1, 4)),
    ]
    assert measurement.sizes == (8, 1 << 10, 4 << 20)
    assert measurement.rounds == 4 * 2 * 3 * 3
    assert measurement.work == 4 * 2 * 3 * sum(map(work_of, measurement.sizes))


def test_native_is_not_measured_with_losses_and_the_baseline_always_is() -> None:
    whole, lost = measurement_of(dead="0,1", variants="native,checked").jobs
    assert [variant.name for variant in whole.variants] == ["native", "binomial", "checked"]
    assert [variant.name for variant in lost.variants] == ["binomial", "checked"]


def test_specs_of_ones_own_are_measured_besides() -> None:
    spec = "corrected-tree:tree=kary,k=3"
    (job,) = measurement_of(variants="binomial", specs=[spec, spec]).jobs
    assert [variant.name for variant in job.variants] == ["binomial", spec]


def test_gossip_has_more_rounds_among_more_ranks() -> None:
    gossip = next(variant for variant in VARIANTS if variant.name == "gossip")
    assert gossip.spec_for(8) == "corrected-gossip:rounds=4,correction=checked"
    assert "rounds=5" in gossip.spec_for(9)


def test_sizes_are_said_as_people_do() -> None:
    assert [size_text(size) for size in (8, 1000, 4 << 10, 5000, 4 << 20)] == [
        "8 B",
        "1000 B",
        "4 KiB",
        "5000 B",
        "4 MiB",
    ]


@pytest.fixture
def rows() -> list[Row]:
    """Of two jobs of 8 ranks, the second with one killed."""
    whole, lost = measurement_of(dead="0,1", variants="native,binomial,binomial+1").jobs
    samples = {
        (8, "native"): (1.0, 2.0, 3.0, 4.0),
        (8, "binomial"): (2.0, 4.0, 3.0, 8.0),
        (8, "binomial+1"): (2.2, 4.4, 3.3, 100.0),
    }
    slower = {(8, "binomial"): (1000.0,), (8, "binomial+1"): (7.7,)}
    found = list(rows_of(Found(whole, samples), []))
    return found + list(rows_of(Found(lost, slower), found))


def test_ratios_are_medians_over_the_rounds(rows: list[Row]) -> None:
    by_name = {(row.variant, row.dead): row for row in rows}
    corrected = by_name["binomial+1", 0]
    assert corrected.to_binomial == pytest.approx(1.1)
    assert corrected.to_native == pytest.approx(2.2)
    assert corrected.median == pytest.approx(3.85)
    assert (corrected.samples, corrected.minimum, corrected.to_no_loss) == (4, 2.2, None)
    lost = by_name["binomial+1", 1]
    assert lost.to_no_loss == pytest.approx(2.0)
    assert lost.to_native is None
    assert lost.lower_quartile == lost.median == 7.7


def test_the_same_figures_in_every_form(
    rows: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    from_json = json.loads(as_json(rows, {"seed": 1}))
    assert (from_json["schema"], from_json["seed"]) == (1, 1)
    assert from_json["rows"] == [row.as_dict() for row in rows]
    from_csv = list(csv.DictReader(as_csv(rows).splitlines()))
    assert [float(row["median"]) for row in from_csv] == [row.median for row in rows]
    show.print_tables(rows)
    table = capsys.readouterr().out
    assert "8 ranks, 1 of them killed" in table
    assert "2.20" in table
    assert "| binomial+1 | 3.85 | 3.02 to 28.3 | 1.10 |" in show.as_markdown(rows)
    assert show.best_to_native(rows) == ["8 ranks, 8 B: binomial takes 2.00 of native's time"]


def test_the_picture_names_what_it_shows_and_is_the_same_every_time(rows: list[Row]) -> None:
    whole = [row for row in rows if row.dead == 0]
    picture = render(whole, "svg").decode()
    for text in ("8 B", "native", "binomial", "binomial+1", "ranks"):
        assert f">{text}<" in picture
    assert render(whole, "svg").decode() == picture
    assert render(whole, "png").startswith(b"\x89PNG")


def test_what_would_flatten_a_picture_is_said_in_words(rows: list[Row]) -> None:
    few = [row for row in rows if row.dead == 1]
    slow = replace(few[0], variant="snail", median=1e6)
    assert "8 B   (snail takes 1000000 µs)" in render([*few, few[1], slow], "svg").decode()
