"""Test suites of others, mpi4py's and MPICH's, with Resprout; what fails runs without it, too.

    run.py mpi4py FOLDER      its sources, of the sdist on PyPI
    run.py mpich FOLDER       test/mpi of MPICH, configured and built with the MPICH of --mpi

A test fails with Resprout alone: a line names it, and the exit status is 1. Ranks that wait for
ever are ended after --seconds.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RESPROUT = ROOT / ".venv" / "bin" / "resprout"
MPIS = {
    "mpich": ROOT / ".venv" / "mpis" / "mpich",
    "intel": ROOT / ".venv" / "mpis" / "impi-rt",
    "open-mpi": ROOT / ".venv",
}
# Each starts processes, which on MPICH and Intel MPI nobody does (docs/reference/mpi-libraries.md).
SPAWNING = {"test_spawn", "test_util_pool", "test_dynproc"}
WORDS = ("ok", "skipped", "failed")


@dataclass
class Results:
    """By the names of tests."""

    word: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, word: str) -> None:
        """The worst of all ranks counts."""
        self.word[name] = max(self.word.get(name, "ok"), word, key=WORDS.index)

    def failed(self) -> set[str]:
        return {name for name, word in self.word.items() if word == "failed"}


class Suite:
    def __init__(self, wanted: argparse.Namespace) -> None:
        self.folder = Path(wanted.folder).resolve()
        self.prefix = MPIS[wanted.mpi]
        self.library = wanted.mpi
        self.ranks: int = wanted.ranks
        self.seconds: int = wanted.seconds
        self.is_apart: bool = wanted.apart

    def launcher(self, ranks: int, with_resprout: bool) -> list[str | Path]:
        if with_resprout:
            chosen: list[str | Path] = [] if self.library == "open-mpi" else ["--mpi", self.prefix]
            return [RESPROUT, "run", "-n", str(ranks), *chosen, "--"]
        if self.library == "open-mpi":
            return [self.prefix / "bin" / "mpirun", "--oversubscribe", "-n", str(ranks)]
        return [self.prefix / "bin" / "mpiexec", "-n", str(ranks)]

    def run(self, command: Sequence[str | Path], folder: Path) -> tuple[int, str]:
        """Its status and what it said. A job that takes too long is killed."""
        with subprocess.Popen(
            command, cwd=folder, text=True, errors="replace", start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                said = process.communicate(timeout=self.seconds)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    said = process.communicate(timeout=20)[0]
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    said = process.communicate()[0]
                return 124, said
        return process.returncode, said


class Mpi4py(Suite):
    """One job for all modules, or one for each (--apart)."""

    def jobs(self) -> Iterator[str]:
        if not self.is_apart:
            yield "test"
            return
        for path in sorted((self.folder / "test").glob("test_*.py")):
            if path.stem not in self._left_out():
                yield path.stem

    def _left_out(self) -> set[str]:
        return set() if self.library == "open-mpi" else SPAWNING

    def results(self, job: str, with_resprout: bool) -> Results:
        found = Results()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rank"
            driver = [Path(__file__).parent / "recorded.py", path, self.folder / "test" / "main.py"]
            command = [*self.launcher(self.ranks, with_resprout), self.prefix / "bin" / "python"]
            chosen = ["-i", f"{job}$"] if self.is_apart else []
            chosen += [word for name in sorted(self._left_out()) for word in ("-e", name)]
            status, _ = self.run([*command, *driver, *chosen], Path(folder))
            for rank in Path(folder).glob("rank.*"):
                self._read(rank, found)
        if status != 0 and not found.failed():
            found.add(f"{job}: status {status}", "failed")
        return found

    def _read(self, path: Path, found: Results) -> None:
        running: str | None = None
        for line in path.read_text().splitlines():
            word, _, name = line.partition(" ")
            if word == "begun":
                running = name
            else:
                found.add(name, word)
                running = None
        if running is not None:
            found.add(running, "failed")


class Mpich(Suite):
    """A job is a line of a testlist: a program, how many ranks, and more."""

    def jobs(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("*/testlist")):
            for line in path.read_text().splitlines():
                words = line.partition("#")[0].split()
                if len(words) < 2 or not words[1].isdigit() or self._is_left_out(words):
                    continue
                if (path.parent / words[0]).exists():
                    yield f"{path.parent.name}/{line.strip()}"

    def _is_left_out(self, words: Sequence[str]) -> bool:
        return int(words[1]) > self.ranks or any(word.startswith("xfail=") for word in words)

    def results(self, job: str, with_resprout: bool) -> Results:
        name, ranks, *more = job.split()
        options = dict(word.partition("=")[::2] for word in more if not word.startswith("arg="))
        arguments = [word.removeprefix("arg=") for word in more if word.startswith("arg=")]
        settings = [word.removeprefix("env=") for word in more if word.startswith("env=")]
        program = self.folder / name
        command = ["env", *settings, *self.launcher(int(ranks), with_resprout), program, *arguments]
        status, said = self.run(command, program.parent)
        is_ok = status == 0 and "No Errors" in said
        if options.get("resultTest") == "TestStatus":
            is_ok = status != 0
        elif "resultTest" in options:
            is_ok = status == 0
        found = Results()
        found.add(job, "ok" if is_ok else "failed")
        return found


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("suite", choices=["mpi4py", "mpich"])
    parser.add_argument("folder")
    parser.add_argument("--mpi", choices=MPIS, default="mpich")
    parser.add_argument("--ranks", "-n", type=int, default=2, help="at most, for MPICH's")
    parser.add_argument("--only", default="", help="jobs whose names contain this")
    parser.add_argument("--apart", action="store_true", help="a job for each module of mpi4py")
    parser.add_argument("--seconds", type=int, default=1200, help="for a job")
    return parser.parse_args()


def main() -> int:
    wanted = read_arguments()
    suite: Mpi4py | Mpich = Mpi4py(wanted) if wanted.suite == "mpi4py" else Mpich(wanted)
    counts: Counter[str] = Counter()
    for job in suite.jobs():
        if wanted.only not in job:
            continue
        ours = suite.results(job, with_resprout=True)
        failed = ours.failed()
        theirs = suite.results(job, with_resprout=False) if failed else Results()
        alone = failed - theirs.failed()
        counts.update(ours.word.values())
        counts["failed with Resprout alone"] += len(alone)
        for name in sorted(failed):
            print("resprout" if name in alone else "both", name, flush=True)
    print(", ".join(f"{counts[word]} {word}" for word in (*WORDS, "failed with Resprout alone")))
    return 1 if counts["failed with Resprout alone"] else 0


if __name__ == "__main__":
    sys.exit(main())
