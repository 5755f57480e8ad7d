"""`resprout member`, the membership over TCP: real processes, real kills, one view in the end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import strangers
from groups import PATIENCE, Group
from resprout.cli import main
from resprout.errors import UserError
from resprout.member import Member, numeric

Make = Callable[..., Group]


@pytest.mark.parametrize("radix", [2, 4, 16])
def test_members_that_join_are_all_in_one_view(group: Make, radix: int) -> None:
    members = group(9, radix=radix)
    assert sorted(p.id for p in members.processes) == list(range(9))


def test_a_killed_member_is_in_nobodys_view(group: Make) -> None:
    members = group(8)
    before = members.processes[0].view[0]
    members.kill(3)
    assert members.agree({0, 1, 2, 4, 5, 6, 7}) > before
    assert any(p.said("suspected") for p in members.processes)
    assert members.of(0).said("decided")


def test_when_the_root_is_killed_the_next_one_is_root(group: Make) -> None:
    members = group(8)
    members.kill(0)
    members.agree(range(1, 8))
    assert members.of(5).said("view")[-1]["root"] == 1


def test_the_root_and_others_may_be_killed_at_once(group: Make) -> None:
    members = group(9)
    members.kill(0, 1, 4)
    members.agree({2, 3, 5, 6, 7, 8})


def test_all_but_one_may_be_killed(group: Make) -> None:
    members = group(6)
    members.kill(0, 1, 2, 3, 5)
    members.agree({4})


def test_a_new_member_gets_a_new_identifier_whomever_it_asks(group: Make) -> None:
    members = group(5)
    members.kill(4)
    members.agree(range(4))
    members.start(join=members.of(3).address)
    members.agree({0, 1, 2, 3, 5})


def test_a_member_that_is_started_again_has_its_old_identifier(group: Make) -> None:
    members = group(6)
    address = members.of(2).address
    members.kill(2)
    members.start(join=members.of(5).address, listen=address)
    members.agree(range(6))
    assert members.processes[-1].id == 2


def test_a_root_that_is_started_again_is_root_again(group: Make) -> None:
    members = group(5)
    address = members.of(0).address
    members.kill(0)
    members.agree(range(1, 5))
    members.start(join=members.of(1).address, listen=address)
    members.agree(range(5))
    assert members.processes[-1].id == 0


def test_an_identifier_is_kept_for_who_had_it_by_roots_that_joined_later(group: Make) -> None:
    members = group(4)
    places = {member: members.of(member).address for member in (0, 2)}
    members.kill(2)
    members.agree({0, 1, 3})
    members.kill(0)
    members.agree({1, 3})
    members.start(join=members.of(3).address, listen=places[0])
    members.agree({0, 1, 3})
    members.start(join=members.of(3).address, listen=places[2])
    members.agree(range(4))
    assert members.processes[-1].id == 2


def test_a_stopped_member_is_excluded_told_when_it_goes_on_and_joins_again(group: Make) -> None:
    members = group(5, heartbeat_timeout_ms=3000)
    stopped = members.of(3)
    os.kill(stopped.pid, signal.SIGSTOP)
    members.wait(lambda: all(3 not in p.view[1] for p in members.processes if p is not stopped))
    os.kill(stopped.pid, signal.SIGCONT)
    members.wait(lambda: bool(stopped.said("excluded")))
    epoch = members.agree(range(5))
    assert stopped.id == 3
    # It is heard by those who knew it before: nobody waits for who it was until then.
    members.wait_for(7)
    assert len(stopped.said("excluded")) == 1
    assert {p.view for p in members.processes} == {(epoch, tuple(range(5)))}


def test_a_founder_that_is_started_again_finds_its_group_or_says_that_it_founds_another(
    group: Make, tmp_path: Path
) -> None:
    kept = str(tmp_path / "group")
    members = group(1, state=kept)
    address = members.of(0).address
    members.options["state"] = ""
    for _ in range(2):
        members.start(join=address)
    members.agree(range(3))
    members.kill(0)
    members.agree([1, 2])
    members.options["state"] = kept
    members.start(listen=address)
    members.agree(range(3))
    assert not members.processes[-1].said("founding")
    members.kill(0, 1, 2)
    again = members.start(listen=address)
    members.wait(lambda: again.view[1] == (0,))
    assert [event["event"] for event in again.events] == ["joining", "founding", "view"]


def test_hosts_may_have_names(group: Make) -> None:
    assert numeric("listen", "localhost:40") == "127.0.0.1:40"
    assert numeric("listen", "[::1]:40") == "[::1]:40"
    with pytest.raises(UserError, match="no host has the name nobody"):
        Member("127.0.0.1:0", "nobody.invalid:40")
    members = group(1)
    members.kill(0)
    members.start(listen="localhost:0")
    members.agree(range(1))
    members.start(join=members.of(0).address.replace("127.0.0.1", "localhost"))
    members.agree(range(2))


def test_who_joins_takes_over_the_radix_of_the_group(group: Make) -> None:
    members = group(4, radix=16)
    members.options["radix"] = 2
    for _ in range(5):
        members.start(join=members.of(0).address)
    members.agree(range(9))

    def links(member: int) -> int:
        return int(members.statistics_of(members.of(member))["connections"])

    # In a tree of radix 16 each speaks with the root alone, on a connection of either side.
    members.wait(lambda: {links(member) for member in range(1, 9)} == {2})


def test_foreign_bytes_and_a_wrong_secret_change_nothing(group: Make) -> None:
    members = group(3)
    before = members.processes[0].view
    with strangers.call(members.of(1).address) as stranger:
        stranger.sendall(bytes(range(256)) * 64)
    stranger_member = Member("127.0.0.1:0", members.of(1).address, secret=b"x" * 32)
    for _ in range(5):
        line = stranger_member.poll(200)
        assert line is None or json.loads(line)["event"] in ("joining", "rejected")
    stranger_member.close()
    members.kill(2)
    assert members.agree({0, 1}) == before[0] + 1


def test_a_fifth_of_many_members_comes_and_goes(group: Make) -> None:
    members = group(40, radix=4)
    alive = set(range(40))
    friend = members.of(30).address
    for batch in ([0, 1, 7, 20], [2, 3, 33, 39]):
        members.kill(*batch)
        alive -= set(batch)
        for _ in batch:
            members.start(join=friend)
    members.agree(alive | set(range(40, 48)))


def test_the_command_prints_views_as_lines_of_json() -> None:
    command = [sys.executable, "-m", "resprout", "member", "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            event = json.loads(first.stdout.readline())
            assert event["event"] == "view"
            assert (event["members"], event["root"], event["self"]) == ([0], 0, 0)
            second = subprocess.Popen([*command, "--join", event["address"]], stdout=-1)
            while event["members"] != [0, 1]:
                event = json.loads(first.stdout.readline())
            second.kill()
            second.communicate(timeout=PATIENCE)
            while event["event"] != "view" or event["members"] != [0]:
                event = json.loads(first.stdout.readline())
            assert event["epoch"] == 3
        finally:
            first.kill()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_command_says_what_it_has_cost_when_asked_and_at_its_end(end: int) -> None:
    command = [sys.executable, "-m", "resprout", "member", "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as member:
        try:
            assert member.stdout is not None
            address = json.loads(member.stdout.readline())["address"]
            member.send_signal(signal.SIGUSR1)
            asked = json.loads(member.stdout.readline())
            assert (asked["event"], asked["address"]) == ("statistics", address)
            assert (asked["messages_sent"], asked["connections"]) == (0, 0)
            assert asked["resident_bytes"] >= asked["own_bytes"] > 0
            member.send_signal(end)
            assert json.loads(member.stdout.readline())["event"] == "statistics"
            assert member.wait(timeout=PATIENCE) == 0
        finally:
            member.kill()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--listen", "nowhere"], "listen: 'nowhere' is not HOST:PORT"),
        (["--listen", "127.0.0.1:0", "--join", "1"], "join: '1' is not HOST:PORT"),
        (
            ["--listen", "0.0.0.0:0"],
            "listen: 0.0.0.0:0 is every address of this host; give the one",
        ),
        (["--listen", "[::]:0"], "listen: [::]:0 is every address of this host; give the one"),
        (["--listen", "127.0.0.1:0", "--radix", "3"], "radix: 3 is not a power of two"),
        (["--listen", "203.0.113.77:0"], "listen: 203.0.113.77:0: cannot listen"),
        (["--listen", "127.0.0.1:0", "--heartbeat-timeout", "1"], "heartbeat-timeout: 1 ms"),
        (["--listen", "127.0.0.1:0", "--secret-file", "/nothing"], "--secret-file: /nothing"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["member", *options]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_a_secret_has_32_bytes() -> None:
    with pytest.raises(UserError, match="secret: 3 bytes are not 32"):
        Member("127.0.0.1:0", secret=b"abc")
