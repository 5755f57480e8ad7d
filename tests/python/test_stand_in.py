"""Planes that go on with gaps, without MPI: what is shown, said, reported, and the job's status."""

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from signal import SIGTERM
from typing import Any

import pytest
from resprout.launch.planes.first_lines import FirstLines
from resprout.launch.planes.lines import Key, Marker
from resprout.launch.planes.loss_watch import DoubtWatch, LossNews, NewLoss
from resprout.launch.planes.outcome import how_it_ended
from resprout.launch.planes.stand_in import Living, settled
from resprout.launch.planes.words import tell_of_gap
from resprout.launch.run import is_worth_a_word
from resprout.report.as_json import to_json
from resprout.report.corruptions import Corruption
from resprout.report.job import Loss, PlaneEnd, Report
from resprout.report.launch_end import End
from resprout.report.merge import merge
from resprout.report.plane_ends import decide, different, listed
from resprout.report.planes import describe_planes, replicas_left
from resprout.report.ranks import Parts, RankPart, SeenLoss

OUT = (0, "stdout")
KEYS: list[Key] = [(0, "stdout"), (0, "stderr"), (1, "stdout")]


def test_a_line_is_shown_when_the_first_copy_has_said_it() -> None:
    lines = FirstLines(2)
    assert lines.take(1, OUT, b"a from 1\n") == b"a from 1\n"
    assert lines.take(0, OUT, b"a from 0\n") == b""
    assert lines.take(0, OUT, b"b from 0\n") == b"b from 0\n"
    assert lines.take(0, OUT, Marker(1)) == b""
    assert lines.lose(0, {}) == []
    assert [lines.take(1, OUT, text) for text in (b"b\n", b"c\n")] == [b"", b"c\n"]


def test_ranks_of_one_plane_go_on_though_another_rank_of_it_says_nothing_any_more() -> None:
    lines = FirstLines(2)
    assert lines.take(0, (0, "stdout"), b"1\n") == b"1\n"
    assert lines.take(1, (1, "stdout"), b"1\n") == b"1\n"
    assert lines.take(0, (0, "stdout"), b"2\n") == b"2\n"
    assert lines.take(1, (1, "stdout"), b"2\n") == b"2\n"


def test_lines_without_an_end_come_when_nobody_can_say_more() -> None:
    lines = FirstLines(3)
    for copy in range(3):
        lines.take(copy, OUT, b"1\n")
    lines.take(2, (1, "stdout"), b"1\n")
    assert lines.finish(0, {OUT: b"the end", (1, "stdout"): b"was shown"}) == []
    assert lines.lose(1, {OUT: b"the"}) == []
    assert lines.finish(2, {}) == [(OUT, b"the end")]


def test_a_process_that_ends_as_nobody_can_tell_who_is_right_ends_the_job(tmp_path: Path) -> None:
    is_in_doubt = DoubtWatch(tmp_path)
    assert not is_in_doubt()
    (tmp_path / "notes-1").write_text('\n{"corrupted":{"then":"stand_in"}}\n')
    (tmp_path / "notes-2").write_text('\n{"corrupted":{"then":"ab')
    assert not is_in_doubt()
    (tmp_path / "notes-2").write_text('\n{"corrupted":{"then":"abort"}}\n')
    assert is_in_doubt()
    assert is_in_doubt()


class _Copies:
    """Of each key all copies say a part of one text, as far as they live; one says all of it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        count = self.random.choice([2, 3])
        self.text = {key: self._some_lines() for key in KEYS}
        self.to_say: dict[tuple[int, Key], bytes] = {}
        for key, text in self.text.items():
            survivor = self.random.randrange(count)
            for copy in range(count):
                is_cut = copy != survivor and self.random.random() < 0.5
                end = self.random.randrange(len(text) + 1) if is_cut else len(text)
                self.to_say[copy, key] = text[:end]
        self.running = set(range(count))

    def _some_lines(self) -> bytes:
        count = self.random.randrange(12)
        return b"".join(b"%d\n" % i for i in range(count)) + self.random.choice([b"", b"no end"])

    def play(self) -> dict[Key, bytes]:
        lines = FirstLines(len(self.running))
        shown: defaultdict[Key, bytes] = defaultdict(bytes)
        while self.running:
            copy = self.random.choice(sorted(self.running))
            can = [key for key in KEYS if b"\n" in self.to_say[copy, key]]
            if can:
                key = self.random.choice(can)
                line, _, self.to_say[copy, key] = self.to_say[copy, key].partition(b"\n")
                shown[key] += lines.take(copy, key, line + b"\n")
                continue
            self.running.remove(copy)
            begun = {key: text for key in KEYS if (text := self.to_say[copy, key])}
            end = self.random.choice([lines.finish, lines.lose])
            for key, text in end(copy, begun):
                shown[key] += text
        return dict(shown)


def test_whoever_is_lost_in_whatever_plane_each_line_is_shown_once() -> None:
    for seed in range(2000):
        copies = _Copies(seed)
        expected = {key: text for key, text in copies.text.items() if text}
        assert {k: t for k, t in copies.play().items() if t} == expected, f"seed {seed}"


def leave_part(folder: Path, rank: int, *losses: tuple[int, str, int]) -> None:
    """`losses`: who, how, and when."""
    names = ("rank", "kind", "detected_ns")
    value = {"rank": rank, "losses": [dict(zip(names, loss, strict=True)) for loss in losses]}
    (folder / f"rank-{rank}.json").write_text(json.dumps(value))


def test_each_loss_is_news_once(tmp_path: Path) -> None:
    news = LossNews(tmp_path)
    assert news() == []
    leave_part(tmp_path, 0, (3, "exited", 10))
    assert news() == [NewLoss(3, "killed")]
    (tmp_path / "exit-2").write_text("1\n")
    (tmp_path / "rank-4.json").write_text('{"los')
    leave_part(tmp_path, 0, (3, "exited", 10), (2, "exited", 20), (1, "hung", 15))
    leave_part(tmp_path, 5, (3, "exited", 11))
    assert news() == [NewLoss(1, "hung"), NewLoss(2, "exited")]
    assert news() == []


def test_who_is_lost_has_no_word_about_others(tmp_path: Path) -> None:
    news = LossNews(tmp_path)
    leave_part(tmp_path, 0, (3, "cut_off", 10))
    leave_part(tmp_path, 3, (0, "exited", 11), (1, "exited", 12))
    assert news() == [NewLoss(3, "cut_off")]


def test_nobody_is_lost_where_mpi_abort_ends_all(tmp_path: Path) -> None:
    news = LossNews(tmp_path)
    leave_part(tmp_path, 0, (3, "exited", 10))
    (tmp_path / "abort.json").touch()
    assert news() == []


def part(rank: int, status: int | None = 0, finalized: bool = True, *lost: int) -> RankPart:
    seen = [SeenLoss(one, "exited", 7, rank) for one in lost]
    return RankPart(rank, 1, "here", 1, 2, finalized, status, losses=seen)


def ended(*signals: Any, status: int = 137) -> End:
    return End(status, 0, 9, list(signals))


def test_a_plane_that_went_on_without_its_lost_has_gaps() -> None:
    seen = Parts({0: part(0, 0, True, 2), 1: part(1)})
    assert how_it_ended(seen, ended(), 3, stands_in=True) == "gaps"
    assert how_it_ended(seen, ended(), 3) == "lost"
    unseen = Parts({0: part(0), 1: part(1), 2: part(2, 1, finalized=False)})
    assert how_it_ended(unseen, ended(), 3, stands_in=True) == "gaps"
    whole = Parts({rank: part(rank) for rank in range(3)})
    assert how_it_ended(whole, ended(), 3, stands_in=True) == "whole"
    nobody = Parts({0: part(0, None, False, 2), 1: part(1, None, False, 2)})
    assert how_it_ended(nobody, ended(), 3, stands_in=True) == "lost"
    silent = Parts(started={0: 100, 1: 101})
    assert how_it_ended(silent, ended(status=0), 2, stands_in=True) == "lost"
    assert how_it_ended(replace(seen, aborted_with=5), ended(), 3, stands_in=True) == "aborted"


def test_whom_a_signal_has_ended_was_not_lost() -> None:
    parts = Parts({0: part(0, 0, True, 2), 1: part(1)})
    assert how_it_ended(parts, ended(SIGTERM), 3, stands_in=True) == "gaps"
    assert how_it_ended(parts, ended(SIGTERM), 4, stands_in=True) == "interrupted"


def test_of_a_plane_with_gaps_neither_the_lost_nor_mpirun_make_the_status() -> None:
    parts = Parts(
        {0: part(0, 4), 1: part(1, 0)},
        exits={2: 9},
        started={rank: 100 + rank for rank in range(4)},
    )
    parts.ranks[2] = part(2, None, finalized=False)
    report = merge(
        parts, ended(), ranks=4, command=(), mpi="", on_loss="continue", absent=[2, 3]
    )  # fmt: skip
    assert report.exit_status == 4
    assert report.missing == ()
    causes = [(loss.rank, loss.how, loss.exit_status) for loss in report.losses]
    assert causes == [(2, "exited", 9), (3, "killed", None)]


def loss(rank: int, status: int | None = None) -> Loss:
    how = "killed" if status is None else "exited"
    return Loss(rank, 77, "here", how, status, None, None, 2_000, 0, ())


def plane(
    replica: int, how: str, statuses: Mapping[int, int], lost: Sequence[Loss] = ()
) -> PlaneEnd:
    status = max(statuses.values(), default=137)
    report = Report((), "", "continue", 3, 1_000, 10**9, status, 137, tuple(lost))
    return PlaneEnd(replica, how, status, 9_000 + replica, report, statuses=statuses)


def test_planes_with_gaps_complete_each_other_s_status() -> None:
    planes = settled(
        [plane(0, "gaps", {0: 0, 2: 0}, [loss(1)]), plane(1, "gaps", {0: 0, 1: 5}, [loss(2)])], 3
    )
    assert [(one.how, one.status) for one in planes] == [("gaps", 5), ("gaps", 5)]
    assert decide(planes).replica == 0
    assert different(planes) == []


def test_a_whole_plane_is_rather_the_one_whose_word_counts() -> None:
    planes = settled(
        [plane(0, "gaps", {0: 0}, [loss(1), loss(2)]), plane(1, "whole", {0: 0, 1: 0, 2: 0})], 3
    )
    assert decide(planes).replica == 1
    assert different(planes) == []


def test_ranks_that_end_otherwise_than_their_replicas_are_told_apart() -> None:
    planes = settled(
        [plane(0, "gaps", {0: 1, 2: 0}, [loss(1)]), plane(1, "whole", {0: 0, 1: 0, 2: 0})], 3
    )
    assert [one.replica for one in different(planes)] == [0]


@pytest.mark.parametrize(("exit_status", "status"), [(None, 137), (6, 6)])
def test_if_no_replica_of_a_rank_came_to_its_end_the_job_is_lost(
    exit_status: int | None, status: int
) -> None:
    lost = loss(1, exit_status)
    planes = settled(
        [plane(0, "gaps", {0: 0, 2: 0}, [lost]), plane(1, "gaps", {0: 0}, [lost, loss(2)])], 3
    )
    assert [(one.how, one.status) for one in planes] == [("lost", status)] * 2
    assert decide(planes).is_lost


def test_a_plane_that_was_lost_completes_nothing() -> None:
    planes = settled([plane(0, "gaps", {0: 0, 1: 0}, [loss(2)]), plane(1, "lost", {2: 0})], 3)
    assert [one.how for one in planes] == ["lost", "lost"]


def told(living: Living, replica: int, rank: int, capsys: pytest.CaptureFixture[str]) -> str:
    assert living.lose(replica, rank)
    tell_of_gap(replica, rank, "cut_off", living)
    return capsys.readouterr().err


def test_each_loss_is_told_with_who_stands_in_and_what_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    two = Living(2, 4)
    assert told(two, 0, 3, capsys) == (
        "resprout: rank 3 of plane 0 is lost (cut off): its replica in plane 1 stands in for it; "
        "rank 3 has 1 replica left, whose loss would end the job\n"
    )
    assert "ranks 1 and 3 have 1 replica left each" in told(two, 1, 1, capsys)
    assert not two.lose(1, 1)
    assert "no replica of it is left: the job is lost" in told(two, 1, 3, capsys)
    assert told(two, 0, 0, capsys).endswith("rank 3 has none left\n")
    three = Living(3, 4)
    words = told(three, 1, 0, capsys)
    assert "its replicas in planes 0 and 2 stand in for it" in words
    assert "every rank has 2 replicas left or more" in words


def test_when_a_plane_is_over_it_is_known_who_is_left() -> None:
    living = Living(3, 3)
    living.lose(0, 1)
    living.lose(1, 2)
    living.end_plane(1, plane(1, "gaps", {0: 0, 2: 0}, [loss(1)]))
    assert living.left() == (3, 1, 3)
    living.end_plane(2, plane(2, "lost", {}, [loss(0)]))
    assert living.left() == (2, 0, 2)


def test_many_ranks_are_counted_and_not_named() -> None:
    assert listed("rank", [2]) == "rank 2"
    assert listed("rank", {5, 1, 3, 2}) == "ranks 1, 2, 3 and 5"
    assert listed("rank", range(5)) == "5 ranks"


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ((2, 1, 2), "rank 1 had 1 replica left at the end: a further loss could have ended the"),
        ((3, 2, 2), "ranks 1 and 2 had 2 replicas left at the end: it could have lost any 1 more"),
        ((2, 2), "every rank had 2 replicas left at the end: it could have lost any 1 more"),
        ((1, 0), "no replica of rank 1 was left: the job is lost"),
    ],
)
def test_the_report_says_which_rank_is_protected_least(left: tuple[int, ...], words: str) -> None:
    assert replicas_left(left).startswith(words)


def job_of(*planes: PlaneEnd, left: tuple[int, ...]) -> Report:
    report = replace(decide(planes).report, exit_status=0, planes=planes, replicas=len(planes))
    return replace(report, on_replica_loss="stand-in", replicas_left=left)


def test_of_a_job_that_a_corruption_ended_nobody_says_who_was_left() -> None:
    whole = plane(0, "whole", {0: 0, 1: 0})
    found = Corruption(
        of="message", call="recv", sender=1, receiver=0, tag=7, communicator="world", number=3,
        bytes=24, wrong_replicas=(), tainted=False, replaced=False, end="undecided", then="abort",
        rank=0, replica=1, found_ns=1,
    )  # fmt: skip
    report = replace(job_of(whole, whole, left=(1, 0)), corruptions=(found,))
    assert not any("left" in line for line in describe_planes(report))


def test_the_report_has_all_losses_of_planes_with_gaps() -> None:
    gaps = plane(0, "gaps", {0: 0}, [loss(1), loss(2)])
    report = job_of(gaps, plane(1, "whole", {0: 0, 1: 0, 2: 0}), left=(2, 1, 1))
    assert is_worth_a_word(report)
    first, second, last = describe_planes(report)
    assert "2 processes were lost, and their replicas stood in for them; the job ended" in first
    why = "rank 1 (pid 77) was killed, rank 2 (pid 77) was killed"
    assert second == f"  plane 0 went on without its lost: {why}"
    assert last.startswith("ranks 1 and 2 had 1 replica left at the end")
    value = to_json(report)
    assert (value["on_replica_loss"], value["replicas_left"]) == ("stand-in", [2, 1, 1])
    assert [one["rank"] for one in value["planes"][0]["losses"]] == [1, 2]


def test_the_report_tells_planes_with_gaps_from_lost_ones() -> None:
    gaps, whole = (
        plane(0, "gaps", {0: 0, 1: 0}, [loss(2)]),
        plane(1, "whole", dict.fromkeys([0], 0)),
    )
    report = job_of(gaps, whole, plane(2, "lost", {}, [loss(0)]), left=(2, 2, 1))
    words = "\n".join(describe_planes(report))
    assert "1 process was lost, and its replicas stood in for it; 1 of 3 planes was lost; " in words
    assert "plane 2 was lost: rank 0 (pid 77) was killed" in words
    assert words.endswith("rank 2 had 1 replica left at the end: a further loss could have ended "
                          "the job")  # fmt: skip


def test_a_job_without_losses_has_all_its_protection() -> None:
    first, second = (plane(replica, "whole", {0: 0, 1: 0, 2: 0}) for replica in range(2))
    report = job_of(first, second, left=(2, 2, 2))
    headline, last = describe_planes(report)
    assert "no plane was lost" in headline
    assert last == "every rank had 2 replicas left at the end: it could have lost any 1 more"
    assert not is_worth_a_word(report)
