"""What hundreds of ranks on one host take: collectives, memory and the time to start.

Each job takes turns with a plain mpirun of the same program. Writes docs/lab/hundreds.md.

    .venv/bin/python bench/hundreds.py
    .venv/bin/python bench/hundreds.py --ranks 64 --rounds 3 --output /tmp/hundreds.md
"""

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build" / "release" / "bench" / "mpi"
BIN = Path(sys.executable).parent
FUNCTIONS = ("bcast", "allreduce", "barrier", "reduce", "gather", "scan", "scatter")
SIZES = (8, 65536)
# Of 64 KiB only these: a gather of it brings 16 MiB to the root, of 256 ranks.
LARGE = ("bcast", "allreduce", "reduce")
WATCHDOG_SECONDS = 600.0
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
WHO = {
    "alone": [BIN / "mpirun", "--map-by", ":oversubscribe"],
    "resprout": [BIN / "resprout", "run", "--calibration", "none"],
}

Times = dict[tuple[str, int], float]


def run(who: str, ranks: int, program: Sequence[str | Path]) -> str:
    """What it printed; a job that fails ends the measurement."""
    between = ["--"] if who == "resprout" else []
    command = [*WHO[who], "-n", str(ranks), *between, *program]
    done = subprocess.run(
        command,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=WATCHDOG_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{command!r} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def collectives(who: str, ranks: int, seconds: float) -> Times:
    """Microseconds a call, by function and size."""
    times: Times = {}
    for size in SIZES:
        functions = FUNCTIONS if size == min(SIZES) else LARGE
        program = [PROGRAMS / "all_collectives", str(seconds), *functions, str(size)]
        for line in run(who, ranks, program).splitlines():
            function, _, microseconds = line.split()
            times[function, size] = float(microseconds)
    return times


def footprint(who: str, ranks: int) -> tuple[float, float, float]:
    """Seconds to start, KiB of a rank, KiB of its page tables."""
    began = time.time_ns()
    through, memory, tables = run(who, ranks, [PROGRAMS / "footprint"]).split()
    return (int(through) - began) / 1e9, float(memory), float(tables)


def measure(ranks: int, rounds: int, seconds: float) -> tuple[list[str], str]:
    """The rows of both tables for so many ranks."""
    times: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    sizes: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for turn in range(rounds):
        print(f"{ranks} ranks, round {turn + 1} of {rounds}", file=sys.stderr)
        for who in WHO:
            sizes[who].append(footprint(who, ranks))
            for key, time_of_it in collectives(who, ranks, seconds).items():
                times[key][who].append(time_of_it)
    rows = []
    for (function, size), of_all in times.items():
        pairs = zip(of_all["resprout"], of_all["alone"], strict=True)
        ratio = median(ours / theirs for ours, theirs in pairs)
        ours, theirs = median(of_all["resprout"]), median(of_all["alone"])
        what = "" if function == "barrier" else f"{size:,}"
        times_of_it = f"{theirs:,.0f} | {ours:,.0f} | {ratio:.2f}"
        rows.append(f"| {ranks} | {function} | {what} | {times_of_it} |")
    alone, ours = (
        [median(column) for column in zip(*sizes[who], strict=True)]
        for who in ("alone", "resprout")
    )
    more = (ours[1] + ours[2] - alone[1] - alone[2]) / 1024
    start = f"{alone[0]:.1f} | {ours[0]:.1f}"
    memory = f"{alone[1]:,.0f} | {ours[1]:,.0f} | {alone[2]:,.0f} | {ours[2]:,.0f} | {more:.2f}"
    return rows, f"| {ranks} | {start} | {memory} |"


def page(asked: argparse.Namespace) -> str:
    """The whole text of docs/lab/hundreds.md."""
    calls: list[str] = []
    sizes: list[str] = []
    for ranks in asked.ranks:
        rows, size = measure(ranks, asked.rounds, asked.seconds)
        calls += rows
        sizes.append(size)
    cores = os.cpu_count()
    return f"""# Hundreds of ranks on one host

For those who run many more ranks than there are cores. `.venv/bin/python bench/hundreds.py` writes
this page. [How small collectives go](../explanation/protocols/shared_slots.md).

- date: {datetime.datetime.now(datetime.timezone.utc).date()}
- machine: {cores} cores of {platform.machine()}, load when it ended {os.getloadavg()[0]:.0f}
- {asked.rounds} rounds, in each of which `mpirun` alone and `resprout run` take turns

## Collectives
Microseconds a call, back to back, of the slowest rank: the median of the rounds. The ratio is the
median of the rounds' ratios.

| ranks | call | bytes | alone | with Resprout | ratio |
|---:|---|---:|---:|---:|---:|
{chr(10).join(calls)}

## Start and memory
Seconds until all ranks are through `MPI_Init`. KiB of a rank once all of these calls were made,
where memory that ranks share counts in equal parts.

| ranks | start alone, s | with Resprout, s | memory alone, KiB | with Resprout, KiB \
| page tables alone, KiB | with Resprout, KiB | more a rank, MiB |
|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(sizes)}
"""


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each call and size")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "lab" / "hundreds.md")
    parser.set_defaults(ranks=[64, 128, 256])
    asked = parser.parse_args()
    asked.output.write_text(page(asked))


if __name__ == "__main__":
    main()
