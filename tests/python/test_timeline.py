"""`resprout timeline`: what is in its pictures, and which processes."""

import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from resprout import native
from resprout.cli import main
from resprout.errors import UserError
from resprout.timeline.layout import Layout
from resprout.timeline.ranks import (
    NAMED_MAX,
    SHOWN_MAX,
    interesting_ranks,
    omitted_ranges,
    parse_ranks,
)
from resprout.timeline.story import Story

ROOT = Path(__file__).resolve().parents[2]
Draw = Callable[..., str]


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Draws with these arguments; gives the text of the SVG."""

    def drawn(*arguments: str) -> str:
        path = tmp_path / "drawn.svg"
        assert main(["timeline", *arguments, "-o", str(path)]) == 0
        return path.read_text()

    return drawn


def ids(svg: str, kind: str) -> list[str]:
    """What follows `kind-` in the ids that start so."""
    return re.findall(rf'id="{kind}-([^"]*)"', svg)


def story_of(spec: str, *, faults: str = "none", seed: int = 0, **machine: int) -> Story:
    run = native.Simulation(spec, trace=True, **machine).run(faults=faults, seed=seed)
    operation = {p["name"]: p["operation"] for p in native.protocols()}[spec.partition(":")[0]]
    return Story(run, operation, machine.get("root", 0))


def test_figure_5_of_the_paper_a_lame_tree_of_order_3_colors_9_processes_in_7(draw: Draw) -> None:
    svg = draw(
        "corrected-tree:tree=lame,k=3,correction=none", "-P", "9", "-L", "1", "--overhead", "1"
    )
    colored = dict(text.split("-") for text in ids(svg, "deliver"))
    assert [int(colored[str(rank)]) for rank in range(9)] == [0, 3, 4, 5, 6, 6, 7, 7, 7]
    assert len(ids(svg, "send")) == len(ids(svg, "receive")) == 8
    assert "all colored, quiescence: 7" in svg
    assert "time in ticks" in svg
    assert "P = 9, L = 1, o = 1 ticks" in svg
    assert "corrected-tree:tree=lame,k=3,correction=none" in svg


def test_there_is_a_box_for_each_send_and_each_receive(draw: Draw) -> None:
    arguments = ("-P", "32", "--faults", "10%", "--seed", "5")
    svg = draw("corrected-tree:correction=checked", *arguments)
    messages = story_of("corrected-tree", procs=32, faults="10%", seed=5).messages
    received = [i for i, message in enumerate(messages) if message["received"] is not None]
    assert ids(svg, "send") == ids(svg, "flight") == [str(i) for i in range(len(messages))]
    assert ids(svg, "receive") == [str(i) for i in received]
    assert len(ids(svg, "lost")) == len(messages) - len(received) > 0


def test_ids_are_unique(draw: Draw) -> None:
    svg = draw("corrected-tree", "-P", "200", "--faults", "10", "--fail-at", "5@9")
    every = re.findall(r' id="([^"]*)"', svg)
    assert len(every) == len(set(every))


def test_the_dead_that_are_drawn_are_those_that_the_simulation_drew(draw: Draw) -> None:
    svg = draw("corrected-tree", "-P", "60", "--faults", "10%", "--seed", "3")
    dead = {int(rank) for rank in ids(svg, "dead")}
    assert len(dead) == 6
    story = story_of("corrected-tree", procs=60, faults="10%", seed=3)
    assert dead == story.died.keys()
    assert not dead & story.finished.keys()


def test_who_dies_on_the_way_has_a_mark_and_who_dies_after_the_end_has_none(draw: Draw) -> None:
    svg = draw("corrected-tree", "-P", "8", "--fail-at", "3@7", "--fail-at", "4@1000")
    assert ids(svg, "death") == ids(svg, "dead") == ["3"]
    assert "dies at 7" in svg


@pytest.mark.parametrize("start", ["synchronized", "overlapped"])
@pytest.mark.parametrize("numbering", ["interleaved", "in-order"])
def test_the_longest_gap_that_is_drawn_is_the_one_that_is_measured(
    start: str, numbering: str
) -> None:
    spec = f"corrected-tree:correction=checked,start={start},numbering={numbering}"
    longest = []
    for seed in range(25):
        story = story_of(spec, procs=97, root=90, faults="8%", seed=seed)
        longest.append(max((gap.size for gap in story.gaps), default=0))
        assert longest[-1] == story.run["g_max"]
    assert len(set(longest)) > 1


def test_a_gap_goes_over_the_end_of_the_ring(draw: Draw) -> None:
    arguments = ("-P", "16", "--root", "4", "--faults", "15,0")
    story = story_of("corrected-tree", procs=16, root=4, faults="15,0")
    (gap,) = (gap for gap in story.gaps if 15 in gap.ranks())
    assert {15, 0} <= set(gap.ranks())
    assert len(gap.neighbors()) == 2
    assert not set(gap.neighbors()) & set(gap.ranks())
    svg = draw("corrected-tree", *arguments)
    # In two parts: at the foot and at the head of the picture.
    assert len([text for text in ids(svg, "gap") if text.startswith(f"{gap.first}-")]) == 2


def test_gaps_last_until_correction_colors_them(draw: Draw) -> None:
    svg = draw("corrected-tree:correction=checked", "-P", "16", "--faults", "2,3")
    assert ids(svg, "uncolored") == ["6", "7", "10", "11", "14", "15"]
    for text in ("correction starts: 16", "all colored: 21", "quiescence: 29", "gap of 2"):
        assert text in svg


def test_of_a_reduction_combining_and_starting_again_are_marked(draw: Draw) -> None:
    svg = draw("ftco-allreduce", "-P", "8", "-L", "4", "--fail-at", "0@16")
    simulation = native.Simulation("ftco-allreduce", procs=8, latency=4, trace=True)
    events = simulation.run(fail_at=["0@16"])["trace"]["events"]
    for kind in ("combine", "restart", "exclude", "deliver"):
        said = {f"{event['rank']}-{event['at']}" for event in events if event["kind"] == kind}
        assert set(ids(svg, kind)) == said != set()
    assert "all have returned, quiescence: 56" in svg
    assert "gap of" not in svg


def test_the_path_leads_from_the_root_to_the_last_that_was_colored() -> None:
    story = story_of("corrected-tree", procs=500, root=7, faults="5%", seed=2)
    path = story.path
    assert path[0]["to"] == story.last
    assert path[0]["received"] == story.run["coloring_latency"]
    assert path[-1]["from"] == 7
    for later, earlier in itertools.pairwise(path):
        assert later["from"] == earlier["to"]
        assert earlier["received"] is not None
        assert earlier["received"] <= later["sent"]


def test_up_to_64_processes_are_all_shown(draw: Draw) -> None:
    svg = draw("corrected-tree:correction=none", "-P", "64")
    assert not ids(svg, "break")
    assert len(ids(svg, "deliver")) == 64


def test_of_many_processes_those_are_shown_that_tell_the_story(draw: Draw) -> None:
    story = story_of("corrected-tree", procs=4096, faults="0.1%", seed=1)
    shown = interesting_ranks(story)
    assert len(shown) <= SHOWN_MAX
    assert {0, story.last} <= set(shown)
    assert {message["from"] for message in story.path} <= set(shown)
    assert story.died.keys() <= set(shown)
    largest = max(story.gaps, key=lambda gap: len(set(gap.ranks()) - story.died.keys()))
    assert {*largest.ranks(), *largest.neighbors()} <= set(shown)
    for rank in set(largest.ranks()) - story.died.keys():
        message = story.finished_by(rank)
        assert message is not None
        assert message["kind"] == "correction"
        assert message["from"] in shown
    svg = draw("corrected-tree", "-P", "4096", "--faults", "0.1%", "--seed", "1")
    ranges = [tuple(map(int, text.split("-"))) for text in ids(svg, "break")]
    assert ranges == omitted_ranges(shown, 4096)
    hidden = {rank for first, last in ranges for rank in range(first, last + 1)}
    assert hidden == set(range(4096)) - set(shown)
    assert f"Shown: {len(shown)} of 4096 processes, 4 of 4 dead" in svg


def test_with_more_dead_than_there_is_room_for_the_picture_stays_readable() -> None:
    for spec in ("corrected-tree", "ftco-allreduce"):
        story = story_of(spec, procs=2000, faults="30%", seed=4)
        shown = interesting_ranks(story)
        assert SHOWN_MAX // 2 < len(shown) <= SHOWN_MAX
        assert story.died.keys() & set(shown)


def test_of_a_reduction_the_dead_whom_most_have_called_are_shown() -> None:
    story = story_of("ftco-allreduce", procs=2000, faults="30%", seed=4)
    calls = Counter(m["to"] for m in story.messages if m["received"] is None)
    assert {rank for rank, _ in calls.most_common(3)} <= set(interesting_ranks(story))


def test_of_a_path_that_is_too_long_the_end_is_shown() -> None:
    story = story_of("corrected-tree:tree=kary,k=1,correction=none", procs=300)
    shown = interesting_ranks(story)
    assert set(range(280, 300)) | {0} <= set(shown)
    assert len(shown) <= SHOWN_MAX


def test_messages_to_ranks_that_are_left_out_end_in_their_break(draw: Draw) -> None:
    svg = draw("corrected-tree", "-P", "100", "--ranks", "0-2,50", "--faults", "3,4")
    messages = story_of("corrected-tree", procs=100, faults="3,4").messages
    shown = {0, 1, 2, 50}
    sends = [i for i, message in enumerate(messages) if message["from"] in shown]
    touching = [i for i, m in enumerate(messages) if {m["from"], m["to"]} & shown]
    assert ids(svg, "send") == [str(i) for i in sends]
    assert ids(svg, "flight") == [str(i) for i in touching]
    assert ids(svg, "break") == ["3-49", "51-99"]
    story = story_of("corrected-tree", procs=100)
    layout = Layout(story, [0, 1, 2, 50], 1)
    assert layout.y_of(2) < layout.y_of(3) == layout.y_of(49) < layout.y_of(50) < layout.y_of(99)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("3", [3]), ("0-5,9", [0, 1, 2, 3, 4, 5, 9]), ("9, 2-3,3", [2, 3, 9]), ("7-7", [7])],
)
def test_ranks_can_be_named(text: str, ranks: list[int]) -> None:
    assert parse_ranks(text, 10) == ranks


@pytest.mark.parametrize("text", ["", "3,", "-1", "5-2", "a", "0-10", "10", "1--2", "0x1"])
def test_wrong_ranks_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"^--ranks: "):
        parse_ranks(text, 10)


def test_more_ranks_than_a_picture_can_hold_are_refused() -> None:
    with pytest.raises(UserError, match=str(NAMED_MAX)):
        parse_ranks("0-99999999", 100000000)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_same_run_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    arguments = ["timeline", "corrected-tree", "-P", "80", "--faults", "5%", "-o"]
    here, elsewhere = tmp_path / f"here.{ending}", tmp_path / f"elsewhere.{ending}"
    assert main([*arguments, str(here)]) == 0
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "resprout", *arguments, str(elsewhere)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert here.read_bytes() == elsewhere.read_bytes()
    heads = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert here.read_bytes().startswith(heads[ending])


def test_a_pdf_has_its_fonts_in_it(tmp_path: Path) -> None:
    picture = tmp_path / "run.pdf"
    assert main(["timeline", "corrected-tree", "-P", "8", "-o", str(picture)]) == 0
    written = picture.read_bytes()
    assert b"/FontFile2" in written
    assert b"/Type3" not in written


def test_settings_of_the_user_s_own_matplotlib_are_neither_used_nor_changed(draw: Draw) -> None:
    import matplotlib as mpl

    arguments = ("corrected-tree", "-P", "8")
    plain = draw(*arguments)
    with mpl.rc_context({"font.size": 20.0, "axes.grid": True}):
        assert draw(*arguments) == plain
        assert mpl.rcParams["font.size"] == 20.0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["corrected-tree:tree=palm", "-P", "4"], "palm"),
        (["corrected-tree", "-P", "0"], "procs=0"),
        (["corrected-tree", "-P", "300000"], "300000"),
        (["corrected-tree", "-P", "4", "--faults", "4"], "a count below 4"),
        (["corrected-tree", "-P", "4", "--faults", "9,"], "9"),
        (["corrected-tree", "-P", "4", "--faults", "0,3"], "fail-at 0@0"),
        (["corrected-tree", "-P", "4", "--fail-at", "soon"], "soon"),
        (["corrected-tree", "-P", "4", "--root", "4"], "root=4"),
        (["corrected-tree", "-P", "4", "--overhead", "0"], "overhead=0"),
        (["corrected-tree", "-P", "4", "--ranks", "2-9"], "--ranks: 9"),
        (["corrected-tree", "-P", "4", "-o", "picture.jpg"], "picture.jpg"),
        (["corrected-tree", "-P", "4", "-o", "1"], "'1'"),
        (["corrected-tree", "-P", "4", "-o", "no/such/folder.svg"], "no/such/folder.svg"),
    ],
)
def test_wrong_arguments_are_one_line_and_no_file(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["timeline", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert named in said.err
    assert not list(tmp_path.iterdir())


def test_a_picture_that_cannot_be_written_leaves_nothing_and_spares_what_was_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    assert main(["timeline", "corrected-tree", "-P", "4", "-o", str(folder)]) == 2
    assert "folder.svg cannot be written" in capsys.readouterr().err
    before = tmp_path / "before.svg"
    before.write_text("what was there")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert main(["timeline", "corrected-tree", "-P", "4", "-o", str(before)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert before.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["before.svg", "folder.svg"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("corrected-tree", "-P", "1"),
        ("corrected-tree", "-P", "6", "--faults", "3,", "--fail-at", "0@0"),
        ("reliable-broadcast", "-P", "10", "--fail-at", "0@2", "-L", "5"),
        ("ftco-reduce", "-P", "70", "--faults", "3%", "--root", "5"),
        ("corrected-tree", "-P", "5", "-L", "100000", "--overhead", "5000"),
    ],
)
def test_edge_cases_are_drawn(draw: Draw, arguments: tuple[str, ...]) -> None:
    svg = draw(*arguments)
    assert "quiescence" in svg
    assert svg.rstrip().endswith("</svg>")


def test_the_picture_of_the_readme_is_what_its_command_draws(draw: Draw) -> None:
    readme = (ROOT / "README.md").read_text()
    command = re.search(r"`resprout timeline (ftco-allreduce [^`]*) -o (\S+\.svg)`", readme)
    assert command is not None
    committed = (ROOT / command[2]).read_text()
    drawn = draw(*command[1].split())
    for kind in ("send", "receive", "dead", "death", "combine", "restart", "deliver", "milestone"):
        assert ids(committed, kind) == ids(drawn, kind)
