"""`resprout member --views local`: nobody has the list, and all end in the same view."""

import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from groups import PATIENCE, Process
from resprout.cli import main
from resprout.errors import UserError
from resprout.member import Member
from resprout.member import group as real

RADIX = 2
WORD = (1 << 64) - 1


def name_of(ids: Iterable[int]) -> tuple[int, str]:
    """Count and digest of a view of these, as protocols/local_membership/message.hpp has them."""
    count = total = 0
    for id in ids:
        word = (id + 0x9E3779B97F4A7C15) & WORD
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & WORD
        total = (total + (word ^ (word >> 31))) & WORD
        count += 1
    return count, f"{total:016x}"


def last_view(process: Process) -> dict[str, Any]:
    return process.said("view")[-1]


class Local(real.Group):
    """Members of one file, which has more lines than there are members at any time."""

    def __init__(self, file: Path, size: int) -> None:
        super().__init__(views="local", order=str(file), radix=RADIX)
        # An address of its own: nobody else takes a port of it.
        pid = os.getpid()
        host = f"127.{10 + pid % 200}.{pid // 200 % 250}.2"
        probes = [socket.create_server((host, 0)) for _ in range(size)]
        self.addresses = [f"{host}:{probe.getsockname()[1]}" for probe in probes]
        for probe in probes:
            probe.close()
        file.write_text("# identifiers 0, 1, 2, ...\n" + "\n".join(self.addresses) + "\n")

    def come(self, id: int, contact: int | None = None) -> Process:
        join = None if contact is None else self.addresses[contact]
        return self.start(join, self.addresses[id])

    def is_in(self, process: Process) -> bool:
        return bool(process.view[0]) and process.events[-1]["event"] not in ("joining", "excluded")

    def agree(self, members: Iterable[int]) -> int:
        """Waits until all who live are in one view, of exactly them; its epoch."""
        wanted = sorted(members)
        assert len(self.processes) == len(wanted)
        name = (*name_of(wanted), wanted[0])

        def is_agreed() -> bool:
            if not all(self.is_in(p) for p in self.processes):
                return False
            views = [last_view(p) for p in self.processes]
            return {(v["count"], v["digest"], v["root"]) for v in views} == {name} and (
                len({v["epoch"] for v in views}) == 1
            )

        self.wait(is_agreed)
        assert sorted(p.id for p in self.processes) == wanted
        self.check()
        return int(last_view(self.processes[0])["epoch"])

    def check(self) -> None:
        """No two views of one epoch; epochs of a process grow; what it hears of changes is true."""
        views: dict[int, tuple[Any, ...]] = {}
        for process in self.processes:
            said = process.said("view")
            epochs = [v["epoch"] for v in said]
            assert epochs == sorted(set(epochs))
            for view in said:
                assert "members" not in view
                name = (view["count"], view["digest"], view["root"])
                assert views.setdefault(view["epoch"], name) == name


Make = Callable[..., Local]


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Make]:
    """Makes a group of so many, in one view; the file has `lines`."""
    made: list[Local] = []

    def make(size: int, lines: int = 12) -> Local:
        members = Local(tmp_path / "members.txt", lines)
        made.append(members)
        first = members.come(0)
        members.wait(lambda: bool(first.view[0]))
        for id in range(1, size):
            members.come(id, 0)
        members.agree(range(size))
        return members

    yield make
    for members in made:
        members.end()


def test_members_that_join_are_all_in_one_view_and_know_their_neighbors(local: Make) -> None:
    members = local(7)
    watched = {p.id: set(last_view(p)["neighbors"]) for p in members.processes}
    assert {1, 2} <= watched[0]
    assert {0, 3, 4} <= watched[1]
    assert not {2, 5, 6} & watched[1]


def test_a_killed_member_is_in_nobodys_view_and_all_hear_who_has_left(local: Make) -> None:
    members = local(7)
    before = last_view(members.of(6))["epoch"]
    members.kill(4)
    assert members.agree({0, 1, 2, 3, 5, 6}) > before
    assert all(any(4 in view["left"] for view in p.said("view")) for p in members.processes)
    assert members.of(0).said("decided")


def test_when_the_root_is_killed_the_next_one_is_root(local: Make) -> None:
    members = local(6)
    members.kill(0)
    members.agree(range(1, 6))


def test_a_founder_that_is_started_again_finds_its_group(local: Make, tmp_path: Path) -> None:
    members = local(1)
    members.kill(0)
    members.options["state"] = str(tmp_path / "group")
    members.come(0)
    members.agree([0])
    members.options["state"] = ""
    members.come(1, 0)
    members.come(2, 0)
    members.agree(range(3))
    members.kill(0)
    members.agree([1, 2])
    members.options["state"] = str(tmp_path / "group")
    again = members.come(0)
    members.agree(range(3))
    assert not again.said("founding")


def test_three_may_be_killed_at_once_the_root_among_them(local: Make) -> None:
    members = local(9)
    members.kill(0, 1, 4)
    members.agree({2, 3, 5, 6, 7, 8})


def test_all_but_one_may_be_killed(local: Make) -> None:
    members = local(4)
    members.kill(0, 1, 3)
    members.agree({2})


def test_a_new_member_is_in_whomever_it_asks(local: Make) -> None:
    members = local(5)
    members.come(7, 4)
    members.agree({0, 1, 2, 3, 4, 7})
    others = [p for p in members.processes if p.id != 7]
    assert all(any(7 in view["entered"] for view in p.said("view")) for p in others)


@pytest.mark.parametrize("victim", [0, 1, 5])
def test_who_is_started_again_is_in_under_its_old_identifier(local: Make, victim: int) -> None:
    members = local(6)
    members.kill(victim)
    members.agree(set(range(6)) - {victim})
    members.come(victim, 3)
    members.agree(range(6))


def test_who_is_started_again_at_once_is_in_too(local: Make) -> None:
    """Perhaps before anybody has noticed its end."""
    members = local(6)
    for victim in (1, 4, 0):
        members.kill(victim)
        members.come(victim, 3)
        members.agree(range(6))


def test_members_come_and_go_at_random(local: Make) -> None:
    members = local(8)
    rng = random.Random(3)
    for _ in range(4):
        living = {p.id for p in members.processes}
        victims = rng.sample(sorted(living), 2)
        members.kill(*victims)
        left = sorted(living - set(victims))
        news = rng.sample(sorted(set(range(12)) - set(left)), 2)
        for id in news:
            members.come(id, rng.choice(left))
        members.agree({*left, *news})


def test_the_command_prints_local_views(tmp_path: Path) -> None:
    members = Local(tmp_path / "members.txt", 2)
    command = [sys.executable, "-m", "resprout", "member", "--views", "local", "--json"]
    command += ["--order", str(tmp_path / "members.txt"), "--listen", members.addresses[1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            event = json.loads(process.stdout.readline())
        finally:
            process.kill()
            process.communicate(timeout=PATIENCE)
    count, digest = name_of([1])
    assert (event["event"], event["epoch"], event["self"], event["root"]) == ("view", 1, 1, 1)
    assert (event["count"], event["digest"]) == (count, digest)
    assert (event["neighbors"], event["entered"], event["left"]) == ([], [], [])
    assert "members" not in event and "place" not in event


@pytest.mark.parametrize(
    ("text", "options", "complaint"),
    [
        ("127.0.0.1:4000\n", ["--views", "half"], "views: 'half' is not whole or local"),
        (None, ["--views", "local"], "views: local ones need an order, with HOST:PORT of all"),
        ("127.0.0.1:4000\n", ["--views", "local"], "order: it does not name 127.0.0.1:"),
        ("127.0.0.1:1 a\n", ["--views", "local"], ":1: with local views a line is HOST:PORT"),
        (
            "# x\nnode7:4000\n",
            ["--views", "local"],
            ":2: with local views a line is HOST:PORT",
        ),
        ("", ["--views", "local"], ": it names nobody"),
    ],
)
def test_what_cannot_be_a_member_with_local_views_is_refused(
    text: str | None,
    options: list[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["member", "--listen", "127.0.0.1:0", *options]
    if text is not None:
        (tmp_path / "members.txt").write_text(text)
        words += ["--order", str(tmp_path / "members.txt")]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_in_python_a_member_does_not_join_itself(tmp_path: Path) -> None:
    members = Local(tmp_path / "members.txt", 2)
    own = members.addresses[0]
    with pytest.raises(UserError, match="where it listens itself"):
        Member(own, own, order=tmp_path / "members.txt", views="local")
