"""How long a job takes to come back after a kill, and how much of that the MPI library takes.

    .venv/bin/python bench/restarts.py [--ranks 4,8,16] [--repetitions 20]

In turns, of each number of ranks: a job under `--on-loss restart`, of which one rank is killed when
all are in MPI, until all ranks of the next life are through MPI_Init; and the same program under
mpirun alone, from its start until all are through MPI_Init. Medians, with the quartiles.
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
PROGRAM = ROOT / "build" / "release" / "bench" / "mpi" / "init_times"
BIN = Path(sys.executable).parent
# As `resprout run` sets them: the library starts alike in both.
LIKE_OURS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl": "^ofi,usnic",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def times_in(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Process ids, and when they were through MPI_Init."""
    words = [line.split() for line in lines]
    return [(int(pid), int(when_ns)) for _, _, pid, when_ns in words]


def read(job: subprocess.Popen[str], life: int, count: int) -> list[str]:
    """So many lines of ranks in that life; any others are passed over."""
    assert job.stdout is not None
    lines: list[str] = []
    while len(lines) < count:
        line = job.stdout.readline()
        if not line:
            raise SystemExit(f"the job ended with status {job.wait()} before all were in MPI")
        lines += [line] if line.startswith(f"in {life} ") else []
    return lines


def come_back(ranks: int) -> float:
    """Milliseconds from a kill until all ranks of the next life are through MPI_Init."""
    command = [BIN / "resprout", "run", "-n", str(ranks), "--on-loss", "restart", "--", PROGRAM]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as job:
        pids = [pid for pid, _ in times_in(read(job, 0, ranks))]
        time.sleep(0.3)  # what begins with MPI_Init is over
        killed_ns = time.time_ns()
        os.kill(pids[ranks // 2], signal.SIGKILL)
        back_ns = max(when_ns for _, when_ns in times_in(read(job, 1, ranks)))
        job.communicate()
    return (back_ns - killed_ns) / 1e6


def start_alone(ranks: int) -> float:
    """Milliseconds that the MPI library needs from mpirun's start until all are in MPI."""
    command = [BIN / "mpirun", "--oversubscribe", "-n", str(ranks), PROGRAM]
    began_ns = time.time_ns()
    with subprocess.Popen(
        command, env=os.environ | LIKE_OURS, stdout=subprocess.PIPE, text=True
    ) as job:
        lines = read(job, 1, ranks)
        job.communicate()
    return (max(when_ns for _, when_ns in times_in(lines)) - began_ns) / 1e6


def row(ranks: int, back: Sequence[float], alone: Sequence[float]) -> str:
    spans = (f"{median(some):.0f} ({low:.0f} to {high:.0f})" for some in (back, alone)
             for low, _, high in [quantiles(some)])  # fmt: skip
    return f"| {ranks} | {' | '.join(spans)} | {median(back) - median(alone):.0f} |"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="4,8,16")
    parser.add_argument("--repetitions", type=int, default=20)
    options = parser.parse_args(words)
    counts = [int(text) for text in options.ranks.split(",")]
    rows = []
    work = len(counts) * options.repetitions
    with progress_bar(work=work, things=work, name="restarts") as shown:
        for ranks in counts:
            back, alone = [], []
            for _ in range(options.repetitions):
                back.append(come_back(ranks))
                alone.append(start_alone(ranks))
                shown.advance(1, 1)
            rows.append(row(ranks, back, alone))
    print("| ranks | kill to all in MPI_Init again, ms | start of the library alone, ms | more |")
    print("|---:|---:|---:|---:|")
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
