"""The report: what the ranks left, put together; and the exit status that follows from it."""

import io
import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from resprout.report.as_json import to_json
from resprout.report.job import Report
from resprout.report.launch_end import End
from resprout.report.merge import STATUS_STRICT, merge
from resprout.report.notes import Note, NoteReader
from resprout.report.ranks import read_parts
from resprout.report.show import duration, show
from resprout.report.signals import STATUS_KILLED

SECOND = 1_000_000_000
MS = 1_000_000
# Faults that have not happened, and why that may be.
LEFT = {
    "flip:rank=1,message=100,bit=0": "it has sent fewer messages, or that one was empty",
    "flip:rank=1,collective=9,bit=0": "it has given anything to fewer collectives",
    "kill:rank=1,at=2s": "it had called MPI_Finalize before",
    "kill:rank=1,at=scann#4": "it has called MPI_Scann less often, or Resprout does not count that",
}


class RunDirectory:
    """What a job of some ranks leaves behind."""

    def __init__(self, path: Path, ranks: int) -> None:
        self.path = path
        self.ranks = ranks
        for rank in range(ranks):
            (path / f"started-{rank}").write_text(f"{100 + rank}\n")

    def rank(self, rank: int, status: int | None = 0, finalized: bool = True, **more: Any) -> None:
        value = {
            "schema": 1,
            "rank": rank,
            "world_size": self.ranks,
            "pid": 100 + rank,
            "host": "ash",
            "started_ns": 10 * SECOND + rank,
            "ended_ns": 15 * SECOND,
            "finalized": finalized,
            "exit_status": status,
            "operations": {"allreduce": {"calls": 10, "native": 4, "touched": 1, "errors": 0}},
            "losses": [],
            "recoveries": [],
            "transport": {"rejected_connections": 1},
            **more,
        }
        (self.path / f"rank-{rank}.json").write_text(json.dumps(value))

    def exited(self, rank: int, status: int) -> None:
        (self.path / f"exit-{rank}").write_text(f"{status:03}\n")

    def injected(self, rank: int, fault: str, fired_ns: int) -> None:
        self.note(rank, "injected", {"fault": fault, "fired_ns": fired_ns})

    def note(self, rank: int, kind: str, value: Any) -> None:
        with (self.path / f"notes-{rank}").open("a") as file:
            file.write(f"\n{json.dumps({kind: value})}\n")

    def flipped(self, rank: int, message: int, bit: int) -> None:
        value = {
            "fault": f"flip:rank={rank},message={message},bit={bit}",
            "rank": rank,
            "message": message,
            "bit": bit,
            "bytes": 800,
            "call": "isend",
            "destination": 2,
            "tag": 5,
            "communicator": "MPI_COMM_WORLD",
            "flipped_ns": 10 * SECOND + message,
        }
        self.note(rank, "flipped", value)

    def report(self, mpirun_status: int = 0, strict: bool = False, **more: Any) -> Report:
        end = End(mpirun_status, 9 * SECOND, 16 * SECOND, **more)
        return merge(
            read_parts(self.path),
            end,
            ranks=self.ranks,
            command=["./program"],
            mpi="Open MPI 5.0.11",
            on_loss="continue",
            strict=strict,
        )


def loss(rank: int, detected_ns: int, found_by: int, kind: str = "exited") -> dict[str, Any]:
    return {
        "rank": rank,
        "kind": kind,
        "detected_ns": detected_ns,
        "found_by": found_by,
        "pid": 100 + rank,
        "died_ns": None,
    }


def recovery(number: int, lost: list[int], began_ns: int, ended_ns: int) -> dict[str, Any]:
    return {
        "operation": "allreduce",
        "number": number,
        "communicator": "world",
        "lost": lost,
        "began_ns": began_ns,
        "ended_ns": ended_ns,
    }


@pytest.fixture
def four(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path, 4)


@pytest.fixture
def lossy(four: RunDirectory) -> RunDirectory:
    """Rank 3 was killed at 12 s; rank 1 saw it first."""
    died = 12 * SECOND
    four.injected(3, "kill:rank=3,at=2s", died)
    for rank, delay_ms in ((0, 3), (1, 1), (2, 2)):
        began = died + delay_ms * MS
        four.rank(
            rank,
            losses=[loss(3, began, rank)],
            recoveries=[recovery(41, [3], began, began + (rank + 1) * MS)],
        )
    return four


def test_a_loss_is_told_by_whoever_saw_it_first(lossy: RunDirectory) -> None:
    report = lossy.report(mpirun_status=137)
    (only,) = report.losses
    assert (only.rank, only.how, only.found_by, only.pid) == (3, "killed", 1, 103)
    assert only.delay_ns == 1 * MS
    assert only.fault == "kill:rank=3,at=2s"
    assert report.exit_status == 0
    assert report.survivors == 3


def test_an_operation_costs_what_its_slowest_rank_needed(lossy: RunDirectory) -> None:
    report = lossy.report()
    (touched,) = report.touched
    assert (touched.number, touched.lost, touched.ranks, touched.cost_ns) == (41, (3,), 3, 3 * MS)
    assert report.losses[0].touched == (touched,)
    assert report.recovery_ns == 3 * MS


def test_calls_and_transport_are_summed(lossy: RunDirectory) -> None:
    report = lossy.report()
    assert report.operations["allreduce"].calls == 30
    assert report.operations["allreduce"].native == 12
    assert report.operations["allreduce"].touched == 3
    assert report.transport == {"rejected_connections": 3}


def test_times_count_from_the_first_rank_that_was_through_init(lossy: RunDirectory) -> None:
    assert to_json(lossy.report())["losses"][0]["at_ns"] == 2 * SECOND


def test_the_status_is_the_largest_of_those_that_were_not_lost(four: RunDirectory) -> None:
    four.rank(0, losses=[loss(3, 12 * SECOND, 0)])
    four.rank(1, status=7)
    four.rank(2, status=5)
    four.rank(3, status=99, finalized=False)
    report = four.report(mpirun_status=99)
    assert report.exit_status == 7
    assert (report.losses[0].how, report.losses[0].exit_status) == ("exited", 99)


@pytest.mark.parametrize(
    ("left", "number", "status", "how"),
    [
        ("signal", 11, 139, "was ended by SIGSEGV at"),
        ("exit", 9, 9, "exited without MPI_Finalize, status 9 at"),
        ("exit", 0, 1, "exited without MPI_Finalize, status 0 at"),
    ],
)
def test_a_rank_that_is_lost_by_a_mistake_makes_the_job_fail(
    four: RunDirectory, left: str, number: int, status: int, how: str
) -> None:
    for rank in range(3):
        four.rank(rank, losses=[loss(3, 12 * SECOND, rank)])
    assert four.report(mpirun_status=0).exit_status == 0
    (four.path / f"{left}-3").write_text(f"{number:03}\n")
    report = four.report(mpirun_status=0)
    assert report.exit_status == status
    assert f"rank 3 (pid 103) {how}" in shown(report)
    four.injected(3, "kill:rank=3,at=1ms", 11 * SECOND)
    assert four.report(mpirun_status=0).exit_status == 0


def test_ranks_that_leave_without_the_end_of_mpi_fail(four: RunDirectory) -> None:
    for rank in range(4):
        four.rank(rank, finalized=rank != 2)
    assert four.report(mpirun_status=0).exit_status == 1


def test_a_rank_that_dealt_with_its_signal_has_its_own_status(four: RunDirectory) -> None:
    for rank in range(4):
        four.rank(rank)
    (four.path / "signal-2").write_text("011\n")
    assert four.report(mpirun_status=0).exit_status == 0


def test_what_mpirun_has_seen_says_how_a_rank_ended_that_could_not(four: RunDirectory) -> None:
    for rank in (1, 2):
        four.rank(rank, losses=[loss(0, 12 * SECOND, rank), loss(3, 13 * SECOND, rank)])
    (four.path / "ended").write_text("103 signal 6\n100 signal 9\n102 signal 9\nhalf a li")
    report = four.report(mpirun_status=0)
    assert report.exit_status == 134
    assert [found.signal for found in report.losses] == [None, 6]


def test_what_a_rank_has_said_of_its_end_goes_before_what_mpirun_has_seen(
    four: RunDirectory,
) -> None:
    for rank in range(4):
        four.exited(rank, rank)
    (four.path / "ended").write_text("103 signal 11\n102 exit 7\n")
    assert four.report(mpirun_status=0).exit_status == 3


def test_strict_makes_a_loss_a_failure_but_hides_no_other(lossy: RunDirectory) -> None:
    assert lossy.report(strict=True).exit_status == STATUS_STRICT
    lossy.rank(1, status=7, losses=[loss(3, 12 * SECOND, 1)])
    assert lossy.report(strict=True).exit_status == 7


def test_strict_changes_nothing_without_a_loss(four: RunDirectory) -> None:
    for rank in range(4):
        four.rank(rank)
    assert four.report(strict=True).exit_status == 0


def test_a_rank_without_a_status_leaves_the_word_to_mpirun(four: RunDirectory) -> None:
    for rank in range(3):
        four.rank(rank)
    report = four.report(mpirun_status=139)
    assert report.exit_status == 139
    assert report.missing == (3,)


def test_a_job_whose_ranks_were_all_killed_has_not_ended_well(four: RunDirectory) -> None:
    assert four.report(mpirun_status=0).exit_status == STATUS_KILLED
    (four.path / "signal-1").write_text("006\n")
    assert four.report(mpirun_status=0).exit_status == 134


def test_programs_without_mpi_have_their_status_too(four: RunDirectory) -> None:
    for rank in range(4):
        four.exited(rank, rank)
    report = four.report(mpirun_status=0)
    assert report.exit_status == 3
    assert report.missing == ()


def test_the_process_s_last_word_goes_before_an_earlier_one(four: RunDirectory) -> None:
    for rank in range(4):
        four.rank(rank, status=None)
        four.exited(rank, 4)
    assert four.report().exit_status == 4


def test_mpi_abort_gives_the_status(four: RunDirectory) -> None:
    (four.path / "abort.json").write_text('{"schema":1,"rank":2,"status":5}')
    assert four.report(mpirun_status=1).exit_status == 5


def test_a_job_that_a_signal_ended_says_so(four: RunDirectory) -> None:
    assert four.report(mpirun_status=1, signals=[signal.SIGTERM]).exit_status == 128 + 15


def test_a_program_that_survives_a_signal_keeps_its_status(four: RunDirectory) -> None:
    for rank in range(4):
        four.rank(rank)
    assert four.report(signals=[signal.SIGTERM]).exit_status == 0


def test_who_was_shut_out_does_not_say_who_is_lost(four: RunDirectory) -> None:
    four.rank(0, status=1, finalized=False, losses=[loss(r, 11 * SECOND, 0) for r in (1, 2, 3)])
    for rank in (1, 2, 3):
        four.rank(rank, losses=[loss(0, 12 * SECOND, 2, kind="unreachable")])
    report = four.report()
    assert [(one.rank, one.how) for one in report.losses] == [(0, "unreachable")]


def test_who_was_cut_off_and_lived_on_is_lost_and_says_nothing_of_others(
    four: RunDirectory,
) -> None:
    for rank in (0, 1, 3):
        four.rank(rank, losses=[loss(2, 11 * SECOND, 0, kind="unreachable")])
    others = [loss(rank, 10 * SECOND, 2, kind="unreachable") for rank in (0, 1)]
    four.rank(2, status=70, losses=others, cut_off="hears of too few others")
    report = four.report()
    assert [loss.rank for loss in report.losses] == [2]
    assert report.exit_status == 0
    (lost,) = to_json(report)["losses"]
    assert lost["how"] == "unreachable" and lost["exit_status"] == 70
    assert lost["cut_off"] == "hears of too few others"
    output = io.StringIO()
    show(report, output)
    assert "could not be reached, was told so and went on alone, status 70" in output.getvalue()


def test_where_all_were_cut_off_nobody_is_called_lost(four: RunDirectory) -> None:
    for rank in range(4):
        losses = [loss((rank + 1) % 4, 11 * SECOND, rank, kind="unreachable")]
        four.rank(rank, status=70, losses=losses, cut_off="hears of too few others")
    report = four.report(mpirun_status=1)
    assert report.losses == () and report.exit_status == 70


def test_a_fault_that_nobody_had_to_notice_is_a_loss(four: RunDirectory) -> None:
    for rank in range(3):
        four.rank(rank)
    four.injected(3, "stop:rank=3,at=finalize#1", 14 * SECOND)
    report = four.report(mpirun_status=137)
    assert [(one.rank, one.how, one.found_by) for one in report.losses] == [(3, "hung", None)]
    assert report.exit_status == 0


def test_a_fault_that_was_survived_is_no_loss(four: RunDirectory) -> None:
    for rank in range(4):
        four.rank(rank)
    four.injected(3, "stop:rank=3,at=1s", 11 * SECOND)
    assert four.report().losses == ()


def test_losses_come_in_the_order_of_their_times(four: RunDirectory) -> None:
    four.rank(1, losses=[loss(0, 13 * SECOND, 1), loss(2, 12 * SECOND, 1)])
    four.rank(3)
    assert [one.rank for one in four.report().losses] == [2, 0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema":2}', '{"schema":1}', "null", "\xff"])
def test_a_part_that_cannot_be_understood_counts_as_missing(four: RunDirectory, text: str) -> None:
    (four.path / "rank-0.json").write_text(text, encoding="latin-1")
    parts = read_parts(four.path)
    assert parts.unreadable == ("rank-0.json",)
    assert parts.ranks == {}


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", "\xff", '{"flipped":{}}', '{"injected":1}', '{"corrupted":[]}']
)
def test_a_note_that_cannot_be_understood_takes_no_other_with_it(
    four: RunDirectory, line: str
) -> None:
    four.injected(2, "kill:rank=2,at=1s", 11 * SECOND)
    with (four.path / "notes-2").open("a", encoding="latin-1") as file:
        file.write(f"\n{line}\n")
    four.flipped(2, 7, 3)
    parts = read_parts(four.path)
    assert parts.unreadable == ("notes-2",)
    assert list(parts.injected) == [2] and [flip.message for flip in parts.flipped] == [7]


def test_notes_are_read_once_and_when_they_are_whole(tmp_path: Path) -> None:
    reader = NoteReader(tmp_path)
    assert list(reader.new()) == []
    file = tmp_path / "notes-12"
    file.write_text('\n{"a":1}\n\n{"b":2')
    assert list(reader.new()) == [Note(12, "a", 1)]
    assert list(reader.new()) == []
    file.write_text('\n{"a":1}\n\n{"b":2}\n')
    (tmp_path / "notes-2").write_text('\n{"c":{}}\n')
    assert list(reader.new()) == [Note(12, "b", 2), Note(2, "c", {})]
    assert list(reader.new()) == []
    assert reader.unreadable == set()


def test_half_written_files_are_passed_over(four: RunDirectory) -> None:
    (four.path / "rank-0.json.part").write_text("{")
    assert read_parts(four.path).unreadable == ()


def test_the_json_has_all_that_the_documentation_names(lossy: RunDirectory) -> None:
    document = (
        Path(__file__).resolve().parents[2] / "docs" / "reference" / "report.md"
    ).read_text()
    lossy.flipped(1, 7, 3)
    value = json.loads(json.dumps(to_json(lossy.report())))
    names = {*value, *value["losses"][0], *value["touched"][0], *value["flipped"][0]}
    assert sorted(name for name in names if f"`{name}`" not in document) == []


def test_people_read_who_when_by_whom_and_at_what_cost(lossy: RunDirectory) -> None:
    output = io.StringIO()
    show(lossy.report(), output)
    said = output.getvalue()
    for part in (
        "1 of 4 ranks was lost",
        "rank 3 (pid 103) was killed (injected) at 2.000 s",
        "found by rank 1 after 1 ms",
        "touched allreduce#41, which cost 3 ms",
        "no call returned an error",
    ):
        assert part in said
    assert all(line.startswith("resprout: ") for line in said.splitlines())


def test_who_uses_mpi4py_in_lower_case_is_told_what_goes_on(four: RunDirectory) -> None:
    for rank in range(4):
        calls = {"calls": 9, "native": 0, "touched": 0, "errors": 1}
        four.rank(rank, status=1, operations={"recv": calls})
    report = four.report()
    hint = "mpi4py makes reduce, allreduce, scan and exscan in lower case of messages"
    assert hint not in shown(report)
    assert hint in shown(replace(report, command=("/usr/bin/python3", "mean.py")))
    assert hint in shown(replace(report, command=("./mean.py",)))
    assert hint not in shown(replace(report, command=("python3",), exit_status=0))
    left = ("kill:rank=2,at=allreduce#50",)
    assert hint in shown(replace(report, command=("python3",), exit_status=0, faults_left=left))


def test_calls_whose_data_were_lost_are_named_in_the_order_of_their_times(
    lossy: RunDirectory,
) -> None:
    for rank, at_ns in ((0, 14), (1, 13)):
        told = {"call": "MPI_Recv", "communicator": "field", "lost": [3], "calls_handler": True}
        lossy.note(rank, "unanswered", {**told, "ends_job": False, "at_ns": at_ns * SECOND})
    report = lossy.report()
    assert [(call.rank, call.lost) for call in report.unanswered] == [(1, (3,)), (0, (3,))]
    assert to_json(report)["unanswered"][0]["call"] == "MPI_Recv"
    text = io.StringIO()
    show(report, text)
    assert (
        "rank 1 and 1 more rank asked for data that was lost, first by MPI_Recv on field"
    ) in text.getvalue()


def test_who_is_lost_to_a_call_that_ends_the_job_is_lost_though_nobody_else_says_so(
    four: RunDirectory,
) -> None:
    told = {"call": "MPI_Recv", "communicator": "", "lost": [2], "calls_handler": False}
    four.note(1, "unanswered", {**told, "ends_job": True, "at_ns": 14 * SECOND})
    (four.path / "abort.json").write_text('{"schema":1,"rank":1,"status":75}')
    report = four.report(mpirun_status=1)
    assert ([loss.rank for loss in report.losses], report.exit_status) == ([2], 75)
    assert [loss.how for loss in report.losses] == ["killed"]


def test_corrupted_messages_and_faults_that_did_not_come_about_are_named(
    four: RunDirectory,
) -> None:
    four.flipped(1, 8, 3)
    four.flipped(0, 7, 4)
    for rank in range(4):
        left = list(LEFT) if rank == 1 else []
        four.rank(rank, faults_left=left)
    report = four.report()
    assert report.losses == ()
    assert [(flip.rank, flip.message, flip.bit) for flip in report.flipped] == [
        (0, 7, 4),
        (1, 8, 3),
    ]
    output = io.StringIO()
    show(report, output)
    said = output.getvalue()
    sentence = "message 7 of rank 0 (isend to rank 2, tag 5, 800 bytes) was sent with bit 4 flipped"
    assert sentence in said
    for fault, why in LEFT.items():
        assert f"{fault} did not come about: {why}" in said


def test_on_a_terminal_it_is_a_table(lossy: RunDirectory) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    output = Terminal()
    show(lossy.report(), output)
    said = output.getvalue()
    assert "found by" in said
    assert "allreduce#41" in said


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0 ns"), (999, "999 ns"), (1500, "1.5 us"), (3596235, "3.6 ms"), (12 * SECOND, "12 s")],
)
def test_durations_come_in_the_unit_that_fits(nanoseconds: int, text: str) -> None:
    assert duration(nanoseconds) == text


def view(epoch: int, lost: list[int], installed_ns: int, **more: Any) -> dict[str, Any]:
    value = {"epoch": epoch, "lost": lost, "detected_ns": None, "decided_ns": None}
    return {**value, "installed_ns": installed_ns, **more}


def shown(report: Report) -> str:
    output = io.StringIO()
    show(report, output)
    return output.getvalue()


def test_views_are_put_together_by_epoch(four: RunDirectory) -> None:
    first = view(2, [3], 120, detected_ns=100, decided_ns=110)
    four.rank(0, views=[first], losses=[loss(3, 100, 0)])
    four.rank(1, views=[view(2, [3], 130, detected_ns=90), view(3, [2, 3], 150)])
    report = four.report()
    assert to_json(report)["views"] == [
        {"epoch": 2, "lost": (3,), "ranks": 2, "detected_ns": 90, "decided_ns": 110,
         "decided_by": 0, "installed_ns": 130},
        {"epoch": 3, "lost": (2, 3), "ranks": 1, "detected_ns": None, "decided_ns": None,
         "decided_by": None, "installed_ns": 150},
    ]  # fmt: skip
    assert "2 views agreed on, the last by 1 rank, within 40 ns of a loss" in shown(report)


def test_views_that_contradict_each_other_are_both_told(four: RunDirectory) -> None:
    four.rank(0, views=[view(2, [3], 120)])
    four.rank(1, views=[view(2, [2, 3], 130)])
    assert [(each["epoch"], each["lost"]) for each in to_json(four.report())["views"]] == [
        (2, (2, 3)),
        (2, (3,)),
    ]


def test_ranks_without_views_have_none_in_the_report(four: RunDirectory) -> None:
    four.rank(0, views=None)
    four.rank(1)
    assert to_json(four.report())["views"] is None
    assert "view" not in shown(four.report())


def test_the_tree_of_the_views_is_what_the_lowest_living_rank_says(four: RunDirectory) -> None:
    four.rank(1, tree={"radix": 8, "places": [1, 0, 3, 2]}, losses=[loss(0, 100, 1)])
    four.rank(2, tree=None, losses=[loss(0, 100, 1)])
    assert to_json(four.report())["tree"] == {"radix": 8, "places": (1, 0, 3, 2)}


def test_where_no_rank_says_it_the_tree_is_not_known(four: RunDirectory) -> None:
    four.rank(1)
    assert to_json(four.report())["tree"] is None


def test_a_job_that_is_too_large_for_views_says_so(four: RunDirectory) -> None:
    four.rank(0, views=None, losses=[loss(3, 100, 0)])
    assert "no views: a job of more than 4096 ranks agrees on none" in shown(
        replace(four.report(), ranks=4097)
    )


def test_a_report_to_which_no_rank_has_come_says_nothing_of_costs(four: RunDirectory) -> None:
    four.injected(3, "kill:rank=3,at=1s", 11 * SECOND)
    output = io.StringIO()
    show(four.report(mpirun_status=143, signals=[signal.SIGTERM]), output)
    said = output.getvalue()
    assert "rank 3 (pid 103) was killed (injected)" in said and "nobody has reported" in said
    assert "no rank has reported" in said and "recovery" not in said and "no call" not in said


def test_a_report_of_ranks_that_never_were_says_how_the_launcher_ended(four: RunDirectory) -> None:
    output = io.StringIO()
    show(four.report(mpirun_status=255), output)
    assert "the MPI library's launcher ended with status 255" in output.getvalue()
