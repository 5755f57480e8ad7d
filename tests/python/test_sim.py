"""`resprout sim` as its users see it."""

import csv
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from resprout.cli import main
from resprout.sim.runs import with_progress

KEYS = [
    "protocol",
    "procs",
    "latency",
    "overhead",
    "seed",
    "faults",
    "coloring_latency",
    "quiescence_latency",
    "correction_start",
    "messages",
    "messages_per_process",
    "g_max",
    "uncolored",
    "trace_digest",
]


def simulate(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["sim", *arguments]) == 0
    return capsys.readouterr().out


def runs_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    said = simulate(capsys, *arguments, "--format", "json")
    return [json.loads(line) for line in said.splitlines()]


@pytest.mark.parametrize(
    ("tree", "quiescence"),
    [("tree=binomial", 33), ("tree=kary,k=4", 29), ("tree=lame,k=2", 28), ("tree=optimal", 25)],
)
def test_a_broadcast_to_100_processes_takes_what_the_paper_s_model_says(
    capsys: pytest.CaptureFixture[str], tree: str, quiescence: int
) -> None:
    (run,) = runs_of(capsys, f"corrected-tree:{tree},correction=checked", "--procs", "100")
    assert list(run) == KEYS
    assert run["quiescence_latency"] == quiescence
    assert run["coloring_latency"] == quiescence - 8
    assert run["uncolored"] == 0


def test_runs_differ_by_their_seeds_and_repeat_to_the_bit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("corrected-tree", "-P", "200", "--faults", "5%", "--runs", "5", "--seed", "10")
    first = runs_of(capsys, *arguments)
    assert [run["seed"] for run in first] == [10, 11, 12, 13, 14]
    assert len({run["trace_digest"] for run in first}) == 5
    assert runs_of(capsys, *arguments) == first


def test_a_reduction_says_whose_contributions_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = runs_of(capsys, "ftco-allreduce", "-P", "16", "--faults", "3,7,9")
    assert run["contributors"] == 13
    assert run["faults"] == "3,7,9"


def test_a_root_may_die_as_the_operation_begins_and_an_allreduce_has_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (run,) = runs_of(capsys, "corrected-tree", "-P", "8", "--faults", "3,", "--fail-at", "0@0")
    assert run["uncolored"] == 6
    (run,) = runs_of(capsys, "ftco-allreduce", "-P", "8", "--faults", "0,3")
    assert run["contributors"] == 6


def test_csv_has_the_same_names_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("corrected-tree", "-P", "32", "--runs", "3", "--faults", "2")
    rows = list(csv.DictReader(io.StringIO(simulate(capsys, *arguments, "--format", "csv"))))
    runs = runs_of(capsys, *arguments)
    assert rows == [{key: str(value) for key, value in run.items()} for run in runs]


def test_the_table_has_a_row_for_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    said = simulate(capsys, "corrected-tree", "-P", "16", "--runs", "3")
    assert said.count("\n") >= 3
    (run, *_) = runs_of(capsys, "corrected-tree", "-P", "16")
    assert str(run["trace_digest"]) in said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["corrected-tree:tree=palm", "-P", "4"], "palm"),
        (["corrected-tree", "-P", "0"], "0"),
        (["corrected-tree", "-P", "four"], "'--procs'"),
        (["shared-slots", "-P", "4"], "`resprout_explore` and `resprout_swarm` run them"),
        (["corrected-tree", "-P", "4", "--faults", "many"], "many"),
        (["corrected-tree", "-P", "4", "--faults", "4"], "a count below 4"),
        (
            ["corrected-tree", "-P", "4", "--faults", "0,3"],
            "a root that dies is given as fail-at 0@0",
        ),
        (["corrected-tree", "-P", "4", "--root", "3", "--faults", "1,3"], "fail-at 3@0"),
        (["corrected-reduce", "-P", "4", "--faults", "0,"], "fail-at 0@0"),
        (["corrected-tree", "-P", "4", "--fail-at", "9@1"], "9"),
        (["corrected-tree", "-P", "4", "--trace", "/nonexistent/x.json"], "/nonexistent/x.json"),
    ],
)
def test_wrong_arguments_are_one_line_and_nothing_on_stdout(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    assert main(["sim", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert named in said.err


def test_the_trace_has_a_slice_for_each_end_of_a_message_and_a_flow_between(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    arguments = ("corrected-tree", "-P", "16", "-o", "2", "-L", "3", "--faults", "5,6")
    (run,) = runs_of(capsys, *arguments, "--trace", str(path))
    events = json.loads(path.read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    sends = [event for event in slices if event["name"].startswith("send")]
    receives = [event for event in slices if event["name"].startswith("receive")]
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert len(sends) == run["messages"]
    assert len(receives) == len(starts) == len(ends)
    assert 0 < len(receives) < len(sends)
    # o to send, L on the way; then the receiver may be busy.
    assert all(ends[i]["ts"] - starts[i]["ts"] >= 2 + 3 for i in starts)
    assert {event["dur"] for event in slices} == {2}
    assert max(event["ts"] + event["dur"] for event in receives) <= run["quiescence_latency"]
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert {event["tid"] for event in slices} <= named


def test_slices_of_one_port_do_not_overlap(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    runs_of(capsys, "corrected-tree", "-P", "64", "-o", "3", "--trace", str(path))
    events = json.loads(path.read_text())["traceEvents"]
    ports: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for event in events:
        if event["ph"] == "X":
            port = (event["tid"], event["name"].split()[0])
            ports.setdefault(port, []).append((event["ts"], event["dur"]))
    for busy in ports.values():
        busy.sort()
        for (begin, length), (following, _) in itertools.pairwise(busy):
            assert begin + length <= following


def test_the_list_of_protocols_names_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocols"]) == 0
    said = capsys.readouterr().out
    for word in ("corrected-tree", "ftco-allreduce", "correction=", "checked"):
        assert word in said


def test_progress_hands_all_runs_through() -> None:
    assert list(with_progress(iter([1, 2, 3]), 3)) == [1, 2, 3]  # type: ignore[list-item]


def test_in_band_detection_runs_in_the_model_of_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = "ftco-allreduce:k=8,roots=multi,detection=in-band"
    arguments = ("--procs", "64", "--latency", "10", "--late", "uniform:64", "--runs", "20")
    for run in runs_of(capsys, spec, *arguments, "--faults", "2+2@50"):
        assert run["uncolored"] == 0
        assert 60 <= run["contributors"] <= 62
        assert run["false_suspicions"] == 0
        assert run["keepalives"] > 0
        assert run["longest_queue"] >= 1


def test_only_where_detection_is_in_band_processes_enter_late(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sim", "ftco-allreduce", "--procs", "8", "--late", "uniform:9"]) != 0
    assert "late: only processes of a protocol with detection=in-band" in capsys.readouterr().err


def test_the_polling_of_the_published_simulator_asks_more_and_bears_no_faults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = "ftco-allreduce:k=8,roots=multi,detection=in-band"
    arguments = ("--procs", "512", "--latency", "10", "--late", "uniform:500", "--runs", "3")
    written = runs_of(capsys, spec, *arguments)
    simulated = runs_of(capsys, f"{spec},polling=simulated", *arguments)
    for ours, theirs in zip(written, simulated, strict=True):
        assert theirs["contributors"] == 512
        assert theirs["longest_queue"] > ours["longest_queue"]
        assert abs(theirs["completion_latency"] - ours["completion_latency"]) < 20
    for words in (("--faults", "1"), ("--fail-at", "3@5")):
        assert main(["sim", f"{spec},polling=simulated", "--procs", "64", *words]) != 0
        assert "with polling=simulated nobody dies" in capsys.readouterr().err
    assert main(["sim", "ftco-allreduce:polling=simulated", "--procs", "8"]) != 0
    assert "polling: simulated needs detection=in-band" in capsys.readouterr().err
