"""`resprout bench replication`: what it makes of options and samples. Real jobs: tests/mpi."""

import csv
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from resprout.cli import main
from resprout.errors import UserError
from resprout.experiments.bench.output import as_csv, as_json
from resprout.experiments.bench.replicated import EAGER, LAZY, METHODS, NONE, Job
from resprout.experiments.bench.replication import show
from resprout.experiments.bench.replication.command import Request, make_measurement
from resprout.experiments.bench.replication.draw import render, render_histories
from resprout.experiments.bench.replication.figures import (
    Row,
    geometric_mean,
    histories_as_csv,
    mean_ratio,
    rows_of,
)
from resprout.experiments.bench.replication.kernels import read_digest
from resprout.experiments.bench.replication.measure import COPIES, Sample, times_of
from resprout.experiments.bench.replication.paper import PUBLISHED, ratio_in_figures, seconds_of
from resprout.experiments.bench.replication.verdicts import Verdict, beside_the_paper, verdicts

KERNELS = ("ft", "mg")
# Times of r copies; of each method, by how much it takes longer than the quicker copies.
COPY_S, UNTIED_S = 2.0, 1.5
SLOWER = {"all-to-all": 2.0, "msg-plus-hash": 1.3, "async": 1.3, "async-hash": 1.05}
# A third round is disturbed, all of it alike.
ROUNDS = (1.0, 1.02, 5.0)


def samples(slower: dict[str, float] | None = None, bytes_max: int = 2000) -> list[Sample]:
    times = {COPIES: COPY_S, NONE: UNTIED_S}
    times |= {method: UNTIED_S * factor for method, factor in (slower or SLOWER).items()}
    found = []
    for round, noise in enumerate(ROUNDS):
        for kernel in KERNELS:
            found.append(Sample(round, kernel, 1, COPIES, noise, noise, 2 * noise))
            for degree in (2, 3):
                for method, time in times.items():
                    seconds = noise * degree * time
                    counts = (500, 0, 10, bytes_max) if method in slower_methods() else ()
                    parts = (seconds, 0.9 * seconds, seconds + 1)
                    found.append(Sample(round, kernel, degree, method, *parts, *counts))
    return found


def slower_methods() -> tuple[str, ...]:
    return (*EAGER, *LAZY)


def row_of(rows: list[Row], degree: int, method: str) -> Row:
    return next(r for r in rows if (r.kernel, r.degree, r.method) == ("mg", degree, method))


def verdict_of(found: list[Verdict], *words: str) -> Verdict:
    (verdict,) = (v for v in found if all(word in v.aim for word in words))
    return verdict


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "3"], ["--ranks", "3", "1, 2, 4, 8 or 16"]),
        (["--only", "ft,dt"], ["--only", "'dt'", "bt,cg,ep,ft,is,lu,mg,sp"]),
        (["-n", "2", "--only", "bt"], ["--only", "'bt'", "cg,ep,ft,is,lu,mg"]),
        (["--replicas", "4"], ["--replicas", "'4'", "2,3"]),
        (["--methods", "lazy"], ["--methods", "'lazy'", "async-hash"]),
        (["--size", "huge"], ["--size", "'huge'", "smallest, short, long"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--output", "/proc/nothing"], ["--output", "/proc/nothing"]),
        (["--mpi", "/nowhere"], ["--mpi", "/nowhere"]),
        (["--kernels", "/nowhere"], ["--kernels", "/nowhere", "examples/kernels"]),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "replication", *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert all(name in said.err for name in names), said.err


def test_each_round_has_the_plain_program_and_copies_beside_all_methods() -> None:
    measurement = make_measurement(Request(4, "ft,mg", "2,3", "async,none", "short", 5))
    replicated = [(d, m) for d in (2, 3) for m in (COPIES, "async", "none")]
    assert measurement.cases == [(1, COPIES), *replicated]
    assert list(measurement.sizes) == ["ft", "mg"]
    assert measurement.jobs == 5 * 2 * 7


def test_a_job_is_what_a_user_would_type(tmp_path: Any) -> None:
    job = Job(4, 3, "async", ["kernel", "A"], ["flip:rank=1,message=2"], "report")
    words = " ".join(job.command(tmp_path, "/opt/mpi"))
    assert "resprout run -n 4 --replicas 3" in words and "--verify async" in words
    assert "--on-corruption report" in words and "--mpi /opt/mpi" in words
    assert words.endswith("--inject=flip:rank=1,message=2 -- kernel A")
    assert "--verify" not in Job(4, 2, NONE, ["kernel"]).command(tmp_path, None)


def test_time_counts_from_when_the_last_has_come_to_when_the_last_is_through() -> None:
    second = 1_000_000_000
    came, entered, through = (10, 12, 11), (15, 14, 13), (16, 16, 18)
    numbers = [3] + [second * n for of in zip(came, entered, through, strict=True) for n in of]
    assert times_of(numbers) == (18 - 12, 15 - 12)


def test_a_process_that_left_no_times_is_not_taken_for_a_quick_one() -> None:
    with pytest.raises(UserError, match="no times"):
        times_of([2, 10, 11, 12, 10, 0, 0])


@pytest.mark.parametrize(
    "tag", ["", "[1,0]<stdout>: ", "[17,3]<stdout>:", "[prterun-vm-7@1,0]<stdout>: "]
)
def test_a_kernel_is_heard_whether_its_lines_are_tagged_or_not(tag: str) -> None:
    line = "cg class=A ranks=4 iterations=4 result=184 digest=bcf29c37bbd24051 seconds=0.682 "
    assert read_digest(f"warning\n{tag}{line}verified\n") == "bcf29c37bbd24051"
    assert read_digest(f"{tag}{line}VERIFICATION FAILED\n") is None


def test_ratios_are_of_the_same_round_and_the_limit_is_the_quicker_kind_of_copies() -> None:
    rows = rows_of(samples())
    for degree in (2, 3):
        row = row_of(rows, degree, "async-hash")
        # The disturbed round changes no ratio, and not the median of the times.
        assert row.time.median == pytest.approx(1.02 * degree * UNTIED_S * 1.05)
        assert row.to_limit == pytest.approx(1.05)
        assert row.to_copies == pytest.approx(1.05 * UNTIED_S / COPY_S)
        assert row.to_plain == pytest.approx(1.05 * UNTIED_S * degree)
        assert row_of(rows, degree, NONE).to_limit == pytest.approx(1)
        assert row.bytes_per_request == 200 and row.compared == 500


def test_the_mean_over_kernels_is_the_geometric_one() -> None:
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2)
    found = [s for s in samples() if s.kernel == "ft" or s.method != "async"]
    found += [
        Sample(s.round, s.kernel, s.degree, s.method, 4 * s.time_s, 1, 1)
        for s in samples()
        if s.kernel == "mg" and s.method == "async"
    ]
    mean = mean_ratio(rows_of(found), 2, "async", lambda row: row.to_limit)
    assert mean == pytest.approx(1.3 * math.sqrt(4))


def test_aims_that_are_reached_are_met() -> None:
    found = verdicts(rows_of(samples()))
    assert len(found) == 2 * 6 + 1
    assert all(verdict.is_met for verdict in found), found
    at_most = "async-hash takes at most 1.10 times"
    assert verdict_of(found, "2 replicas", f"{at_most} the limit").seen == pytest.approx(1.05)
    assert verdict_of(found, "2 replicas", f"{at_most} plain copies").seen == pytest.approx(
        mean_ratio(rows_of(samples()), 2, "async-hash", lambda row: row.to_copies)
    )
    assert verdict_of(found, "3 replicas", "all-to-all").seen == pytest.approx(2 / 1.3)


@pytest.mark.parametrize(
    ("method", "factor", "words"),
    [
        ("async-hash", 1.11, ["async-hash takes at most 1.10 times the limit"]),
        ("async", 1.36, ["async takes at most 1.35 times the limit"]),
        ("msg-plus-hash", 1.06, ["msg-plus-hash takes clearly longer"]),
        ("all-to-all", 1.31, ["all-to-all takes clearly longer"]),
    ],
)
def test_an_aim_that_is_not_reached_is_not_met(
    method: str, factor: float, words: list[str]
) -> None:
    found = verdicts(rows_of(samples({**SLOWER, method: factor})))
    missed = [verdict for verdict in found if not verdict.is_met]
    assert {verdict.aim for verdict in missed} == {
        verdict_of(found, degree, *words).aim for degree in ("2 replicas", "3 replicas")
    }
    assert all(str(verdict).endswith("not met") for verdict in missed)


def test_too_many_bytes_for_a_request_are_not_met() -> None:
    found = verdicts(rows_of(samples(bytes_max=2570)))
    assert not verdict_of(found, "256 B").is_met
    assert verdict_of(verdicts(rows_of(samples(bytes_max=2560))), "256 B").is_met


def test_what_was_not_measured_has_no_verdict() -> None:
    only = [s for s in samples() if s.method in (COPIES, NONE, "async")]
    aims = [verdict.aim for verdict in verdicts(rows_of(only))]
    assert aims == [
        f"{degree} replicas: async takes at most 1.35 times {what}"
        for degree in (2, 3)
        for what in ("plain copies", "the limit")
    ]


# The columns that the paper computes from the others: the tables hang together.
IMPROVEMENTS = {
    (1, "cg", 64): (65.2, 68.1, 29.5, 42.3),
    (1, "is", 128): (29.9, 33.4, 50.9, 43.2),
    (1, "lu", 32): (50.3, 68.3, -28.1, -6.3),
    (1, "bt", 36): (61.5, 70.6, 10.3, 13.8),
    (1, "sp", 121): (51.9, 67.6, 5.4, 12.1),
    (1, "ep", 64): (-0.2, 0.9, 0.3, -0.6),
    (2, "lu", 32): (-9.1, 14.8, -99.7, -96.3),
    (2, "ep", 32): (1.0, -91.0, 0.2, -0.2),
    (2, "ft", 16): (2.4, 6.9, 0.1, -0.7),
    (2, "sp", 36): (74.0, 79.3, 15.4, 19.8),
    (2, "is", 16): (2.7, 5.0, -1.0, 0.7),
    (2, "cg", 32): (62.3, 71.3, 27.9, 39.9),
}


@pytest.mark.parametrize("line", IMPROVEMENTS)
def test_the_published_improvements_follow_from_the_published_times(
    line: tuple[int, str, int],
) -> None:
    found = [
        100 * (1 - seconds_of(*line, degree, lazy) / seconds_of(*line, degree, eager))
        for eager, lazy in zip(EAGER, LAZY, strict=True)
        for degree in (2, 3)
    ]
    assert found == pytest.approx(IMPROVEMENTS[line], abs=0.051)


def test_the_tables_are_whole() -> None:
    assert len(PUBLISHED) == (18 + 14) * 9
    assert not any(row.benchmark == "mg" for row in PUBLISHED)
    assert ratio_in_figures(1, "cg", 2, "all-to-all") == pytest.approx(614.23 / 172.92)
    assert ratio_in_figures(1, "ft", 2, "async") is None


def test_only_kernels_that_the_paper_has_stand_beside_it() -> None:
    first = beside_the_paper(rows_of(samples()))[0]
    assert first.startswith("2 replicas, all-to-all divided by async: 1.54; in the paper 1.02")


def test_every_format_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(samples())
    count = len(KERNELS) * (1 + 2 * (1 + len(METHODS)))
    parsed: dict[str, Any] = json.loads(as_json(rows, {"mpi": "some MPI"}))
    assert parsed["schema"] == 1 and len(parsed["rows"]) == count
    assert len(list(csv.DictReader(as_csv(rows).splitlines()))) == count
    markdown = show.as_markdown(rows)
    assert markdown.count("\n| ft | ") + markdown.count("\n| mg | ") == count
    assert "| 1.87 |" in markdown  # the paper's, for ft
    show.print_tables(rows)
    out = capsys.readouterr().out
    assert "3 replicas" in out and "async-hash" in out and "not met" not in out


def test_the_picture_shows_all_methods_and_the_paper() -> None:
    picture = render(rows_of(samples()), 2, "svg").decode()
    assert all(method in picture for method in (*EAGER, *LAZY, "the paper"))
    assert render(rows_of(samples()), 3, "png").startswith(b"\x89PNG")


def test_requests_over_time_are_drawn_and_written_by_method() -> None:
    history = {"interval_ns": 20_000_000, "open": [1.5, 0.25], "bytes": [300, 0]}
    some = [replace(s, history=history) if s.method in LAZY else s for s in samples()]
    rows = rows_of(some)
    lines = histories_as_csv(rows).splitlines()
    assert lines[0] == "kernel,degree,method,from_s,open,bytes"
    assert len(lines) == 1 + 2 * len(KERNELS) * 2 * len(LAZY)
    assert "mg,3,async-hash,0.020,0.25,0" in lines
    picture = render_histories([row for row in rows if row.degree == 2], 2, "svg").decode()
    assert all(word in picture for word in (*KERNELS, *LAZY, "incomplete requests"))
    assert not any(word in picture for word in EAGER)
