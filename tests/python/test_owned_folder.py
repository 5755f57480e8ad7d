"""Folders of launchers that were killed are removed by the next one, those of living ones stay."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resprout.launch.owned_folder import owned_folder

_OWNS = """
import sys, time
from pathlib import Path
from resprout.launch.owned_folder import owned_folder
with owned_folder(Path(sys.argv[1]), clears=False) as folder:
    (folder / "data").write_text("of an owner")
    print(folder, flush=True)
    sys.stdin.read()
"""
_CLEARS = """
import sys
from pathlib import Path
from resprout.launch.owned_folder import clear_left
while True:
    clear_left(Path(sys.argv[1]))
"""


@contextmanager
def owner(parent: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has a folder, and which."""
    command = [sys.executable, "-c", _OWNS, str(parent)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_what_a_killed_owner_has_left_goes(tmp_path: Path) -> None:
    with owner(tmp_path) as (process, folder):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (folder / "data").exists()
        with owned_folder(tmp_path, clears=False):
            assert folder.exists()
        with owned_folder(tmp_path) as own:
            assert list(tmp_path.iterdir()) == [own]
    assert not list(tmp_path.iterdir())


def test_what_a_living_owner_has_stays(tmp_path: Path) -> None:
    with owner(tmp_path) as (process, folder), owned_folder(tmp_path):
        assert (folder / "data").read_text() == "of an owner"
        assert process.poll() is None


def test_what_has_no_owner_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "resprout-of-others"
    other.mkdir()
    with owned_folder(tmp_path) as own:
        assert own.is_dir() and other.is_dir()
    assert not own.exists()


def test_no_folder_is_cleared_in_the_moment_when_it_is_made(tmp_path: Path) -> None:
    clearing = subprocess.Popen([sys.executable, "-c", _CLEARS, str(tmp_path)])
    try:
        for _ in range(500):
            with owned_folder(tmp_path, clears=False) as own:
                (own / "data").write_text("of an owner")
        assert clearing.poll() is None
    finally:
        clearing.kill()
        clearing.wait()
