"""`resprout bench revoke`: what it makes of options and samples. Real jobs: tests/mpi."""

import csv
import json

import pytest
from resprout.cli import main
from resprout.experiments.bench.output import as_csv, as_json
from resprout.experiments.bench.revoke import show
from resprout.experiments.bench.revoke.draw import render
from resprout.experiments.bench.revoke.figures import Row, comparisons, rows_of, traces
from resprout.experiments.bench.revoke.measure import WAYS, Found, Sample
from resprout.experiments.bench.revoke.plan import AFTER, BEFORE, Job, make_measurement


def found(job: Job) -> Found:
    """An operation takes 10 us, an interrupted one 20 (ours) or 40, the next two 30."""
    samples = {}
    for number in range(len(job.cases)):
        for way, revoked in zip(WAYS, (20.0, 40.0), strict=True):
            samples[number, way] = [
                Sample((10.0,) * BEFORE, revoked * noise, (30.0, 30.0) + (10.0,) * (AFTER - 2))
                for noise in (1.0, 3.0, 1.25)
            ]
    return Found(job, samples)


def rows() -> list[Row]:
    measurement = make_measurement("2,4", "8,1MiB", 3, 0)
    return [row for job in measurement.jobs for row in rows_of(found(job))]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "1"], ["--ranks", "'1'", "2 to 64"]),
        (["-n", "8,many"], ["--ranks", "'8,many'"]),
        (["--sizes", "12"], ["--sizes", "'12'", "multiples of 8"]),
        (["--sizes", ""], ["--sizes", "''"]),
        (["--repetitions", "0"], ["--repetitions", "0", "1 to 2000"]),
        (["--pause", "-1"], ["--pause", "-1", "0 to 1000000"]),
        (["--collectives", "mine"], ["--collectives", "mine"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--output", "/proc/nothing"], ["--output", "/proc/nothing"]),
        (["--mpi", "/nowhere"], ["--mpi", "/nowhere"]),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "revoke", *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert all(name in said.err for name in names), said.err


def test_initiators_and_sizes_vary_with_the_most_ranks_only() -> None:
    few, many = make_measurement("4,2", "8,1MiB", 3, 0).jobs
    assert (few.ranks, [str(case) for case in few.cases]) == (2, ["barrier:0:0", "allreduce:8:0"])
    cases = ["barrier:0:0", "allreduce:8:0", "barrier:0:1", "barrier:0:2", "barrier:0:3"]
    assert (many.ranks, [str(case) for case in many.cases]) == (4, [*cases, "allreduce:1048576:0"])


def test_rows_have_medians_quartiles_and_ratios_of_the_same_round() -> None:
    ours, theirs = rows()[:2]
    assert (ours.way, ours.samples, ours.before, ours.settled) == ("resprout", 3, 10, 10)
    assert ours.revoked_lower_quartile == 22.5
    assert (ours.revoked, ours.revoked_upper_quartile) == (25, 42.5)
    assert ours.after[:3] == (30, 30, 10) and len(ours.after) == AFTER
    assert ours.to_ulfm == (1, 0.5, 1, 1) and theirs.to_ulfm == (1, 1, 1, 1)


def test_sentences_say_how_ours_compares_and_what_trace_is_left() -> None:
    assert comparisons(rows())[1] == "revoked: 0.50 (0.50 to 0.50)"
    assert traces(rows()) == [f"{way}: 1.00 (1.00 to 1.00)" for way in WAYS]


def test_every_format_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(json.loads(as_json(rows(), {"pause_us": 0}))["rows"]) == 16
    assert len(list(csv.DictReader(as_csv(rows()).splitlines()))) == 16
    assert show.as_markdown(rows()).count("| resprout |") == 8
    show.print_tables(rows())
    assert "4 ranks" in capsys.readouterr().out


def test_the_picture_shows_both_ways_before_during_and_after() -> None:
    picture = render(rows(), "svg").decode()
    for way in WAYS:
        assert all(f"{way}: {what}" in picture for what in ("before", "revoked", "first after"))
    assert render(rows(), "png").startswith(b"\x89PNG")
