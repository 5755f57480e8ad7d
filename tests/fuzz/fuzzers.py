"""Runs the fuzzers of the build, and says how to repeat what they find."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build" / "release" / "fuzz"
CORPUS = ROOT / "fuzz" / "corpus"
FOUND = ROOT / "build" / "fuzz"
TARGETS = sorted(folder.name for folder in CORPUS.iterdir())
# A fuzzer ends in time by itself; each of its inputs has a watchdog of its own.
PATIENCE = 600


@dataclass(frozen=True)
class Ended:
    status: int
    said: str
    repeat: str
    """The command that runs the last input again, or all of the corpus."""

    def __str__(self) -> str:
        return f"status {self.status}: {self.said}\nrepeat with: {self.repeat}"


def is_built() -> bool:
    """Not where the compiler cannot report what is reached."""
    return PROGRAMS.is_dir()


def run(target: str, *corpus: Path, seconds: float = 0.0, seed: int = 1) -> Ended:
    """All of the corpus, then so many seconds of changed inputs."""
    FOUND.mkdir(parents=True, exist_ok=True)
    last = FOUND / f"{target}-{seed}"
    command = [str(PROGRAMS / target), "--seconds", str(seconds), "--seed", str(seed)]
    command += ["--current", str(last), *map(str, corpus)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE + seconds, check=False
    )
    if done.returncode == 0:
        last.unlink()
    return Ended(done.returncode, done.stdout + done.stderr, f"{command[0]} {last}")
