"""Planes without MPI: whose output is shown, how planes end, which hosts they get."""

import os
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from resprout.cli import main
from resprout.errors import UserError
from resprout.faults import parse_faults
from resprout.launch.planes.lines import Lines
from resprout.launch.planes.loss_watch import LossWatch
from resprout.launch.planes.outcome import how_it_ended, lost_host
from resprout.launch.planes.placement import deal
from resprout.launch.planes.relay import Tagged
from resprout.launch.planes.stragglers import Stragglers
from resprout.launch.planes.survey import Host, check, parse
from resprout.report.corruptions import Corruption, describe
from resprout.report.job import PlaneEnd, Report
from resprout.report.launch_end import End
from resprout.report.plane_ends import decide, different, stragglers
from resprout.report.planes import describe_planes, protection_left
from resprout.report.ranks import Injected, Parts, RankPart

OUT = (0, "stdout")


def test_the_leader_s_lines_are_shown_as_they_come_and_the_others_not() -> None:
    lines = Lines(2)
    assert lines.take(1, OUT, b"a from 1\n") == b""
    assert lines.take(0, OUT, b"a from 0\n") == b"a from 0\n"
    assert lines.take(0, OUT, b"b from 0\n") == b"b from 0\n"
    assert lines.take(1, OUT, b"b from 1\n") == b""


def test_when_the_leader_is_lost_the_next_plane_goes_on_where_it_was() -> None:
    lines = Lines(3)
    for text in (b"1\n", b"2\n", b"3\n"):
        lines.take(1, OUT, text)
    lines.take(0, OUT, b"one\n")
    assert lines.lose(0, {}) == [(OUT, b"2\n3\n")]
    assert lines.take(1, OUT, b"4\n") == b"4\n"
    assert lines.lose(2, {}) == []


def test_a_plane_that_lags_behind_doubles_nothing_when_it_leads() -> None:
    lines = Lines(2)
    lines.take(0, OUT, b"one\n")
    lines.take(0, OUT, b"two\n")
    assert lines.lose(0, {}) == []
    assert [lines.take(1, OUT, text) for text in (b"1\n", b"2\n", b"3\n")] == [b"", b"", b"3\n"]


def test_whatever_the_order_and_whoever_is_lost_each_line_is_shown_once() -> None:
    for seed in range(300):
        generator = random.Random(seed)
        lines = Lines(3)
        shown: dict[tuple[int, str], bytes] = {(0, "stdout"): b"", (1, "stderr"): b""}
        said = {(plane, key): 0 for plane in range(3) for key in shown}
        living = [0, 1, 2]
        while living and any(said[living[0], key] < 20 for key in shown):
            if len(living) > 1 and generator.random() < 0.02:
                lost = generator.choice(living)
                living.remove(lost)
                for key, text in lines.lose(lost, {}):
                    shown[key] += text
                continue
            plane, key = generator.choice(living), generator.choice(list(shown))
            if said[plane, key] < 20:
                shown[key] += lines.take(plane, key, b"%d\n" % said[plane, key])
                said[plane, key] += 1
        expected = b"".join(b"%d\n" % i for i in range(20))
        assert all(text == expected for text in shown.values()), f"seed {seed}"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_tagged_output_is_taken_apart_however_it_is_cut(size: int) -> None:
    text = b"[1,0]<stdout>: a\n[1,11]<stderr>: b: c\nno tag\n[1,0]<stdout>: \n[1,0]<stdout>: en"
    text += b"[1,11]<stdout>: d\n[1,2]<stdout>: last"
    tagged = Tagged()
    found = []
    for at in range(0, len(text), size):
        found += tagged.take(text[at : at + size])
    found += tagged.take_end()
    assert found == [
        (OUT, b"a\n"),
        ((11, "stderr"), b"b: c\n"),
        (None, b"no tag\n"),
        (OUT, b"\n"),
        ((11, "stdout"), b"d\n"),
        (OUT, b"en"),
        ((2, "stdout"), b"last"),
    ]


def test_what_a_rank_says_is_taken_for_no_tag() -> None:
    tag = b"[prterun-here-7@1,%d]<stdout>: "
    said = b"[1,0]<stdout>: [prterun-there-7@1,0]<stdout>: [1,0]<stderr>:\n"
    marker = b"\x1eresprout-return 1\n"
    tagged = Tagged(0, "/tmp/resprout-k3x9a2lm")
    found = [
        *tagged.take(tag % 0 + b"a " + said + tag % 0 + marker + tag % 1 + said[:-1] + tag % 0)
    ]
    found += tagged.take_end()
    assert found == [(OUT, b"a " + said), (OUT, marker), ((1, "stdout"), said[:-1])]


def part(rank: int, status: int | None, finalized: bool = True) -> RankPart:
    return RankPart(rank, 1, "here", 0, 1, finalized, status)


def end(status: int = 0) -> End:
    return End(status, 0, time.time_ns())


def test_a_plane_is_whole_if_each_rank_came_to_its_end() -> None:
    whole = Parts({0: part(0, 0), 1: part(1, 3)})
    assert how_it_ended(whole, end(), 2) == "whole"
    assert how_it_ended(Parts({0: part(0, 0)}), end(), 2) == "lost"
    assert how_it_ended(Parts({0: part(0, 0), 1: part(1, 1, False)}), end(), 2) == "lost"
    assert how_it_ended(Parts(aborted_with=5), end(5), 2) == "aborted"


def test_a_plane_is_lost_if_a_signal_ends_a_rank_behind_its_end() -> None:
    """What it printed last may be missing."""
    left = Parts({0: part(0, 0), 1: part(1, 0)})
    assert how_it_ended(left, end(139), 2) == "lost"
    assert how_it_ended(left, end(139), 2, stands_in=True) == "whole"
    by_itself = Parts({0: part(0, 0), 1: part(1, 139)})
    assert how_it_ended(by_itself, end(139), 2) == "whole"


def corruption(then: str, end: str = "undecided", rank: int = 2) -> Corruption:
    return Corruption(
        of="message", call="recv", sender=1, receiver=2, tag=7, communicator="world", number=3,
        bytes=24, wrong_replicas=() if end == "undecided" else (1,), tainted=then == "exclude",
        replaced=False, end=end, then=then, rank=rank, replica=1, found_ns=rank,
    )  # fmt: skip


def test_a_plane_that_used_corrupted_data_is_excluded_and_an_undecided_one_ends_the_job() -> None:
    excluded = Parts({0: part(0, 0)}, corruptions=(corruption("exclude", "outvoted"),))
    assert how_it_ended(excluded, end(137), 2) == "excluded"
    corrupted = Parts({0: part(0, 0)}, corruptions=(corruption("abort"),))
    assert how_it_ended(corrupted, end(137), 2) == "corrupted"
    reported = Parts({0: part(0, 0), 1: part(1, 0)}, corruptions=(corruption("go_on"),))
    assert how_it_ended(reported, end(), 2) == "whole"


def test_what_several_processes_found_is_said_once_by_who_saw_most() -> None:
    found = [corruption("abort"), corruption("exclude", "outvoted", rank=5)]
    (line,) = describe(found)
    assert line == (
        "message 3 of rank 1 to rank 2 (tag 7, 24 bytes, recv) is not the same in all planes: that "
        "of plane 1 is wrong; plane 1, which has worked with it, is excluded"
    )
    (line,) = describe([corruption("stand_in", "outvoted")])
    assert line.endswith(
        "that of plane 1 is wrong; rank 2 of plane 1, which has worked with it, ends, and its "
        "replicas stand in for it"
    )


def test_of_programs_without_mpi_the_launcher_s_word_counts() -> None:
    assert how_it_ended(Parts(), end(7), 2) == "whole"
    assert how_it_ended(Parts(), end(137), 2) == "lost"
    assert how_it_ended(Parts(injected={0: Injected("kill", 1)}), end(1), 2) == "lost"


def plane(replica: int, how: str, status: int = 0) -> PlaneEnd:
    report = Report((), "", "continue", 2, 0, replica, status, status)
    return PlaneEnd(replica, how, status, replica, report)


def test_planes_that_were_not_lost_decide_the_larger_group_first() -> None:
    planes = [plane(0, "whole", 1), plane(1, "whole", 0), plane(2, "whole", 0)]
    assert decide(planes).replica == 1
    assert [odd.replica for odd in different(planes)] == [0]
    planes = [plane(0, "lost", 137), plane(1, "whole", 4), plane(2, "aborted", 2)]
    assert decide(planes).replica == 1
    assert [odd.replica for odd in different(planes)] == [2]
    assert decide([plane(0, "lost", 137), plane(1, "lost", 9)]).replica == 1


def test_a_plane_that_was_ended_decides_nothing() -> None:
    planes = [plane(0, "ended", 137), plane(1, "whole", 4), plane(2, "whole", 4)]
    assert decide(planes).replica == 1
    assert [behind.replica for behind in stragglers(planes)] == [0]
    assert different(planes) == []
    assert stragglers([plane(0, "ended"), plane(1, "corrupted", 4), plane(2, "ended")]) == []
    three = replace(planes[1].report, planes=tuple(planes), replicas=3)
    words = " ".join(describe_planes(three))
    assert "plane 0 was ended: it was behind" in words
    assert "2 planes were left" in words


def notes(folder: Path, *arrived: int, agreed: int | None = None) -> list[Path]:
    folders = [folder / str(replica) for replica in range(3)]
    for replica, own in enumerate(folders):
        own.mkdir()
        if replica in arrived:
            (own / "arrived").touch()
        if replica == agreed:
            (own / "agreed").touch()
    return folders


def test_the_plane_behind_two_that_agree_is_ended_when_they_have_waited(tmp_path: Path) -> None:
    now = [100.0]
    behind = Stragglers(notes(tmp_path, 0, 2, agreed=0), 5.0, 4, lambda: now[0])
    assert behind.look({}) == []
    now[0] += 4.9
    assert behind.look({}) == []
    now[0] += 0.2
    assert behind.look({}) == [1]
    assert behind.look({}) == []
    assert behind.ended == {1}


@pytest.mark.parametrize(
    ("arrived", "agreed", "planes", "over", "seconds"),
    [
        ((0, 2), None, 3, (), 0.0),  # they have not compared everything, or differ
        ((0,), 0, 3, (), 0.0),  # the other that it agrees with is not at its end
        ((0, 1, 2), 0, 3, (), 0.0),
        ((0,), 0, 2, (), 0.0),  # of two nobody knows
        ((0, 2), 0, 3, (1,), 0.0),
        ((0, 2), 0, 3, (), None),
    ],
)
def test_otherwise_no_plane_is_ended(
    tmp_path: Path, arrived: tuple[int, ...], agreed: int | None, planes: int,
    over: tuple[int, ...], seconds: float | None,
) -> None:  # fmt: skip
    folders = notes(tmp_path, *arrived, agreed=agreed)[:planes]
    behind = Stragglers(folders, seconds, 4)
    assert [behind.look(over), behind.look(over)] == [[], []]


def astray(
    folder: Path, tainted: Sequence[int], waiting: Sequence[int], doubted: Sequence[int] = ()
) -> list[Path]:
    folders = notes(folder)
    for replica in tainted:
        (folders[replica] / "tainted-3").touch()
    for replica in doubted:
        (folders[replica] / "doubted-3").touch()
    for replica in waiting:
        (folders[replica] / "waits-0").touch()
    return folders


def test_a_wrong_plane_that_another_one_waits_for_is_ended(tmp_path: Path) -> None:
    now = [100.0]
    folders = astray(tmp_path, tainted=[2], waiting=[0])
    behind = Stragglers(folders, 5.0, 4, lambda: now[0])
    assert behind.look({}) == []
    now[0] += 4.0
    (folders[0] / "waits-0").unlink()  # it goes on
    assert behind.look({}) == []
    (folders[0] / "waits-0").touch()
    now[0] += 4.0
    assert behind.look({}) == []
    now[0] += 5.1
    assert behind.look({}) == [2]


@pytest.mark.parametrize(
    ("tainted", "waiting"),
    [([2], []), ([], [0]), ([2], [2]), ([0, 2], [1])],
)
def test_while_nobody_waits_for_it_a_wrong_plane_may_come_right(
    tmp_path: Path, tainted: list[int], waiting: list[int]
) -> None:
    behind = Stragglers(astray(tmp_path, tainted, waiting), 0.0, 4)
    assert [behind.look({}), behind.look({})] == [[], []]


def test_of_two_planes_that_go_back_the_one_that_does_not_come_is_ended(tmp_path: Path) -> None:
    now = [100.0]
    folders = astray(tmp_path, [], waiting=[0], doubted=[0, 1])[:2]
    behind = Stragglers(folders, 5.0, 4, lambda: now[0])
    assert behind.look({}) == []
    now[0] += 5.1
    assert behind.look({}) == [1]
    assert behind.look({}) == []
    # Once more, when it is back.
    behind.come_back(1, folders[1])
    assert behind.look({}) == []
    now[0] += 5.1
    assert behind.look({}) == [1]


def test_of_three_planes_two_may_be_left(tmp_path: Path) -> None:
    folders = astray(tmp_path, [], waiting=[2], doubted=[2])
    assert Stragglers(folders, 0.0, 4).look([0]) == [1]


@pytest.mark.parametrize(
    ("doubted", "waiting", "planes"),
    [((), (0,), 2), ((0, 1), (), 2), ((0, 1), (0, 1), 2), ((0, 1), (0,), 3)],
)
def test_of_two_planes_both_may_still_come(
    tmp_path: Path, doubted: tuple[int, ...], waiting: tuple[int, ...], planes: int
) -> None:
    folders = astray(tmp_path, [], waiting, doubted)[:planes]
    behind = Stragglers(folders, 0.0, 4)
    assert [behind.look({}), behind.look({})] == [[], []]


@pytest.mark.parametrize(("came_back", "ended"), [((), 1), ((1, 0), 0), ((0, 1), 1)])
def test_of_planes_that_all_wait_one_is_ended(
    tmp_path: Path, came_back: Sequence[int], ended: int
) -> None:
    now = [100.0]
    folders = notes(tmp_path)[:2]
    behind = Stragglers(folders, 7.0, 4, lambda: now[0])
    for replica in came_back:
        behind.come_back(replica, folders[replica])
    for replica, rank in [(r, n) for r in range(2) for n in range(4)]:
        assert behind.look({}) == []
        (folders[replica] / f"waits-{rank}").touch()
    assert behind.look({}) == []
    now[0] += 6.9
    os.utime(folders[0] / "waits-2", ns=(0, 1))  # it has gone on, and waits again
    assert behind.look({}) == []
    now[0] += 6.9
    assert behind.look({}) == []
    now[0] += 0.2
    assert behind.look({}) == [ended]
    assert behind.differing == {ended}


def test_planes_that_all_wait_get_a_moment(tmp_path: Path) -> None:
    now = [100.0]
    folders = notes(tmp_path)[:2]
    for folder in folders:
        (folder / "waits-0").touch()
    behind = Stragglers(folders, 0.0, 1, lambda: now[0])
    assert behind.look({}) == []
    now[0] += 4.9
    assert behind.look({}) == []
    now[0] += 0.2
    assert behind.look({}) == [1]
    assert behind.look({1}) == []  # the other goes on


def test_what_protection_is_left_is_said_in_words() -> None:
    assert "could have lost 2 more" in protection_left(3, 3)
    assert "a further loss would have ended the job" in protection_left(3, 1)
    assert "the job is lost" in protection_left(2, 0)


def test_no_two_planes_share_a_host() -> None:
    lines = ["a slots=2", "b:4", "c slots=1", "a slots=1", "d"]
    assert deal(lines, 2) == [["a slots=2", "c slots=1", "a slots=1"], ["b:4", "d"]]
    with pytest.raises(UserError, match=r"needs 3 hosts.*has 2.*Name more hosts"):
        deal(["a slots=64", "b slots=64"], 3)
    with pytest.raises(UserError, match="names no host"):
        deal([], 2, share=True)


def test_planes_that_may_share_hosts_go_around_again() -> None:
    lines = ["a slots=2", "b:4"]
    assert deal(lines, 3, share=True) == [["a slots=2"], ["b:4"], ["a slots=2"]]
    assert deal([*lines, "c"], 2, share=True) == deal([*lines, "c"], 2)


BOOT = "0d5c"
NAMED = Host("node1", "one", BOOT, "net:1", sees_run_directory=True)


def test_two_names_of_one_host_in_different_planes_are_refused() -> None:
    alias = replace(NAMED, name="node1-ib")
    with pytest.raises(UserError, match=r"node1 and node1-ib of --hostfile are one host.*shared"):
        check([[NAMED], [alias]], Path("/run"), may_share=False)
    remark = check([[NAMED], [alias]], Path("/run"), may_share=True)
    assert remark is not None and "not from that of the host" in remark
    other = replace(NAMED, name="node2", own_name="two", boot="77aa")
    assert check([[NAMED, alias], [other]], Path("/run"), may_share=False) is None


def test_containers_of_one_machine_are_hosts_but_a_word_is_said() -> None:
    container = replace(NAMED, name="node2", own_name="two", network="net:2")
    remark = check([[NAMED], [container]], Path("/run"), may_share=False)
    assert remark == "node1 and node2 are on one machine: its loss would be that of several planes"


def test_a_run_directory_that_some_host_does_not_see_is_refused() -> None:
    blind = replace(NAMED, name="node2", boot="77aa", sees_run_directory=False)
    with pytest.raises(UserError, match=r"node2 cannot see /run.*--run-dir"):
        check([[NAMED], [blind]], Path("/run"), may_share=False)


def test_what_a_host_answers_is_told_from_other_lines() -> None:
    assert parse("resprout-host node1 one 0d5c net:1 sees") == NAMED
    assert parse("resprout-host - one 0d5c net:1 misses") == replace(
        NAMED, name="one", sees_run_directory=False
    )
    assert parse("Warning: Permanently added node1 to the list") is None


LOST_HOST = b"""\
--------------------------------------------------------------------------
PRTE has lost communication with a remote daemon.

  HNP daemon   : [prterun-nodeA-7706@0,0] on node nodeA
  Remote daemon: [prterun-nodeA-7706@0,2] on node nodeD
"""


def test_a_plane_that_has_lost_a_host_is_lost_though_its_ranks_came_to_their_ends_there() -> None:
    assert how_it_ended(Parts({0: part(0, 0)}), end(), 1, LOST_HOST) == "lost"
    assert lost_host(LOST_HOST) == "nodeD"
    words = b"A daemon failed to report back after being spawned.\n\n  Remote host:   nodeC\n"
    assert lost_host(words) == "nodeC"
    assert lost_host(b"plm:ssh: Warning: setpgid failed") is None


def test_ranks_that_leave_nothing_were_killed_if_their_launcher_complains() -> None:
    started = Parts(started={0: 100, 1: 101})
    assert how_it_ended(started, end(), 2, b"-----\nsomething about daemons\n") == "lost"
    assert how_it_ended(started, end(), 2, b"") == "whole"
    saw_a_loss = Parts({0: part(0, None, finalized=False)}, started={0: 100, 1: 101})
    assert how_it_ended(saw_a_loss, end(), 2) == "lost"


def test_a_loss_is_known_as_soon_as_a_rank_leaves_word_of_it(tmp_path: Path) -> None:
    has_lost = LossWatch(tmp_path)
    assert not has_lost()
    (tmp_path / "rank-0.json").write_text('{"losses": []}')
    (tmp_path / "rank-1.json").write_text('{"los')
    assert not has_lost()
    (tmp_path / "rank-1.json").write_text('{"losses": [{"rank": 2}]}')
    assert has_lost()
    (tmp_path / "rank-1.json").unlink()
    assert has_lost()


def test_a_fault_names_its_plane() -> None:
    faults = parse_faults(["kill:rank=1,replica=2,at=1s", "kill:rank=0,at=1s"], 2, replicas=3)
    assert [(fault.rank, fault.replica) for fault in faults] == [(1, 2), (0, 0)]
    assert str(faults[0]) == "kill:rank=1,at=1s"
    (chosen,) = parse_faults(["kill:count=1,replica=1,within=1s"], 2, replicas=2)
    assert chosen.replica == 1
    with pytest.raises(UserError, match="there is one without --replicas"):
        parse_faults(["kill:rank=1,replica=1,at=1s"], 2)
    with pytest.raises(UserError, match="of which there are 2"):
        parse_faults(["kill:rank=1,replica=2,at=1s"], 2, replicas=2)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--replicas", "4"], "1, 2 or 3"),
        (["--replicas", "2", "--on-loss", "error"], "--on-loss error"),
        (["--replicas", "2", "--missing", "last"], "--missing"),
        (["--replicas", "2", "--on-unanswered", "ignore"], "--on-unanswered"),
        (["--inject", "kill:rank=0,replica=1,at=1s"], "without --replicas"),
        (["--replicas", "2", "--verify", "hash"], "all-to-all, msg-plus-hash"),
        (["--replicas", "2", "--on-corruption", "ignore"], "abort, report"),
        (["--verify", "async"], "--verify needs --replicas 2 or 3"),
        (["--replicas", "2", "--verify", "async", "--shadow-lag", "1"], "messages, 2 or more"),
        (["--replicas", "2", "--verify", "async", "--shadow-lag", "9MB"], "64MiB or 1GiB; or none"),
        (["--replicas", "2", "--shadow-lag", "9"], "--shadow-lag needs --verify async"),
        (["--replicas", "3", "--verify", "async", "--straggler-wait", "1m"], "as 30 or 0.5"),
        (["--straggler-wait", "1"], "--straggler-wait needs --replicas 2 or 3"),
        (["--on-corruption", "report"], "--on-corruption needs --replicas 2 or 3"),
        (["--on-replica-loss", "stand-in"], "--on-replica-loss needs --replicas 2 or 3"),
        (["--replicas", "2", "--on-replica-loss", "wait"], "end-plane, stand-in"),
    ],
)
def test_what_replicas_cannot_do_is_refused_in_one_line(
    fake_mpi: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    words = ["run", "-n", "2", "--mpi", str(fake_mpi), *options, "--", "true"]
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line, line


def test_where_two_copies_differ_it_is_said_what_in_the_program_may_have_done_it() -> None:
    *_, hint = describe([corruption("abort")])
    assert "MALLOC_PERTURB_=255" in hint and "never written" in hint
