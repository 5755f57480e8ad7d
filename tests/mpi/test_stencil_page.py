"""Each command of docs/tutorial/stencil.md is run, and says what the page says."""

import re
import subprocess
from pathlib import Path

import jobs

PAGE = jobs.ROOT / "docs" / "tutorial" / "stencil.md"
COMMANDS = ("mkdir ", "resprout ", "rm ")


def blocks() -> list[str]:
    """Indented ones, each without its indentation."""
    found = re.findall(r"(?:^    .*\n)+", PAGE.read_text(), re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in found]


def test_each_command_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    ran, said = 0, ""
    for block in blocks():
        text = block.replace("/tmp/stencil", str(tmp_path / "stencil"))
        if not text.startswith(COMMANDS):
            assert said == text, block
            continue
        command = ["bash", "-ec", f"PATH={jobs.BIN}:$PATH\ncd {jobs.ROOT}\n{text}"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=jobs.WATCHDOG_SECONDS
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        said, ran = done.stdout, ran + 1
    assert ran == 5
    assert not (tmp_path / "stencil").exists()
