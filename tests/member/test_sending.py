"""What members say to each other: heard in the view in which it was said, once, in order."""

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import permutations
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from groups import PATIENCE
from resprout.errors import UserError
from resprout.member import Member

LONGEST = 1_000_000


def talk(pipe: Connection, join: str | None) -> None:
    """A member that says numbers to all while it is told to, and tells what it says and hears."""
    is_talking = False
    number = 0
    with Member(
        "127.0.0.1:0", join, heartbeat_period_ms=100, heartbeat_timeout_ms=60_000
    ) as member:
        while True:
            if pipe.poll():
                is_talking = pipe.recv()
            if is_talking:
                number += 1
                pipe.send(("said", number, member.send(b"%d" % number)))
            while (line := member.poll(5)) is not None:
                event = json.loads(line)
                if event["event"] == "view":
                    pipe.send(
                        ("view", event["epoch"], event["members"], event["self"], event["address"])
                    )
                elif event["event"] == "message":
                    pipe.send(("heard", event["from"], int(member.data()), event["epoch"]))


class Talker:
    def __init__(self, join: str | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=talk, args=(theirs, join), daemon=True)
        self.process.start()
        theirs.close()
        self.told: list[tuple[Any, ...]] = []

    def read(self) -> None:
        with suppress(EOFError, ConnectionResetError):
            while self.pipe.poll():
                self.told.append(self.pipe.recv())

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        return [told[1:] for told in self.told if told[0] == kind]

    @property
    def members(self) -> list[int]:
        views = self.of("view")
        return list(views[-1][1]) if views else []

    @property
    def id(self) -> int:
        return int(self.of("view")[0][2])

    @property
    def address(self) -> str:
        return str(self.of("view")[0][3])


def wait_until(talkers: list[Talker], is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, [talker.of("view") for talker in talkers]
        for talker in talkers:
            talker.read()
        time.sleep(0.01)


@pytest.fixture
def talkers() -> Iterator[list[Talker]]:
    made: list[Talker] = []
    yield made
    for talker in made:
        talker.process.kill()
        talker.process.join()


def everything_was_heard(talkers: list[Talker], epoch: int) -> bool:
    """Of what was said in the view `epoch`, by these to these."""
    for sender, receiver in permutations(talkers, 2):
        said = {number for number, view in sender.of("said") if view == epoch}
        heard = {n for who, n, view in receiver.of("heard") if (who, view) == (sender.id, epoch)}
        if not said or heard != said:
            return False
    return True


def test_messages_among_members_of_whom_one_is_killed(talkers: list[Talker]) -> None:
    count = 5
    for _ in range(count):
        talkers.append(Talker(talkers[0].address if talkers else None))
        wait_until(talkers, lambda: bool(talkers[-1].members))
    wait_until(talkers, lambda: all(len(t.members) == count for t in talkers))
    for talker in talkers:
        talker.pipe.send(True)
    wait_until(talkers, lambda: all(len(t.of("heard")) > 20 * count for t in talkers))
    victim, survivors = talkers[2], [*talkers[:2], *talkers[3:]]
    assert victim.process.pid is not None
    os.kill(victim.process.pid, signal.SIGKILL)
    wait_until(talkers, lambda: all(len(t.members) == count - 1 for t in survivors))
    last = max(epoch for talker in survivors for epoch, *_ in talker.of("view"))
    wait_until(talkers, lambda: all(t.of("said")[-1][1] == last for t in survivors))
    for talker in survivors:
        talker.pipe.send(False)
    # Nothing is lost in a view that stays.
    wait_until(talkers, lambda: everything_was_heard(survivors, last))

    said = {talker.id: dict(talker.of("said")) for talker in talkers}
    for talker in talkers:
        for sender, own in said.items():
            heard = [(n, epoch) for who, n, epoch in talker.of("heard") if who == sender]
            numbers = [number for number, _ in heard]
            assert numbers == sorted(set(numbers)), "once, and in order"
            # Of the last one the victim may have had no time to tell.
            wrong = [n for n, epoch in heard if own.get(n, epoch) != epoch]
            assert wrong == [], "in the view in which it was said"
            assert sender == talker.id or any(epoch < last for _, epoch in heard)


def test_what_cannot_be_said_is_refused() -> None:
    with Member("127.0.0.1:0") as member:
        with pytest.raises(UserError, match="7 is no other member of this view"):
            member.send(b"to nobody", to=7)
        while member.poll(1000) is None:
            continue
        # Alone in its view: nobody has to hear it.
        assert member.send(b"to all") == 1
        with pytest.raises(UserError, match="1000001 bytes are more than 1000000"):
            member.send(bytes(LONGEST + 1))
        with pytest.raises(UserError, match="9 is no other member of this view"):
            member.send(b"to nobody", to=9)
        assert member.data() == b""


def test_with_local_views_nothing_is_said(tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.write_text("127.0.0.1:47719\n")
    with Member("127.0.0.1:47719", views="local", order=order) as member:
        while member.poll(1000) is None:
            continue
        with pytest.raises(UserError, match="local views"):
            member.send(b"to all")
