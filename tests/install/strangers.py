"""How the tests of this folder use Resprout: as somebody who has installed it a minute ago."""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
IS_COMPILED = os.environ.get("EVERY_CASE", "") not in ("", "0")


class Environment:
    """A new virtual environment of this Python, with nothing in it. Pip works on it from outside:
    to put a pip into it takes longer than all else."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder)
        self.folder = folder

    def pip(self, *words: str) -> str:
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        command += ["--python", str(self.folder / "bin" / "python")]
        done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def resprout(self, *words: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs its `resprout`, with nothing of ours around it."""
        kept = {k: v for k, v in os.environ.items() if k in ("HOME", "PATH", "TMPDIR", "LANG")}
        return subprocess.run(
            [self.folder / "bin" / "resprout", *words], cwd=self.folder, env=kept,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip
