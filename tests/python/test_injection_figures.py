"""`resprout bench injection`: what it makes of options and reports. Real jobs: tests/mpi."""

import csv
import json
from typing import Any

import pytest
from resprout.cli import main
from resprout.experiments.bench.injection import show
from resprout.experiments.bench.injection.classify import Found, classify
from resprout.experiments.bench.injection.command import cases_of
from resprout.experiments.bench.injection.draw import render
from resprout.experiments.bench.injection.figures import Row, rows_of, verdicts
from resprout.experiments.bench.injection.measure import Outcome
from resprout.experiments.bench.injection.plan import (
    CASES,
    ENDING,
    EXCHANGE,
    KERNELS,
    ROUNDS,
    STEPS,
    Request,
    Run,
    runs,
)
from resprout.experiments.bench.output import as_csv, as_json
from resprout.faults import Flip, parse_faults

Entry = dict[str, Any]
REQUEST = Request(
    ranks=4, cases=CASES, injections=1200, per_job=25, alone=40, kernel_jobs=2, steps_jobs=4, seed=1
)


def flipped(rank: int = 1, replica: int = 2, tag: int = 7, at: int = 100) -> Entry:
    return {
        "rank": rank, "replica": replica, "message": tag + 1, "collective": 0, "checkpoint": 0,
        "destination": 3,
        "tag": tag, "bytes": 256, "bit": 5, "communicator": "MPI_COMM_WORLD", "flipped_ns": at,
    }  # fmt: skip


def corruption(
    sender: int = 1, tag: int = 7, wrong: tuple[int, ...] = (2,), end: str = "outvoted",
    at: int = 200, of: str = "message",
) -> Entry:  # fmt: skip
    return {
        "sender": sender, "receiver": 3, "tag": tag, "communicator": "world", "number": 1,
        "call": "recv", "bytes": 256, "of": of, "wrong_replicas": list(wrong), "tainted": False,
        "replaced": True, "end": end, "then": "go_on", "rank": 3, "replica": 0, "found_ns": at,
    }  # fmt: skip


def found_in(
    flips: list[Entry], corruptions: list[Entry], is_right: bool = True, left: int = 0
) -> Found:
    report = {"flipped": flips, "corruptions": corruptions, "faults_left": ["flip"] * left}
    return classify(report, is_right)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-n", "3"], ["--ranks", "3", "2, 4, 8, 16"]),
        (["-n", "2", "--per-job", "121"], ["--per-job", "121", "1 to 120"]),
        (["--per-job", "0"], ["--per-job", "0"]),
        (["--replicas", "1"], ["--replicas", "'1'", "2,3"]),
        (["--methods", "none"], ["--methods", "'none'", "async-hash"]),
        (["--format", "xml"], ["--format", "'xml'", "table, json, csv"]),
        (["--output", "/proc/nothing"], ["--output", "/proc/nothing"]),
        (["--kernels", "/nowhere"], ["--kernels", "/nowhere", "examples/kernels"]),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str], names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "injection", *options]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert all(name in said.err for name in names), said.err


def test_a_flip_that_is_outvoted_is_detected_and_corrected() -> None:
    found = found_in([flipped()], [corruption()])
    assert found == Found(jobs=1, injected=1, detected=1, corrected=1, right_results=1)


def test_a_flip_that_nobody_can_decide_is_detected_only() -> None:
    found = found_in([flipped()], [corruption(wrong=(), end="undecided")])
    assert (found.detected, found.corrected, found.falsely_accused) == (1, 0, 0)


def test_a_plane_that_ends_with_its_corruption_needs_the_right_data_no_more() -> None:
    own = {**corruption(end="lost"), "then": "exclude"}
    assert found_in([flipped()], [corruption(), own]).corrected == 1
    assert found_in([flipped()], [corruption(end="lost")]).corrected == 0


def test_planes_that_go_back_come_right() -> None:
    back = {**corruption(wrong=(), end="undecided"), "then": "go_back"}
    assert found_in([flipped()], [back]).corrected == 1
    assert found_in([flipped()], [back], is_right=False).corrected == 0


def test_what_follows_from_memory_is_of_it() -> None:
    flip = {**flipped(), "checkpoint": 2, "message": 0, "tag": 0, "destination": -1}
    other = {**corruption(sender=3, of="contribution"), "then": "go_back"}
    assert found_in([flip], [other]).corrected == 1
    early = {**other, "found_ns": 99}
    assert found_in([flip], [early]).missed == 1


def test_a_flip_of_what_goes_into_a_collective_is_of_that_contribution() -> None:
    given = {
        **flipped(),
        "collective": 3,
        "message": 0,
        "tag": 0,
        "destination": -1,
        "call": "recv",
    }
    own = corruption(tag=0, of="contribution")
    assert found_in([given], [own]).corrected == 1
    for other in ({"of": "result"}, {"of": "message"}, {"call": "bcast"}, {"sender": 2}):
        assert found_in([given], [{**own, **other}]).missed == 1


def test_with_a_wrong_result_nothing_is_corrected() -> None:
    found = found_in([flipped()], [corruption()], is_right=False)
    assert (found.detected, found.corrected, found.right_results) == (1, 0, 0)


def test_a_flip_without_a_corruption_is_missed() -> None:
    assert found_in([flipped()], []).missed == 1
    # Not those of other messages, though they are of its rank and plane.
    for other in (corruption(tag=8), corruption(sender=2), corruption(of="contribution")):
        found = found_in([flipped()], [other])
        assert (found.missed, found.detected, found.falsely_accused) == (1, 0, 0)


def test_in_a_part_of_the_world_the_receiver_has_another_rank() -> None:
    part = {**flipped(), "communicator": "", "destination": 0}
    assert found_in([part], [corruption()]).detected == 1
    assert found_in([{**part, "communicator": "MPI_COMM_WORLD"}], [corruption()]).missed == 1


def test_who_calls_another_replica_wrong_accuses_it_falsely_and_has_detected_nothing() -> None:
    for wrong in ((0,), (0, 2)):
        found = found_in([flipped(replica=2)], [corruption(wrong=wrong)])
        assert (found.falsely_accused, found.missed, found.corrected) == (1, 1, 0)


def test_what_is_found_before_anything_was_flipped_is_a_false_accusation() -> None:
    early = corruption(at=99)
    undecided = corruption(at=99, wrong=(), end="undecided")
    assert found_in([flipped(at=100)], [early]).falsely_accused == 1
    assert found_in([flipped(at=100)], [undecided]).falsely_accused == 1


def test_without_a_flip_every_corruption_is_a_false_accusation() -> None:
    assert found_in([], [corruption(), corruption(tag=9)]).falsely_accused == 2
    assert found_in([], []).falsely_accused == 0


def test_later_messages_of_the_same_replica_are_wrong_and_rightly_accused() -> None:
    followed = [corruption(), corruption(sender=3, tag=20, at=300), corruption(of="result", at=400)]
    found = found_in([flipped()], followed)
    assert (found.detected, found.falsely_accused) == (1, 0)


def test_several_flips_of_a_job_are_told_apart_by_their_messages() -> None:
    flips = [flipped(tag=tag) for tag in range(5)]
    found = found_in(flips, [corruption(tag=tag) for tag in (0, 1, 3)])
    assert (found.injected, found.detected, found.corrected, found.missed) == (5, 3, 3, 2)


def test_a_receiver_that_accuses_wrongly_spoils_what_another_one_has_corrected() -> None:
    undecided = corruption(wrong=(), end="undecided")
    found = found_in([flipped()], [corruption(), undecided])
    assert (found.detected, found.corrected) == (1, 0)


def test_flips_that_did_not_come_about_are_not_injected() -> None:
    found = found_in([], [], left=3)
    assert (found.injected, found.left, found.missed) == (0, 3, 0)


def test_each_method_and_degree_gets_as_many_injections_and_a_job_without() -> None:
    plan = runs(REQUEST)
    for degree, method in CASES:
        mine = [run for run in plan if (run.degree, run.method) == (degree, method)]
        exchanges = [run for run in mine if run.program == EXCHANGE]
        is_ending = (degree, method) in ENDING
        assert sum(len(run.faults) for run in exchanges) == (40 if is_ending else 1200 / 6)
        assert max(len(run.faults) for run in exchanges) == (1 if is_ending else 25)
        assert [run.program for run in mine if not run.faults] == [EXCHANGE, *KERNELS, STEPS]
        steps = [run.faults for run in mine if run.program == STEPS and run.faults]
        assert [(len(faults), "memory" in faults[0]) for faults in steps] == [
            (1, True), (1, False), (1, True), (1, False)
        ]  # fmt: skip
        for kernel in KERNELS:
            assert [len(run.faults) for run in mine if run.program == kernel] == [0, 1, 1]


def test_the_flips_of_a_job_are_of_different_messages_of_one_plane() -> None:
    for run in runs(REQUEST):
        flips = [f for f in parse_faults(run.faults, 4, run.degree) if isinstance(f, Flip)]
        assert len({flip.replica for flip in flips}) == bool(flips)
        assert len({(flip.rank, flip.number) for flip in flips}) == len(run.faults)
        assert all(1 <= flip.number <= ROUNDS for flip in flips)


def test_only_what_is_asked_for_is_injected_into() -> None:
    cases = cases_of("3", "async,all-to-all")
    assert cases == [(3, "all-to-all"), (3, "async")]
    plan = runs(Request(4, cases, 30, 10, 4, 0, 0, seed=1))
    # One without a flip each; then three of ten flips, and four of one.
    assert [len(run.faults) for run in plan] == [0, 0, 10, 10, 10, 1, 1, 1, 1]


def test_a_seed_gives_the_same_flips_every_time() -> None:
    assert runs(REQUEST) == runs(REQUEST)
    assert runs(REQUEST) != runs(Request(4, CASES, 1200, 25, 40, 2, 4, seed=2))


def rows(
    injected: int = 150, missed: int = 0, corrected_less: int = 0, false: int = 0
) -> list[Row]:
    outcomes = []
    for degree, method in CASES:
        control = Outcome(Run(EXCHANGE, degree, method, ()), Found(jobs=1, right_results=1))
        corrected = injected - missed - corrected_less if degree == 3 else 0
        found = Found(1, injected, 0, injected - missed, corrected, missed, false, 1)
        outcomes += [control, Outcome(Run(EXCHANGE, degree, method, ("flip",)), found)]
    return rows_of(outcomes)


def not_met(found: list[Row]) -> list[str]:
    return [verdict.aim.partition(",")[0] for verdict in verdicts(found) if not verdict.is_met]


def test_aims_that_are_reached_are_met_and_others_not() -> None:
    detected = [f"{degree} replicas: all that reach a message are detected" for degree in (2, 3)]
    corrected = "3 replicas: all corrected"
    assert not_met(rows()) == []
    assert not_met(rows(injected=100)) == ["at least 1"]
    assert not_met(rows(missed=1)) == [*detected, corrected]
    assert not_met(rows(corrected_less=1)) == [corrected]
    assert not_met(rows(false=1)) == ["none falsely accused"]


def test_every_format_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    count = 2 * len(CASES)
    parsed: dict[str, Any] = json.loads(as_json(rows(), {"seed": 1}))
    assert parsed["schema"] == 1 and len(parsed["rows"]) == count
    assert len(list(csv.DictReader(as_csv(rows()).splitlines()))) == count
    markdown = show.as_markdown(rows())
    assert markdown.count(f"| {EXCHANGE} | ") == count
    show.print_tables(rows())
    assert "msg-plus-hash" in capsys.readouterr().out


def test_the_picture_shows_all_methods() -> None:
    picture = render(rows(), "svg").decode()
    assert all(f"{method}, {degree}" in picture for degree, method in CASES)
    assert render(rows(), "png").startswith(b"\x89PNG")
