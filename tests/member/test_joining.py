"""How members come, what they say of themselves, and how others send them away."""

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from operators import member, until
from resprout.cli import main
from resprout.errors import UserError
from resprout.member import Member, addresses_of
from resprout.member.command import tags_of
from resprout.member.control import ask

# Nobody is suspected for silence: what a test sees has another cause.
PATIENT = ("--heartbeat-timeout", 600_000)


def a_free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def test_seeds_are_asked_in_turn_until_one_of_them_lives() -> None:
    with member() as (_, lines):
        living = until(lines, 1)["address"]
        seeds = f"{a_free_address()}, {a_free_address()},{living}"
        with member("--join", seeds) as (_, others):
            until(others, 2)


def test_a_list_of_seeds_may_name_the_member_itself_but_not_it_alone() -> None:
    own = a_free_address()
    with member() as (_, lines):
        living = until(lines, 1)["address"]
        with member("--join", f"{own},{living}", listen=own) as (_, others):
            until(others, 2)
    with pytest.raises(UserError, match="that is where it listens itself"):
        Member(own, f"{own},{own}")
    with pytest.raises(UserError, match="join: '' is not HOST:PORT"):
        Member(own, f"{living},")


def test_a_name_stands_for_all_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*_: object, **__: object) -> list[object]:
        stream = (socket.SOCK_STREAM, 6, "")
        return [
            (socket.AF_INET6, *stream, ("::1", 0, 0, 0)),
            (socket.AF_INET, *stream, ("127.0.0.1", 0)),
            (socket.AF_INET, *stream, ("127.0.0.2", 0)),
        ]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    assert addresses_of("join", "seeds:40") == ["127.0.0.1:40", "127.0.0.2:40", "[::1]:40"]


def test_members_with_local_views_ask_several_seeds_too(tmp_path: Path) -> None:
    places = [a_free_address() for _ in range(3)]
    order = tmp_path / "order"
    order.write_text("\n".join(places))
    local = ("--views", "local", "--order", order)
    with (
        member(*local, listen=places[0]),
        member(*local, "--join", f"{places[2]},{places[0]}", listen=places[1]) as (_, lines),
    ):
        assert next(e["count"] for e in lines if e["event"] == "view") == 2


@contextmanager
def a_forwarder(target: str) -> Iterator[str]:
    """An address whose connections lead to `target`, as behind a router that translates them."""
    host, port = target.rsplit(":", 1)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(4096):
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                try:
                    far = socket.create_connection((host, int(port)))
                except OSError:
                    near.close()
                    continue
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_the_others_reach_a_member_where_it_says(tmp_path: Path) -> None:
    own, door = a_free_address(), tmp_path / "door"
    with (
        member("--control", door) as (_, lines),
        a_forwarder(own) as outside,
    ):
        first = until(lines, 1)["address"]
        with member("--join", first, "--advertise", outside, listen=own) as (second, others):
            assert until(others, 2)["address"] == outside
            assert ask(door, "state")["members"]["1"]["address"] == outside
            second.kill()
            until(lines, 1)


def test_a_member_may_listen_at_every_address_if_it_says_where_it_is() -> None:
    listen = f"0.0.0.0:{a_free_address().rsplit(':', 1)[1]}"
    with member("--advertise", "127.0.0.3:0", listen=listen) as (_, lines):
        address = until(lines, 1)["address"]
        assert address == f"127.0.0.3:{listen.rsplit(':', 1)[1]}"
        with member("--join", address) as (_, others):
            until(others, 2)
    for words in ({"listen": "0.0.0.0:0"}, {"listen": "127.0.0.1:0", "advertise": "0.0.0.0:1"}):
        with pytest.raises(UserError, match="is every address of this host"):
            Member(**words)


def test_all_members_show_the_tags_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db, web = {"rack": "3", "role": "db"}, {"role": "web"}
    door = tmp_path / "door"
    with member("--tag", "role=db", "--tag", "rack=3") as (_, lines):
        first = until(lines, 1)
        assert first["tags"] == {"0": db}
        with member("--join", first["address"]) as (_, second):
            assert until(second, 2)["tags"] == {"0": db}
            with member("--join", first["address"], "--tag", "role=web", "--control", door) as (
                third,
                others,
            ):
                for each in (lines, second, others):
                    assert until(each, 3)["tags"] == {"0": db, "2": web}
                members = ask(door, "state")["members"]
                assert [members[i]["tags"] for i in ("0", "1", "2")] == [db, {}, web]
                assert members["0"]["address"] == first["address"]
                assert main(["members", str(door)]) == 0
                assert f"0  {first['address']}  rack=3  role=db\n" in capsys.readouterr().out
                third.kill()
            assert until(lines, 2)["tags"] == {"0": db}
            # Who comes where one with tags was has none of them.
            with member("--join", first["address"], listen=members["2"]["address"]) as (_, again):
                for each in (second, again):
                    assert until(each, 3)["tags"] == {"0": db}


def test_tags_that_cannot_be_are_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="--tag: 'role' is not KEY=VALUE"):
        tags_of(["role"])
    wrong = [
        {"": "x"},
        {"role": "d\nb"},
        {"role": "dä"},
        {"role": '"'},
        {"role": "\\"},
        {"a b": "x"},
    ]
    for tags in wrong:
        with pytest.raises(UserError, match=r"^tag: .* is not KEY=VALUE"):
            Member("127.0.0.1:0", tags=tags)
    with pytest.raises(UserError, match="513 bytes, at most 512"):
        Member("127.0.0.1:0", tags={"long": 507 * "x"})
    with Member(
        "127.0.0.1:0",
        tags={
            "long": 506 * "x",
        },
    ) as one:
        assert json.loads(one.members())["members"]["0"]["tags"] == {"long": 506 * "x"}


def test_a_member_that_is_removed_ends_and_does_not_come_back(tmp_path: Path) -> None:
    door = tmp_path / "door"
    with member(*PATIENT, "--control", door) as (_, lines):
        first = until(lines, 1)["address"]
        with (
            member(*PATIENT, "--join", first) as (second, others),
            member(*PATIENT, "--join", first) as (_, rest),
        ):
            until(rest, 3)
            victim = until(others, 3)["self"]
            assert main(["members", str(door), "--remove", str(victim)]) == 0
            assert [e["about"] for e in others if e["event"] == "removed"] == [0]
            assert second.wait() == 0
            assert victim not in until(rest, 2)["members"]
            with pytest.raises(UserError, match=f"remove: {victim} is no other member"):
                ask(door, f"remove {victim}")
            with pytest.raises(UserError, match="remove: 0 is no other member"):
                ask(door, "remove 0")


def test_a_member_that_hangs_is_removed_at_once_and_ends_when_it_goes_on(tmp_path: Path) -> None:
    door = tmp_path / "door"
    with member(*PATIENT, "--control", door) as (_, lines):
        first = until(lines, 1)["address"]
        with (
            member(*PATIENT, "--join", first) as (second, others),
            member(*PATIENT, "--join", first) as (_, rest),
        ):
            until(rest, 3)
            victim = until(others, 3)["self"]
            second.send_signal(signal.SIGSTOP)
            ask(door, f"remove {victim}")
            assert victim not in until(rest, 2)["members"]
            second.send_signal(signal.SIGCONT)
            assert [e["event"] for e in others][-2:] == ["removed", "statistics"]
            assert second.wait() == 0


def test_the_smaller_half_removes_only_who_answers(tmp_path: Path) -> None:
    door = tmp_path / "door"
    with member(*PATIENT) as (root, lines):
        first = until(lines, 1)["address"]
        with member(*PATIENT, "--join", first, "--control", door) as (_, others):
            until(others, 2)
            root.send_signal(signal.SIGSTOP)
            ask(door, "remove 0")
            assert ask(door, "state")["view"]["members"] == [0, 1]
            root.send_signal(signal.SIGCONT)
            until(others, 1)
            assert root.wait() == 0


def test_secrets_are_exchanged_while_members_run(tmp_path: Path) -> None:
    files = [tmp_path / "first", tmp_path / "second"]
    both = [word for file in files for word in ("--secret-file", file)]
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    new.write_text("new")

    def write(first: str, second: str) -> None:
        for file, text in zip(files, (first, second), strict=True):
            file.write_text(text)

    write("old", "new")
    with member(*both) as (one, lines):
        address = until(lines, 1)["address"]
        with member("--secret-file", old, "--join", address) as (two, _):
            until(lines, 2)
            two.kill()
            until(lines, 1)
        write("new", "old")
        one.send_signal(signal.SIGHUP)
        # It may still know them in their old order, which the new member accepts, too.
        with member("--secret-file", new, "--secret-file", old, "--join", address) as (two, _):
            until(lines, 2)
            two.kill()
            until(lines, 1)
        write("new", "new")
        one.send_signal(signal.SIGHUP)
        with member("--secret-file", new, "--join", address) as (_, others):
            until(others, 2)
            with member("--secret-file", old, "--join", address) as (_, late):
                assert next(e["reason"] for e in late if e["event"] == "rejected") == "secret"
        files[0].unlink()
        one.send_signal(signal.SIGHUP)
        os.kill(one.pid, signal.SIGUSR1)
        assert any(event["event"] == "statistics" for event in lines)
        assert one.poll() is None


def test_secrets_that_cannot_be_are_refused() -> None:
    with pytest.raises(UserError, match="5 secrets are not 1 to 4"):
        Member("127.0.0.1:0", secret=[bytes(32)] * 5)
    with pytest.raises(UserError, match="31 bytes are not 32"):
        Member("127.0.0.1:0", secret=[bytes(32), bytes(31)])
    with Member("127.0.0.1:0") as one, pytest.raises(UserError, match="0 secrets are not 1 to 4"):
        one.use_secrets([])


def test_a_program_asks_who_is_where_and_removes_others() -> None:
    with Member("127.0.0.1:0", tags={"role": "db"}) as one:
        first = next(one.events())
        assert json.loads(one.members())["members"] == {
            "0": {"address": first["address"], "tags": {"role": "db"}}
        }
        with pytest.raises(UserError, match="remove: 7 is no other member"):
            one.remove(7)
