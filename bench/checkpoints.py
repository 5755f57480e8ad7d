"""What a checkpoint in memory costs, and how soon all ranks have their data back after a kill.

    .venv/bin/python bench/checkpoints.py [--ranks 4] [--mib 64] [--repetitions 7]

In turns jobs under `--on-loss restart`. In each ten checkpoints are taken, each beside a plain copy
of the same memory, all ranks at once; of a checkpoint, and of a copy, the time is that of the
slowest rank. Then one rank is killed; from there it is measured until the first checkpoint of the
last rank of the next life has come back. Medians, with the quartiles.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

from resprout.progress import progress_bar

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "release" / "bench" / "mpi" / "checkpoint_times"
BIN = Path(sys.executable).parent


class Run:
    """One job from its start to its end."""

    def __init__(self, ranks: int, mib: int) -> None:
        self._lines: list[str] = []
        self.copies_ms: list[float] = []
        self.checkpoints_ms: list[float] = []
        command = [BIN / "resprout", "run", "-n", str(ranks), "--on-loss", "restart", "--"]
        with subprocess.Popen(
            [*command, PROGRAM, str(mib)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        ) as job:  # fmt: skip
            self._ranks, self._job = ranks, job
            pids = [int(pid) for _, _, pid, _ in self._read("back 0 ", ranks)]
            self._take([[int(word) for word in line] for line in self._read("took ", ranks * 9)])
            self._read("idle ", ranks)
            killed_ns = time.time_ns()
            os.kill(pids[ranks // 2], signal.SIGKILL)
            back_ns = max(int(line[3]) for line in self._read("back 1 ", ranks))
            self.back_ms = (back_ns - killed_ns) / 1e6
            job.communicate()

    def _take(self, lines: list[list[int]]) -> None:
        """Of the n-th checkpoint of all ranks the slowest."""
        by_rank = [[line[1:] for line in lines if line[0] == rank] for rank in range(self._ranks)]
        for at_once in zip(*by_rank, strict=True):
            self.copies_ms.append(max(copy_ns for copy_ns, _ in at_once) / 1e6)
            self.checkpoints_ms.append(max(kept_ns for _, kept_ns in at_once) / 1e6)

    def _read(self, head: str, count: int) -> list[list[str]]:
        """So many lines that begin so, without their first word; others that came are kept."""
        assert self._job.stdout is not None
        while sum(line.startswith(head) for line in self._lines) < count:
            line = self._job.stdout.readline()
            if not line:
                raise SystemExit(f"the job ended with status {self._job.wait()}")
            self._lines.append(line)
        return [line.split()[1:] for line in self._lines if line.startswith(head)]


def spread(some: Sequence[float]) -> str:
    low, _, high = quantiles(some)
    return f"{median(some):.1f} ({low:.1f} to {high:.1f})"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=7)
    options = parser.parse_args(words)
    runs = []
    work = options.repetitions
    with progress_bar(work=work, things=work, name="checkpoints") as shown:
        for _ in range(options.repetitions):
            runs.append(Run(options.ranks, options.mib))
            shown.advance(1, 1)
    copies = [ms for run in runs for ms in run.copies_ms]
    checkpoints = [ms for run in runs for ms in run.checkpoints_ms]
    print("| ranks | MiB a rank | plain copy, ms | checkpoint, ms | kill to all data back, ms |")
    print("|---:|---:|---:|---:|---:|")
    back = spread([run.back_ms for run in runs])
    print(
        f"| {options.ranks} | {options.mib} | {spread(copies)} | {spread(checkpoints)} | {back} |"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
