"""Options and their variables: one table, from which everything else comes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from resprout.cli import main
from resprout.errors import UserError
from resprout.launch.run import Request, make_plan
from resprout.options import OPTIONS, check_environment, markdown_table

ROOT = Path(__file__).resolve().parents[2]


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which the command refuses."""
    assert main(list(arguments)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_the_documented_table_is_the_table() -> None:
    assert markdown_table() in (ROOT / "docs" / "reference" / "environment.md").read_text()


def test_the_shim_reads_the_same_variables() -> None:
    source = (ROOT / "src" / "mpi" / "process" / "options.cpp").read_text()
    for option in OPTIONS:
        assert f'"{option.variable}"' in source


def test_a_misspelled_variable_is_refused_with_advice() -> None:
    with pytest.raises(UserError, match="did you mean RESPROUT_TRANSPORT"):
        check_environment({"RESPROUT_TRANPORT": "tcp", "PATH": "/bin"})
    with pytest.raises(UserError, match="there are RESPROUT_BCAST"):
        check_environment({"RESPROUT_ZZ": "1"})


def test_all_known_variables_are_accepted() -> None:
    check_environment({option.variable: "1" for option in OPTIONS})


@pytest.mark.parametrize(
    ("flag", "value", "valid"),
    [
        ("--on-loss", "cry", "continue, error"),
        ("--on-unanswered", "cry", "handler, ignore, abort"),
        ("--sum", "exactly", "any, reproducible"),
        ("--collectives", "mine", "auto, native, resprout, trees"),
        ("--missing", "something", "nothing, last, mean, linear, or a number"),
        ("--missing", "1_000", "nothing, last, mean, linear, or a number"),
        ("--missing", " 7", "nothing, last, mean, linear, or a number"),
        ("--transport", "pigeon", "auto, shm, tcp"),
        ("--network", "10.0.0.1", "10.0.0.0/8"),
        ("--heartbeat-period", "0", "whole milliseconds"),
        ("--heartbeat-timeout", "1s", "whole milliseconds"),
        ("--radix", "3", "a power of two from 2 to 1024"),
        ("--radix", "1", "a power of two from 2 to 1024"),
        ("--radix", "2048", "a power of two from 2 to 1024"),
        ("--radix", "four", "a power of two from 2 to 1024"),
        ("--order", "/nonexistent", "No such file"),
        ("--bcast", "nonsense", "reliable-broadcast"),
        ("--bcast", "ftco-allreduce", "reliable-broadcast"),
        ("--allreduce", "ftco-allreduce:k=x", "k"),
        ("--inject", "kill:rank=9,at=1s", "not one of the 2 ranks"),
        ("--mpi", "/nonexistent", "no mpirun"),
        ("--report", "/nonexistent/report.json", "cannot be written"),
        ("--run-dir", "/nonexistent", "no folder"),
        ("--hostfile", "/nonexistent", "no file"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], flag: str, value: str, valid: str
) -> None:
    line = refusal(capsys, "run", "-n", "2", flag, value, "--", "true")
    assert flag in line
    assert value in line
    assert valid in line


def test_a_wrong_value_in_the_environment_is_refused_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESPROUT_TRANSPORT", "pigeon")
    assert "pigeon" in refusal(capsys, "run", "-n", "2", "--", "true")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "-n", "2"],
        ["run", "--", "true"],
        ["run", "-n", "0", "--", "true"],
        ["run", "-n", "2", "--no-such-option", "--", "true"],
        ["run", "-n", "2", "--", "no-such-program"],
        ["run", "-n", "2", "--heartbeat-period", "2000", "--", "true"],
        ["run", "-n", "2", "--report", "-", "--", "true"],
        ["run", "-n", "2", "--replicas", "2", "--clocks", "own", "--", "true"],
        ["no-such-command"],
        ["sim", "corrected-tree", "--procs", "4", "--format", "xml"],
        ["sim", "no-such-protocol", "--procs", "4"],
    ],
)
def test_wrong_commands_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert refusal(capsys, *arguments).startswith("resprout: ")


def test_an_option_goes_before_its_variable(
    fake_mpi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}

    def remember(request: Request) -> int:
        seen.update(make_plan(request, shim=None).variables)
        return 0

    monkeypatch.setattr("resprout.launch.run.run", remember)
    monkeypatch.setenv("RESPROUT_TRANSPORT", "tcp")
    monkeypatch.setenv("RESPROUT_ON_LOSS", "error")
    monkeypatch.setenv("RESPROUT_INJECT", "kill:rank=0,at=1s;stop:rank=1,at=2s")
    monkeypatch.setenv("RESPROUT_NETWORK", "")
    command = ["run", "-n", "2", "--mpi", str(fake_mpi), "--transport", "shm", "--", "true"]
    assert main(command) == 0
    assert seen == {
        "RESPROUT_TRANSPORT": "shm",
        "RESPROUT_COLLECTIVES": "auto",
        "RESPROUT_ON_LOSS": "error",
        "RESPROUT_INJECT": "kill:rank=0,at=1s;stop:rank=1,at=2s",
    }


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("node1 rack1\nnode2:4000 rack1\n", ":2: 'node2:4000' is not HOST, as node7 or 10.1.0.7"),
        ("node1\n# node2\nNODE1 rack\n", ":3: 'node1' stands in line 1 already"),
        ("node1 in rack1", ":1: 'rack1' is too much: a line is HOST, and perhaps a GROUP"),
        ("node1\0\n", ":1: 'node1\0' is not HOST, as node7 or 10.1.0.7"),
        ("# nobody\n", ": it names nobody"),
        ("".join(f"{'n' * 100}{i}\n" for i in range(2000)), ": its hosts take 208889 bytes"),
        ("#" * (1 << 20) + "\n", ": it is longer than 1 MiB"),
    ],
    ids=lambda text: text[:24] if "\0" not in text else "zero",
)
def test_an_order_of_hosts_that_is_none_is_refused_before_anything_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, lines: str, why: str
) -> None:
    file = tmp_path / "order"
    file.write_text(lines)
    line = refusal(capsys, "run", "-n", "2", "--order", str(file), "--", "true")
    # What can be shown of a zero byte is what is before it.
    assert line.startswith(f"resprout: --order: {file}{why}".partition("\0")[0])


def test_the_ranks_are_given_the_lines_of_an_order_and_the_radix(
    fake_mpi: Path, tmp_path: Path
) -> None:
    file = tmp_path / "order"
    file.write_text("# by racks\nNode2 rack:2\n\nnode1 rack;1\n10.0.0.3 rack:2 # 3\nfd00:0::7")
    texts = {"--radix": "16"}
    plan = make_plan(Request(2, ["true"], texts, order=file, mpi=str(fake_mpi)), shim=None)
    assert plan.variables["RESPROUT_ORDER"] == "lines:node2 0;node1 1;10.0.0.3 0;fd00::7"
    assert plan.variables["RESPROUT_RADIX"] == "16"


@pytest.mark.parametrize("flag", ["--radix", "--order"])
def test_planes_have_no_tree_of_views(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, flag: str
) -> None:
    file = tmp_path / "order"
    file.write_text("node1\n")
    value = {"--radix": "2", "--order": str(file)}[flag]
    line = refusal(capsys, "run", "-n", "2", "--replicas", "2", flag, value, "--", "true")
    assert line.startswith(f"resprout: {flag} is for jobs without --replicas")


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "sim",
        "timeline",
        "campaign",
        "query",
        "bench bcast",
        "bench recovery",
        "bench membership",
        "bench revoke",
        "bench returns",
        "bench replication",
        "bench injection",
        "reproduce",
        "doctor",
        "demo",
        "protocols",
        "version",
    ],
)
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main([*command.split(), "--help"]) == 0
    assert f"resprout {command}" in capsys.readouterr().out


def test_the_version_is_a_command_and_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    said = capsys.readouterr().out
    assert main(["--version"]) == 0
    assert said.startswith("resprout ") and capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("words", "completed"), [("resprout r", "run"), ("resprout run --repl", "--replicas")]
)
def test_a_shell_completes_commands_and_options(words: str, completed: str) -> None:
    count = str(len(words.split()) - 1)
    asked = {"_RESPROUT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": count}
    done = subprocess.run(
        [Path(sys.executable).parent / "resprout"], env=os.environ | asked,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert completed in done.stdout.split()


def test_help_of_run_names_every_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    main(["run", "--help"])
    said = capsys.readouterr().out
    assert [o.variable for o in OPTIONS if o.variable not in said] == []
    assert [o.flag for o in OPTIONS if o.flag not in said] == []


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "doctor" in capsys.readouterr().out
