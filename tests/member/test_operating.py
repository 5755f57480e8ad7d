"""The command `member` as operators use it: hooks, questions, leaving, groups, figures."""

import json
import signal
from pathlib import Path

import pytest
from groups import PATIENCE
from operators import member, until, wait_until
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from resprout.cli import main
from resprout.errors import UserError
from resprout.member import Member
from resprout.member.command import secret_of
from resprout.member.control import Door, ask
from resprout.member.figures import Figures


def test_members_of_different_groups_have_different_secrets(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(" something \n")
    secrets = {secret_of(f, g) for f in (None, file) for g in (None, "red", "blue")}
    assert len(secrets) == 6
    with member("--group", "blue") as (_, lines):
        address = until(lines, 1)["address"]
        with member("--group", "blue", "--join", address):
            until(lines, 2)


def test_it_answers_questions_and_leaves_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    door = tmp_path / "door"
    with member() as (_, lines):
        address = until(lines, 1)["address"]
        with member("--join", address, "--control", door) as (second, others):
            until(others, 2)
            assert (door.stat().st_mode & 0o777) == 0o600
            assert main(["members", str(door), "--json"]) == 0
            state = json.loads(capsys.readouterr().out)
            assert state["view"]["members"] == [0, 1]
            assert state["statistics"]["connections"] >= 1
            assert main(["members", str(door)]) == 0
            assert "view 2, root 0: 0 1" in capsys.readouterr().out
            with pytest.raises(UserError, match="a member answers there already"):
                Door(door)
            assert main(["members", str(door), "--leave"]) == 0
            assert second.wait(timeout=PATIENCE) == 0
        until(lines, 1)
    assert not door.exists()
    with pytest.raises(UserError, match="no member answers there"):
        ask(door, "state")


def test_a_socket_that_was_left_behind_is_replaced_and_other_files_are_not(
    tmp_path: Path,
) -> None:
    left, file = tmp_path / "left", tmp_path / "file"
    first = Door(left)
    assert first._socket is not None
    first._socket.close()
    Door(left).close()
    file.touch()
    with pytest.raises(UserError, match="is there and no socket"):
        Door(file)


def test_a_command_runs_for_each_event_in_its_order(tmp_path: Path) -> None:
    said = tmp_path / "said"
    hook = f'cat >> "{said}"; echo "$RESPROUT_EVENT" >> "{said}.kinds"'
    with member("--on-event", hook) as (first, lines):
        address = until(lines, 1)["address"]
        with member("--join", address):
            until(lines, 2)
        until(lines, 1)
        wait_until(lambda: said.exists() and said.read_text().count('"event":"view"') >= 3)
        first.send_signal(signal.SIGTERM)
        first.wait(timeout=PATIENCE)
    events = [json.loads(line) for line in said.read_text().splitlines()]
    counts = [len(event["members"]) for event in events if event["event"] == "view"]
    assert counts == [1, 2, 1]
    kinds = Path(f"{said}.kinds").read_text().split()
    assert kinds == [event["event"] for event in events][: len(kinds)]


def test_figures_are_openmetrics_and_follow_the_view(tmp_path: Path) -> None:
    now = 0.0
    path = tmp_path / "m.prom"
    figures = Figures(path, "127.0.0.1:4000", lambda: now)
    view = {"event": "view", "epoch": 7, "members": [0, 3, 4]}
    figures.note(view)
    figures.note({"event": "suspected", "about": 3})
    figures.write(lambda: {})
    now = 10.0
    with Member("127.0.0.1:0") as one:
        figures.write(lambda: json.loads(one.statistics()))
    samples = {
        sample.name.removeprefix("resprout_"): sample.value
        for family in text_string_to_metric_families(path.read_text())
        for sample in family.samples
    }
    assert samples["member_epoch"] == 7
    assert samples["members"] == 3
    assert samples["member_suspicions_total"] == 1
    assert samples["member_messages_sent_total"] == 0
    assert samples["member_joined"] == 1
    figures.note({"event": "excluded"})
    now = 20.0
    with Member("127.0.0.1:0") as one:
        figures.write(lambda: json.loads(one.statistics()))
    assert "resprout_member_joined" in path.read_text()
    assert 'resprout_member_joined{run="m"} 0' in path.read_text()
