"""Ways of operations that random choice hardly finds, told step by step, with what happens.

Each file is played by `resprout_explore --scenario FILE`, which says what is in it
(src/sim/exhaustive/play.hpp). After a change of a protocol, or of the words of a trace:

    for file in tests/scenarios/*.txt; do
      build/release/bin/resprout_explore --scenario $file --rewrite
    done
    git diff tests/scenarios
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("RESPROUT_BUILD", ROOT / "build" / "release"))
FILES = sorted(Path(__file__).parent.glob("*.txt"))


def play(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILD / "bin" / "resprout_explore", "--scenario", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_told_happens_and_keeps_all_promises(file: Path) -> None:
    done = play(file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all promises kept" in file.read_text()


def test_what_happens_otherwise_is_shown_and_written_down_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "told.txt"
    told = FILES[0].read_text()
    file.write_text(told.replace("0 dies", "0 lives"))
    done = play(file)
    assert done.returncode == 1
    assert "This is not what the file tells." in done.stdout
    assert "0 dies" in done.stdout
    assert play(file, "--rewrite").returncode == 0
    assert file.read_text() == told


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("case ", "# case "), "has no line 'case OPTIONS'"),
        (("crash 0", "crash zero"), "cannot read 'crash zero'"),
        (("--procs", "--prox"), "there is no option '--prox'"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_one_line(
    change: tuple[str, str], complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "told.txt"
    file.write_text(FILES[0].read_text().replace(*change))
    done = play(file)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_what_cannot_happen_is_named(tmp_path: Path) -> None:
    file = tmp_path / "told.txt"
    file.write_text("case --procs 2 --enter-first\n\ndeliver 0 1\n----\n")
    done = play(file)
    assert done.returncode == 1
    assert "impossible: deliver 0 1" in done.stdout


def test_a_broken_promise_is_named(tmp_path: Path) -> None:
    # The native result has come to nobody, and nobody hears of the death.
    file = tmp_path / "told.txt"
    options = "--spec ftco-allreduce --procs 2 --crashes 1 --enter-first --defect suspicions"
    file.write_text(f"case {options}\n\ncrash 0\nrest\n----\n")
    done = play(file, "--rewrite")
    assert done.returncode == 1
    assert "violation: process 1 never returned" in done.stdout
