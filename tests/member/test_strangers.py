"""Members on bad days: other versions and secrets, garbage, thousands of callers, a taken port."""

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
import strangers
from groups import PATIENCE, Group, Process
from resprout.cli import main
from resprout.member import Member

Make = Callable[..., Group]


def rejected(members: Group, process: Process) -> int:
    return int(members.statistics_of(process)["rejected"])


def test_who_speaks_another_version_is_told_ours_counted_and_named_once(group: Make) -> None:
    members = group(3)
    before = members.processes[0].view
    one = members.of(1)
    for _ in range(3):
        with strangers.call(one.address) as stranger:
            stranger.sendall(strangers.hello(version=42))
            assert strangers.hear_out(stranger) == b"RESPRT01"
    members.wait(lambda: rejected(members, one) >= 3)
    (said,) = one.said("rejected")
    assert (said["reason"], said["peer"]) == ("version", "127.0.0.1")
    assert (said["peer_version"], said["version"]) == (42, 1)
    assert {p.view for p in members.processes} == {before}
    members.kill(2)
    members.agree({0, 1})


@contextmanager
def a_member_of_version_42() -> Iterator[str]:
    """Refuses the version of whoever calls, as a member does; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    connection.recv(56)
                    connection.sendall(b"RESPRT42")

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def first(member: Member, event: str) -> dict[str, object]:
    """The first event of this kind."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        line = member.poll(200)
        if line is not None and json.loads(line)["event"] == event:
            return dict(json.loads(line))
    raise TimeoutError(f"no event {event!r}")


def test_who_would_join_members_of_another_version_says_so_once() -> None:
    with a_member_of_version_42() as address:
        member = Member("127.0.0.1:0", address, heartbeat_period_ms=20)
        said = first(member, "rejected")
        assert (said["reason"], said["peer"]) == ("version", address)
        assert (said["peer_version"], said["version"]) == (42, 1)
        assert member.poll(500) is None
        assert json.loads(member.statistics())["bytes_received"] == 0
        member.close()


def test_who_would_join_with_another_secret_says_so_once(group: Make) -> None:
    members = group(2)
    root = members.of(0)
    member = Member("127.0.0.1:0", root.address, secret=b"x" * 32, heartbeat_period_ms=20)
    said = first(member, "rejected")
    assert (said["reason"], said["peer"]) == ("secret", root.address)
    assert member.poll(500) is None
    member.close()
    members.wait(lambda: rejected(members, root) > 0)
    assert not root.said("rejected")
    members.kill(1)
    members.agree({0})


def test_ten_thousand_connections_from_nobody_are_bounded_counted_and_change_nothing(
    group: Make,
) -> None:
    members = group(3)
    before = members.processes[0].view
    root = members.of(0)
    for wave in range(20):
        with ExitStack() as held:
            for _ in range(500):
                held.enter_context(strangers.call(root.address))
            if wave == 0:
                members.wait(lambda: rejected(members, root) >= 500 - 256)
                assert members.statistics_of(root)["connections"] < 300
    members.wait(lambda: rejected(members, root) >= 10_000)
    assert {p.view for p in members.processes} == {before}
    members.start(join=root.address)
    members.agree(range(4))
    members.kill(1)
    members.agree({0, 2, 3})


def test_frames_that_make_no_sense_end_their_connection_and_are_counted(group: Make) -> None:
    members = group(3)
    before = members.processes[0].view
    one = members.of(1)
    dice = random.Random(5)
    heartbeat, message, unknown = b"\2", b"\5", b"\x63"
    nonsense = [
        strangers.frame(b""),
        strangers.frame(unknown),
        strangers.frame(heartbeat + b"?"),
        strangers.frame(message + dice.randbytes(200)),
        b"\xff\xff\xff\xff",
        dice.randbytes(4000),
    ]
    for bytes_ in nonsense:
        with strangers.call(one.address) as peer:
            strangers.prove(peer)
            peer.sendall(bytes_)
            assert strangers.hear_out(peer) == b""
    members.wait(lambda: rejected(members, one) >= len(nonsense))
    assert {p.view for p in members.processes} == {before}
    members.kill(2)
    members.agree({0, 1})


def test_a_frame_that_breaks_off_is_forgotten_with_its_connection(group: Make) -> None:
    members = group(3)
    before = members.processes[0].view
    one = members.of(1)
    whole = strangers.frame(b"\2")
    connections = members.statistics_of(one)["connections"]
    for length in range(len(whole) + 1):
        with strangers.call(one.address) as peer:
            strangers.prove(peer)
            peer.sendall(whole[:length])
    members.wait(lambda: members.statistics_of(one)["connections"] == connections)
    assert {p.view for p in members.processes} == {before}
    members.kill(2)
    members.agree({0, 1})


def test_a_port_that_is_taken_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        assert main(["member", "--listen", address]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"resprout: listen: {address}: cannot listen on ")
    assert "in use" in said
    assert said.count("\n") == 1
