"""Every command of the tutorial, the how-to pages and the first page runs, and says what it shows.

Blocks marked `bash` of a page run in their order, in one folder. A block marked `text` behind one
is what it says on stdout. A block with a title is a file. With EVERY_CASE=1 all pages are run, else
those of newcomers.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent
DOCS = ROOT / "docs"
PAGES = [
    page
    for page in [
        ROOT / "README.md",
        *sorted(DOCS.glob("tutorial/*.md")),
        *sorted(DOCS.glob("how-to/*.md")),
    ]
    if "```bash" in page.read_text()
]
# Pages that most read.
ALWAYS = {"README.md", "tutorial"}
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# Beginnings of commands that are not run here, and why.
SKIPPED = {
    "pip install": "fetches from a network; tests/install does it with what was built",
    "make ": "builds Resprout, or runs this",
    "resprout reproduce": "takes minutes; tests/python has a share of it",
}
COMMAND_SECONDS_MAX = 120
# What the pages call the reader's own program.
PROGRAM = '#!/bin/sh\nexec "$PI" 40 2000\n'


@dataclass
class Block:
    language: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text())]


def commands(text: str) -> list[str]:
    """Each with the lines that continue it."""
    found: list[str] = []
    for line in text.splitlines():
        if found and found[-1].endswith(("\\", "||", "&&", "|")):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def is_skipped(command: str) -> bool:
    return command.startswith(tuple(SKIPPED))


def run(command: str, folder: Path) -> str:
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(folder / "state"),
        "PI": str(ROOT / "build" / "release" / "examples" / "pi" / "pi"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS_MAX,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def is_read_first(page: Path) -> bool:
    return bool({page.name, page.parent.name} & ALWAYS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path) -> None:
    if not is_read_first(page) and not os.environ.get("EVERY_CASE"):
        pytest.skip("with EVERY_CASE=1")
    for folder in ("examples", "include"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "mine.c").symlink_to(ROOT / "examples" / "pi" / "pi.c")
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    said, ran = "", 0
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).write_text(block.text)
        elif block.language == "bash":
            to_run = "\n".join(one for one in commands(block.text) if not is_skipped(one))
            said = run(to_run, tmp_path)
            ran += bool(to_run.strip())
        elif block.language == "text":
            assert said == block.text
    assert ran


def test_what_is_skipped_stands_somewhere() -> None:
    all_commands = [
        one
        for page in PAGES
        for block in blocks(page)
        if block.language == "bash"
        for one in commands(block.text)
    ]
    for beginning in SKIPPED:
        assert any(one.startswith(beginning) for one in all_commands), beginning
