"""The report as a page: whole, of one file, and with everything in its pictures that happened."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from resprout.cli import main
from resprout.report.as_json import to_json
from resprout.report.job import Loss, PlaneEnd, Report, Return, Touched
from resprout.report.lives import Life
from resprout.report.page.page import page
from resprout.report.page.pictures import CLOSE_UPS_MAX, ROWS_MAX
from resprout.report.ranks import Tally
from resprout.report.views import View

SECOND, MS = 10**9, 10**6
VOID = {"meta", "path", "br"}


def loss(rank: int, died_ns: int, life: int = 0) -> Loss:
    fault = f"kill:rank={rank},at=2s"
    found = died_ns + MS
    return Loss(rank, 100, "a", "killed", None, fault, died_ns, found, 1, (), life=life)


def report(ranks: int = 4, losses: tuple[Loss, ...] = (), **more: Any) -> Report:
    options: dict[str, Any] = {"operations": {"allreduce": Tally(1200, 3, 2, 1)}, **more}
    command = ("./program", "<b>&")
    return Report(command, "MPI", "continue", ranks, 0, 10 * SECOND, 0, 0, losses, **options)


def lossy() -> Report:
    touched = Touched("allreduce", 41, "world", (3,), 3, 5 * MS, 2 * SECOND + 2 * MS)
    view = View(2, (3,), 3, 2 * SECOND + MS, 2 * SECOND + 3 * MS, 0, 2 * SECOND + 9 * MS)
    return report(losses=(loss(3, 2 * SECOND),), touched=(touched,), views=(view,))


class Reader(HTMLParser):
    """Complains about what is not closed, and keeps the text and all values of attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {name for name, _ in attrs} | {tag}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data + " "


def read(of: Report) -> Reader:
    reader = Reader()
    reader.feed(page(json.loads(json.dumps(to_json(of)))))
    assert not reader.open
    return reader


def pictures(of: Report) -> list[ElementTree.Element]:
    text = page(json.loads(json.dumps(to_json(of))))
    return [ElementTree.fromstring(one) for one in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def marks(picture: ElementTree.Element, kind: str) -> list[str]:
    """What the marks of that kind say."""
    found = [one for one in picture.iter() if kind in one.get("class", "").split()]
    return [one.findtext("title", "") for one in found]


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    text = page(to_json(lossy()))
    assert not re.search(r"https?:|url\(|@import|//[a-z]", text)
    assert not read(lossy()).names & {"script", "src", "href", "link", "img", "onload"}
    assert "default-src 'none'" in text


def test_what_the_job_says_of_itself_is_text_and_no_markup() -> None:
    reader = read(report())
    assert "<b>&" in reader.text
    assert "b" not in reader.names


def test_the_picture_of_the_job_has_a_row_for_each_rank_and_a_mark_for_each_loss() -> None:
    whole, close = pictures(lossy())
    assert [one.text for one in whole.iter("text") if one.get("class") == "name"] == [
        "rank 0", "rank 1", "rank 2", "rank 3"
    ]  # fmt: skip
    assert marks(whole, "loss") == ["rank 3 was killed (kill:rank=3,at=2s)"]
    assert len(marks(whole, "view")) == 1
    bars = list(whole.iter("rect"))
    assert float(bars[3].get("width", 0)) == pytest.approx(float(bars[0].get("width", 0)) / 5, 0.01)
    assert marks(close, "recovery") == ["allreduce#41 lost rank 3 and went on after 5 ms"]
    assert marks(close, "view") == ["3 ranks agreed on view 2, without rank 3, within 8 ms"]
    assert marks(close, "unknown") == ["rank 1 found that rank 3 was lost, after 1 ms"]


def test_the_table_has_what_happened_in_its_order() -> None:
    text = read(lossy()).text
    at = [text.index(one, text.index("What happened")) for one in (
        "2.000000 s", "was killed", "found that rank 3", "2.002000 s", "went on after"
    )]  # fmt: skip
    assert at == sorted(at)
    assert "1,200" in text


def test_losses_far_from_each_other_are_shown_closely_each_and_of_many_the_first() -> None:
    few = report(losses=tuple(loss(rank, (rank + 1) * SECOND) for rank in range(3)))
    assert len(pictures(few)) == 1 + 3
    near = report(losses=tuple(loss(rank, SECOND + rank * MS) for rank in range(3)))
    assert len(pictures(near)) == 1 + 1
    many = report(ranks=20, losses=tuple(loss(rank, rank * SECOND // 2) for rank in range(20)))
    assert len(pictures(many)) == 1 + CLOSE_UPS_MAX


def test_of_many_ranks_those_are_shown_of_which_there_is_something_to_say() -> None:
    many = report(ranks=1000, losses=(loss(700, SECOND), loss(900, 2 * SECOND)))
    names = [one.text for one in pictures(many)[0].iter("text") if one.get("class") == "name"]
    assert names == ["rank 1", "rank 700", "rank 900"]
    assert "3 of 1000 ranks are shown" in read(many).text
    calm = [o for o in pictures(report(ranks=1000))[0].iter("text") if o.get("class") == "name"]
    assert len(calm) == ROWS_MAX


def test_a_job_that_was_started_again_has_a_row_for_each_life() -> None:
    lives = (
        Life(0, "lost", -SECOND, 0, 2 * SECOND, (2,), ("p",)),
        Life(1, "whole", 3 * SECOND, 4 * SECOND, 10 * SECOND, (), ("p",)),
    )
    of = report(losses=(loss(2, 2 * SECOND - MS, life=0),), lives=lives)
    (whole,) = pictures(of)
    assert marks(whole, "starting") == ["life 0 starts", "life 1 starts"]
    assert marks(whole, "alive") == ["life 0: lost", "life 1: whole"]
    assert len(marks(whole, "loss")) == 1


def test_planes_have_a_row_each_with_the_time_in_which_they_were_away() -> None:
    gone = report(losses=(loss(1, SECOND),))
    before = PlaneEnd(1, "lost", 1, 2 * SECOND, gone)
    back = PlaneEnd(1, "whole", 0, 9 * SECOND, report(), returns=(
        Return(before, 3 * SECOND, 4 * SECOND, 7),
    ))  # fmt: skip
    first = PlaneEnd(0, "whole", 0, 9 * SECOND, report())
    of = report(replicas=2, planes=(first, back))
    (whole,) = pictures(of)
    assert marks(whole, "alive") == ["plane 0: whole", "plane 1", "plane 1: whole"]
    assert marks(whole, "starting") == ["plane 1 comes back"]
    assert marks(whole, "loss") == ["rank 1 of plane 1 was killed (kill:rank=1,at=2s)"]
    assert "plane 1 was back from checkpoint 7" in read(of).text


def test_the_command_says_it_or_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "report.json", tmp_path / "report.html"
    source.write_text(json.dumps(to_json(lossy())))
    assert main(["report", str(source)]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "1 loss, status 0, 10.00 s"
    assert [line.split()[0] for line in rest] == ["2.000000", "2.001000", "2.001000", "2.002000"]
    assert main(["report", str(source), "--html", str(target)]) == 0
    assert target.read_text() == page(json.loads(source.read_text()))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "is no JSON"),
        ("[]", "is no report of `resprout run --report`"),
        ('{"schema": 9, "losses": [], "started_ns": 0}', "has schema 9; this Resprout reads 1"),
    ],
)
def test_what_is_no_report_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    (tmp_path / "x.json").write_text(text)
    assert main(["report", str(tmp_path / "x.json")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"x.json {expected}" in line
