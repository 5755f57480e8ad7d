"""`resprout bench returns`: what it makes of options and times. Real jobs: tests/mpi."""

import csv
import json
from pathlib import Path

import pytest
from resprout.cli import main
from resprout.errors import UserError
from resprout.experiments.bench.output import as_csv, as_json
from resprout.experiments.bench.returns import show
from resprout.experiments.bench.returns.draw import render
from resprout.experiments.bench.returns.figures import Row, comparisons, rows_of, share_of
from resprout.experiments.bench.returns.measure import (
    REPLICAS,
    WAYS,
    Cost,
    Death,
    Measurement,
    Process,
    Sample,
    Work,
    death_of,
)

MS = 1_000_000


def samples() -> list[Sample]:
    """A checkpoint of 150 ms takes 1.5 times a copy and half the wire; each way its number of s."""
    found: list[Sample] = [Cost(100 * MS, 300 * MS, 150 * MS), Cost(90 * MS, 290 * MS, 140 * MS)]
    found.append(Cost(110 * MS, 310 * MS, 160 * MS))
    found += [Work(False, 1.0 * MS, 0.0), Work(True, 1.02 * MS, 0.015)]
    for seconds, way in enumerate(WAYS, start=1):
        parts = (None, None) if way == REPLICAS else (700 * MS, 900 * MS)
        found.append(Death(way, 2 * MS, *parts, 1000 * seconds * MS))
    return found


def rows() -> list[Row]:
    return rows_of(samples())


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "1"], ["--ranks", "1", "2 to 64"]),
        (["--mib", "0"], ["--mib", "0"]),
        (["--every", "0"], ["--every", "0.01"]),
        (["--every", "10", "--work", "5"], ["--work", "5 s", "10 s"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--output", "/proc/nothing"], ["--output", "/proc/nothing"]),
        (["--mpi", "/nowhere"], ["--mpi", "/nowhere"]),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "returns", *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert all(name in said.err for name in names), said.err


def test_sentences_compare_medians() -> None:
    cost, by_cost, of_job, back = comparisons(rows(), share_of(samples()), 10)
    assert cost.startswith("A checkpoint takes 1.50 times a plain copy, 0.50 times the wire")
    # 0.15 of 10.15 s.
    assert by_cost.startswith("One every 10 s costs 1.5 % of the time, by its cost")
    assert "1.5 % of the time went into them; a step took 1.020 times as long" in of_job
    assert "1000 ms, restart from memory; 2.00 times that: standby, from memory" in back


def test_where_no_job_has_worked_nothing_is_said_of_it() -> None:
    left = [sample for sample in samples() if not isinstance(sample, Work)]
    assert share_of(left) is None
    assert len(comparisons(rows_of(left), None, 10)) == 3


def test_every_format_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    parsed = json.loads(as_json(rows(), {"mpi": "some MPI"}))
    assert len(parsed["rows"]) == 3 + 2 + 4 * len(WAYS) - 2
    assert len(list(csv.DictReader(as_csv(rows()).splitlines()))) == len(parsed["rows"])
    assert show.as_markdown(rows(), []).count("\n| death | ") == 4 * len(WAYS) - 2
    show.print_tables(rows(), ["A sentence"])
    assert "A sentence." in capsys.readouterr().out


def test_the_picture_shows_all_ways() -> None:
    picture = render(rows(), "svg").decode()
    assert all(way in picture for way in (*WAYS, "plain copy", "wire"))
    assert render(rows(), "png").startswith(b"\x89PNG")


def test_as_many_jobs_as_are_announced() -> None:
    assert Measurement(4, 64, 10, 3, 10, 21).jobs == 3 * (1 + 2 + 5)
    assert Measurement(4, 64, 10, 3, 10, 0).jobs == 3 * (1 + 5)


def test_a_rank_is_still_until_any_process_of_it_ends_a_step() -> None:
    of_killed = Process(1, 0, 0, 0, [80, 90, 100])
    sibling = Process(2, 0, 0, 0, [85, 95, 130, 140])
    other = Process(3, 1, 0, 0, [80, 100, 120, 170])
    death = death_of(REPLICAS, [of_killed, sibling, other], 2, 105)
    # Rank 0 was still from 105 to 130, rank 1 from 120 to 170.
    assert (death.before, death.computes) == (20, 50)
    assert death.in_mpi is None and death.has_data is None


def test_the_stages_of_another_life_are_those_of_its_last_rank() -> None:
    first = [Process(rank, rank, 0, 0, [90, 100]) for rank in range(2)]
    second = [Process(10, 0, 300, 400, [600, 610]), Process(11, 1, 350, 390, [590, 600])]
    death = death_of(WAYS[0], [*first, *second], 2, 100)
    assert (death.in_mpi, death.has_data, death.computes) == (250, 300, 500)


def test_a_rank_that_did_not_go_on_is_no_figure() -> None:
    with pytest.raises(UserError, match="rank 1 did not go on"):
        death_of(WAYS[0], [Process(1, 0, 0, 0, [5, 20]), Process(2, 1, 0, 0, [5])], 2, 10)


def test_a_process_that_has_written_nothing_yet_has_done_no_step(tmp_path: Path) -> None:
    path = tmp_path / "process-12"
    path.touch()
    assert Process.read(path) == Process(12, 0, 0, 0, [])
