"""Options from a file: what is taken from it, what goes before it, and what is refused."""

from pathlib import Path

import pytest
from resprout.cli import main
from resprout.launch import run as launch
from resprout.launch.run import Request


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Request]:
    """What is asked for, of jobs that are not run."""
    found: list[Request] = []
    monkeypatch.setattr(launch, "run", lambda request: found.append(request) or 0)
    monkeypatch.chdir(tmp_path)
    return found


def write(text: str, name: str = "resprout.toml") -> Path:
    Path(name).write_text(text)
    return Path(name)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments, "-n", "2", "--", "true"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_a_file_in_the_working_directory_gives_options(asked: list[Request]) -> None:
    write(
        '[run]\nranks = 3\non-loss = "restart"\nmax-restarts = 4\nstrict = true\n'
        'heartbeat-timeout = 2000\ninject = ["kill:rank=1,at=2s", "kill:rank=2,at=3s"]\n'
    )
    assert main(["run", "--", "true"]) == 0
    (request,) = asked
    assert request.ranks == 3
    assert request.texts["--on-loss"] == "restart"
    assert request.texts["--heartbeat-timeout"] == "2000"
    assert request.max_restarts == "4"
    assert request.strict
    assert list(request.inject) == ["kill:rank=1,at=2s", "kill:rank=2,at=3s"]
    assert request.config == Path("resprout.toml")


def test_the_command_line_goes_before_the_environment_and_that_before_the_file(
    asked: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    write('[run]\nranks = 2\nradix = 8\nsum = "reproducible"\ntransport = "tcp"\n')
    monkeypatch.setenv("RESPROUT_TRANSPORT", "shm")
    monkeypatch.setenv("RESPROUT_RADIX", "16")
    assert main(["run", "--radix", "32", "--", "true"]) == 0
    texts = asked[0].texts
    found = [texts["--radix"], texts["--transport"], texts["--sum"]]
    assert found == ["32", "shm", "reproducible"]


def test_a_named_file_is_read_instead_of_the_one_that_lies_there(asked: list[Request]) -> None:
    write("[run]\nradix = 8\n")
    other = write("[run]\nranks = 5\n", "other.toml")
    assert main(["run", "--config", str(other), "--", "true"]) == 0
    assert asked[0].ranks == 5
    assert asked[0].texts["--radix"] is None


def test_without_a_file_nothing_is_taken_from_one(asked: list[Request]) -> None:
    assert main(["run", "-n", "2", "--", "true"]) == 0
    assert asked[0].config is None


def test_one_text_stands_for_a_list_of_one(asked: list[Request]) -> None:
    write('[run]\ninject = "kill:rank=1,at=2s"\n')
    assert main(["run", "-n", "2", "--", "true"]) == 0
    assert list(asked[0].inject) == ["kill:rank=1,at=2s"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[run]\non-los = 1\n", "on-los is no option of `resprout run`; did you mean on-loss?"),
        ("[run]\nzzz = 1\n", "valid are allreduce, bcast, calibration"),
        ("[run]\nconfig = 'x'\n", "config is no option"),
        ("[member]\nzzz = 1\n", "zzz is no option of `resprout member`"),
        ("[walk]\nradix = 8\n", "[walk] is no table of this file; there are [member], [run]"),
        ("radix = 8\n", "[radix] is no table"),
        ("run = 8\n", "run is no table; begin it with [run]"),
        ("[run]\nstrict = 'yes'\n", "strict has to be true or false"),
        ("[run]\nradix = true\n", "radix has to be a text or a number"),
        ("[run]\nradix = [8]\n", "radix has to be a text or a number"),
        ("[run]\nradix = \n", "is no TOML"),
    ],
)
def test_what_the_file_may_not_have_is_refused_by_a_line_that_says_what_it_may(
    capsys: pytest.CaptureFixture[str], asked: list[Request], text: str, expected: str
) -> None:
    write(text)
    line = refusal(capsys, "run")
    assert line.startswith("resprout: resprout.toml")
    assert expected in line
    assert not asked


def test_values_of_the_file_are_checked_like_those_of_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("[run]\nradix = 3\n")
    assert "--radix: '3' is not valid" in refusal(capsys, "run")


def test_a_file_that_is_not_there_is_refused(
    capsys: pytest.CaptureFixture[str], asked: list[Request]
) -> None:
    assert refusal(capsys, "run", "--config", "none.toml").endswith("No such file or directory")
    assert not asked
