"""Figures of jobs as OpenMetrics: the grammar, and what is in the file when."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from resprout.errors import UserError
from resprout.launch.metrics import Metrics, Sighting
from resprout.openmetrics import Exposition, Family
from resprout.report.job import Report

ROOT = Path(__file__).resolve().parents[2]
PI = ROOT / "build" / "release" / "examples" / "pi" / "pi"
SECONDS_MAX = 120

Figures = dict[str, float]


def read(text: str) -> Figures:
    """By name and the labels that differ within a file. Raises ValueError: not by the grammar."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            kept = {k: v for k, v in sample.labels.items() if k in ("state", "replica", "call")}
            label = ",".join(f"{k}={v}" for k, v in sorted(kept.items()))
            found[sample.name.removeprefix("resprout_") + (f"[{label}]" if label else "")] = (
                sample.value
            )
    return found


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def metrics(folder: Path, clock: Clock, *, on_loss: str = "continue", replicas: int = 1) -> Metrics:
    path = folder / "job.prom"
    return Metrics(path, 4, mpi="Open MPI 5", on_loss=on_loss, replicas=replicas, clock=clock)


def figures(tmp_path: Path) -> Figures:
    return read((tmp_path / "job.prom").read_text())


def run_directory(path: Path, started: int = 4) -> Path:
    path.mkdir()
    for rank in range(started):
        (path / f"started-{rank}").write_text(f"{100 + rank}\n")
    return path


def test_texts_are_escaped_and_units_and_types_are_those_of_the_grammar() -> None:
    exposition = Exposition({"run": 'a"b\\c\nd'})
    exposition.set(Family("wait_seconds", "gauge", 'one "two"\nthree\\', "seconds"), 0.5, a="é")
    exposition.set(Family("things", "counter", "Things."), 3)
    text = exposition.text()
    first, second = text_string_to_metric_families(text)
    assert (first.name, first.unit, first.type) == ("resprout_wait_seconds", "seconds", "gauge")
    assert first.documentation == 'one "two"\nthree\\'
    assert first.samples[0].labels == {"run": 'a"b\\c\nd', "a": "é"}
    assert second.samples[0].name == "resprout_things_total"
    assert text.endswith("# EOF\n")
    assert not re.search(r"^$", text.removesuffix("\n"), re.MULTILINE)


def test_a_counter_never_falls() -> None:
    exposition = Exposition()
    things = Family("things", "counter", "Things.")
    for value in (3, 1):
        exposition.set(things, value)
    assert read(exposition.text()) == {"things_total": 3}


def test_the_file_is_there_before_the_job_and_is_refused_where_it_cannot_be(
    tmp_path: Path, clock: Clock
) -> None:
    metrics(tmp_path, clock)
    assert figures(tmp_path)["job_running"] == 1
    assert figures(tmp_path)["processes[replica=0,state=waiting]"] == 4
    with pytest.raises(UserError, match="--metrics"):
        metrics(tmp_path / "not there", clock)


def test_while_the_job_runs_the_file_follows_what_ranks_and_mpirun_leave(
    tmp_path: Path, clock: Clock
) -> None:
    told = metrics(tmp_path, clock)
    directory = run_directory(tmp_path / "run")
    (directory / "ended").write_text("102 signal 9\n103 exit 0\n")
    (directory / "notes-1").write_text('{"injected":{"fault":"kill:rank=1,at=1s","fired_ns":5}}\n')
    told.look([Sighting(directory, 0, is_over=False)])
    assert figures(tmp_path)["processes[replica=0,state=running]"] == 0, "it was written just now"
    clock.now = 10.0
    told.look([Sighting(directory, 0, is_over=False)])
    found = figures(tmp_path)
    states = {s: found[f"processes[replica=0,state={s}]"] for s in ("running", "ended", "lost")}
    assert states == {"running": 1, "ended": 1, "lost": 2}
    assert found["losses_total"] == 2
    assert found["faults_injected_total"] == 1
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize(("on_loss", "replicas"), [("restart", 1), ("continue", 2)])
def test_ranks_that_are_ended_with_a_lost_one_are_not_lost(
    tmp_path: Path, clock: Clock, on_loss: str, replicas: int
) -> None:
    told = metrics(tmp_path, clock, on_loss=on_loss, replicas=replicas)
    first = run_directory(tmp_path / "0")
    (first / "ended").write_text("".join(f"{100 + rank} signal 9\n" for rank in range(4)))
    again = run_directory(tmp_path / "1", started=3)
    clock.now = 10.0
    told.look([Sighting(first, 0, is_over=True), Sighting(again, 0, is_over=False)])
    found = figures(tmp_path)
    assert found["losses_total"] == 0
    assert found["restarts_total"] == 1
    assert found["processes[replica=0,state=running]"] == 3
    assert found["processes[replica=0,state=waiting]"] == 1


def test_at_the_end_the_report_says_more(tmp_path: Path, clock: Clock) -> None:
    told = metrics(tmp_path, clock)
    told.end(Report((), "Open MPI 5", "continue", 4, 0, 10, 7, 0, recovery_ns=1500))
    found = figures(tmp_path)
    assert found["job_running"] == 0
    assert found["job_exit_status"] == 7
    assert found["recovery_seconds_total"] == 1.5e-6
    assert found["processes[replica=0,state=ended]"] == 4


def test_a_job_with_a_loss_leaves_a_file_that_is_whole_at_any_time(tmp_path: Path) -> None:
    path, report = tmp_path / "job.prom", tmp_path / "report.json"
    words = ["run", "-n", 3, "--metrics", path, "--report", report, "--inject"]
    job = subprocess.Popen(
        [sys.executable, "-m", "resprout", *map(str, words), "kill:rank=1,at=allreduce#5", "--",
         PI, "40", "2000"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    seen = 0
    deadline = time.monotonic() + SECONDS_MAX
    try:
        while job.poll() is None and time.monotonic() < deadline:
            if path.exists():
                read(path.read_text())
                seen += 1
            time.sleep(0.02)
    finally:
        job.kill()
        job.wait()
    assert job.returncode == 0
    assert seen
    found = read(path.read_text())
    told = json.loads(report.read_text())
    assert found["losses_total"] == len(told["losses"]) == 1
    assert found["calls_total[call=allreduce]"] == told["operations"]["allreduce"]["calls"]
    assert found["views_total"] == len(told["views"])
    assert found["processes[replica=0,state=lost]"] == 1
