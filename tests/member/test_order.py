"""`resprout member --order FILE`: the tree follows a file, whoever joins when and whoever dies.

Addresses of the loopback stand for hosts: 127.0.1.N.
"""

import json
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from groups import PATIENCE, Group, Process
from resprout.cli import main
from resprout.member import Member

RADIX = 4


class Ordered(Group):
    """Members of one order, each on a host of its own."""

    def __init__(self, order: Path, radix: int = RADIX) -> None:
        super().__init__(radix=radix, order=str(order))

    def join(self, host: int, port: int = 0) -> Process:
        """One that joins any member, or is the first one; it is in a view then."""
        friend = self.processes[-1].address if self.processes else None
        process = self.start(friend, f"127.0.1.{host}:{port}")
        self.wait(lambda: bool(process.view[0]))
        return process


Make = Callable[..., Ordered]


@pytest.fixture
def ordered(tmp_path: Path) -> Iterator[Make]:
    """Makes a group with these lines as its order."""
    made: list[Ordered] = []

    def make(*lines: str) -> Ordered:
        file = tmp_path / "order.txt"
        file.write_text("\n".join(lines) + "\n")
        made.append(Ordered(file))
        return made[-1]

    yield make
    for one in made:
        one.end()


def hosts(*numbers: int) -> list[str]:
    return [f"127.0.1.{number}" for number in numbers]


def test_members_have_the_places_of_their_lines_in_whatever_order_they_join(ordered: Make) -> None:
    members = ordered("# from the root on", *hosts(9, 8, 7, 6, 5, 4))
    ids = {host: members.join(host).id for host in (7, 4, 9, 6, 8, 5)}
    assert ids == {9: 0, 8: 1, 7: 2, 6: 3, 5: 4, 4: 5}
    members.agree(range(6))
    assert members.of(5).said("view")[-1]["root"] == 0
    assert members.of(5).said("view")[-1]["place"] == 5


def test_many_that_come_at_once_have_the_places_of_their_lines(ordered: Make) -> None:
    """Most of them come below the root of the moment and are root in their turn."""
    members = ordered(*hosts(*range(1, 41)))
    members.join(30)
    for host in random.Random(2).sample(range(1, 41), 40):
        if host != 30:
            members.start(members.processes[0].address, f"127.0.1.{host}:0")
    members.agree(range(40))
    for process in members.processes:
        assert process.address.startswith(f"127.0.1.{process.id + 1}:")


def test_racks_that_come_by_turns_stand_together_in_the_tree(ordered: Make) -> None:
    rack = {host: host % 3 for host in range(1, 13)}
    members = ordered(*(f"127.0.1.{host} rack{rack[host]}" for host in sorted(rack)))
    at = {members.join(host).id: rack[host] for host in (5, 12, 1, 8, 3, 10, 2, 7, 11, 4, 9, 6)}
    between = [place for place in at if place > 0 and at[place] != at[(place - 1) // RADIX]]
    assert len(between) == len(set(rack.values())) - 1
    members.agree(at)


def test_who_is_in_no_line_gets_a_place_that_the_order_gives_nobody(ordered: Make) -> None:
    """Also if it is the first one of all."""
    members = ordered(*hosts(1, 2, 3))
    strangers = [members.join(77)]
    assert members.join(2).id == 1
    strangers.append(members.join(78))
    assert [members.join(host).id for host in (1, 3)] == [0, 2]
    assert all(one.said("view")[-1]["place"] is None for one in strangers)
    assert all(one.id > 2 for one in strangers)
    members.agree({0, 1, 2} | {one.id for one in strangers})


def test_of_two_on_one_line_the_second_gets_another_place_and_both_stay(ordered: Make) -> None:
    members = ordered(*hosts(1, 2, 3))
    assert [members.join(host).id for host in (1, 2)] == [0, 1]
    second = members.join(2)
    assert second.id > 2
    assert second.said("view")[-1]["place"] == 1
    members.agree({0, 1, second.id})


def test_a_place_whose_member_has_died_goes_to_who_comes_to_its_host(ordered: Make) -> None:
    """Also if that is a new process at another port, and also the root's."""
    members = ordered(*hosts(1, 2, 3))
    addresses = [members.join(host).address for host in (1, 2, 3)]
    for place in (1, 0):
        members.kill(place)
        members.agree({0, 1, 2} - {place})
        new = members.join(place + 1)
        assert new.id == place
        assert new.address not in addresses
        members.agree(range(3))


def test_a_line_may_have_the_name_of_a_host(ordered: Make) -> None:
    members = ordered("127.0.1.1", "some-other-host", socket.gethostname())
    assert [members.join(host).id for host in (1, 50)] == [0, 2]
    members.agree({0, 2})


def test_lines_with_a_port_tell_members_of_one_host_apart(
    ordered: Make, free_ports: list[int]
) -> None:
    lines = [f"127.0.1.1:{port}" for port in free_ports]
    members = ordered(*lines)
    ids = [members.join(1, port).id for port in reversed(free_ports)]
    assert ids == list(reversed(range(len(free_ports))))
    members.agree(range(len(free_ports)))


@pytest.fixture
def free_ports() -> list[int]:
    """Below those that connections begin at: nobody else takes one in the meantime."""
    ports = []
    for port in range(20_000, 32_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.1.1", port))
            except OSError:
                continue
            ports.append(port)
        if len(ports) == 3:
            break
    return ports


def test_the_command_says_if_a_member_is_not_where_the_order_has_it(tmp_path: Path) -> None:
    order = tmp_path / "order.txt"
    order.write_text("127.0.1.1\n127.0.1.2\n")
    command = [sys.executable, "-m", "resprout", "member", "--order", str(order)]
    command += ["--json", "--listen"]
    running: list[subprocess.Popen[str]] = []

    def start(*options: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        running.append(subprocess.Popen([*command, *options], stdout=pipe, stderr=pipe, text=True))
        return running[-1]

    try:
        first = start("127.0.1.1:0").stdout
        assert first is not None
        event = json.loads(first.readline())
        assert (event["event"], event["self"], event["place"]) == ("view", 0, 0)
        for host, id, why in (
            ("127.0.1.1", 2, f"{order} has this member at 0, where another one is or was"),
            ("127.0.1.9", 5, f"{order} does not name 127.0.1.9:"),
        ):
            warned = start(f"{host}:0", "--join", event["address"]).stderr
            assert warned is not None
            said = warned.readline()
            assert why in said
            assert said.endswith(f"; it has place {id}\n")
    finally:
        for process in running:
            process.kill()
            process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a:b:c\n", ":1: 'a:b:c' is not HOST or HOST:PORT, as node7 or 10.1.0.7:4000"),
        ("# x\nnode1\nNODE1\n", ":3: 'node1' stands in line 2 already"),
        ("node1 rack 1\n", ":1: '1' is too much: a line is HOST or HOST:PORT, and perhaps a GROUP"),
        ("\xff\xfe\x00", ":1: '"),
        ("", ": it names nobody"),
        (None, ": No such file or directory"),
    ],
)
def test_what_is_no_order_is_refused_with_its_line(
    text: str | None, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "order.txt"
    if text is not None:
        file.write_bytes(text.encode("latin-1"))
    assert main(["member", "--listen", "127.0.0.1:0", "--order", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"order: {file}{complaint}" in said
    assert said.count("\n") == 1


def test_a_directory_is_no_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["member", "--listen", "127.0.0.1:0", "--order", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"resprout: order: {tmp_path}: Is a directory\n"


def test_in_python_a_member_has_its_place_from_the_first_view_on(tmp_path: Path) -> None:
    order = tmp_path / "order.txt"
    order.write_text("127.0.1.8\n127.0.1.9\n")
    member = Member("127.0.1.9:0", order=order)
    event = next(member.events())
    assert (event["event"], event["members"], event["place"]) == ("view", [1], 1)
    member.close()
