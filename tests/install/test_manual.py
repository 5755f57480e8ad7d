"""Manual pages and completions are there for every command, and work."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from resprout.cli import app
from strangers import ROOT

BIN = Path(sys.executable).parent
needs_groff = pytest.mark.skipif(shutil.which("groff") is None, reason="no groff in the PATH")


@pytest.fixture(scope="module")
def share(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("share")
    subprocess.run([sys.executable, ROOT / "packaging" / "manual.py", folder], check=True)
    return folder


def commands(command, words: str = "resprout"):
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{words} {name}")


ALL = dict(commands(typer.main.get_command(app)))


def shown(page: Path) -> str:
    command = ["groff", "-man", "-ww", "-k", "-Tutf8", "-P-c", "-rLL=200n", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr
    return re.sub(".\b", "", done.stdout).replace("\N{HYPHEN}", "-").replace("\N{MINUS SIGN}", "-")


def test_every_command_has_a_page(share):
    pages = {path.stem for path in (share / "man" / "man1").iterdir()}
    assert pages == {words.replace(" ", "-") for words in ALL}


@needs_groff
@pytest.mark.parametrize("words", ALL)
def test_a_page_has_every_option_and_no_mistake(share, words):
    text = shown(share / "man" / "man1" / f"{words.replace(' ', '-')}.1")
    options = [p for p in ALL[words].params if p.param_type_name == "option"]
    assert words in text
    assert not [name for option in options for name in option.opts if name not in text]


def test_the_wheel_carries_them(unpacked, share):
    (data,) = unpacked.glob("resprout-*.data/data/share")
    names = {path.relative_to(share) for path in share.rglob("*") if path.is_file()}
    assert {path.relative_to(data) for path in data.rglob("*") if path.is_file()} == names


def test_bash_completes_commands_and_options(share):
    script = """
        source "$1"; PATH=$2:$PATH
        COMP_WORDS=(resprout ca); COMP_CWORD=1; _resprout_completion resprout
        echo "${COMPREPLY[@]}"
        COMP_WORDS=(resprout run --inj); COMP_CWORD=2; _resprout_completion resprout
        echo "${COMPREPLY[@]}"
    """
    file = share / "bash-completion" / "completions" / "resprout"
    command = ["bash", "-c", script, "bash", str(file), str(BIN)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["campaign calibrate", "--inject"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(share, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} in the PATH")
    (file,) = (path for path in (share / shell).rglob("*resprout*") if path.is_file())
    subprocess.run([shell, "-n", str(file)], check=True)
