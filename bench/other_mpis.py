"""What Resprout costs programs of MPICH and Intel MPI, for run.py: jobs with it, and under the
library's own `mpiexec`, take turns."""

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
MPIS = ROOT / ".venv" / "mpis"
MPICH = MPIS / "mpich"
PREFIXES = {"MPICH": MPICH, "Intel MPI": MPIS / "impi-rt"}
RESPROUT = Path(sys.executable).parent / "resprout"
SOURCE = ROOT / "bench" / "mpi" / "other_mpis.c"
PROGRAM = ROOT / "build" / "release" / "bench" / "other_mpis-mpich"
RANKS = (2, 4, 8)
_JOB_SECONDS_MAX = 300

Row = dict[str, object]


def _build() -> None:
    """By MPICH's compiler wrapper; Intel MPI has the same binary interface."""
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([MPICH / "bin" / "mpicc", "-O2", "-w", "-o", PROGRAM, SOURCE], check=True)


def _times(command: list[str | Path], library: str) -> dict[tuple[str, int], float]:
    folder = PREFIXES[library] / "lib"
    paths = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    done = subprocess.run(
        command, env={**os.environ, "LD_LIBRARY_PATH": ":".join(paths)}, check=False,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_JOB_SECONDS_MAX,
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {(call, int(size)): float(time) for call, size, time in lines}


def measure(rounds: int, seconds: float) -> list[Row]:
    """Nothing, where these libraries are not there."""
    if not all((prefix / "lib" / "libmpi.so.12").exists() for prefix in PREFIXES.values()):
        return []
    _build()
    rows: list[Row] = []
    for library, prefix in PREFIXES.items():
        for ranks in RANKS:
            times: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
            for number in range(rounds):
                print(f"{library}, {ranks} ranks, {number + 1} of {rounds}", file=sys.stderr)
                program: list[str | Path] = ["-n", str(ranks), PROGRAM, str(seconds)]
                words: list[str | Path] = [RESPROUT, "run", "--mpi", prefix, *program[:2], "--"]
                ours = _times([*words, *program[2:]], library)
                alone = _times([prefix / "bin" / "mpiexec", *program], library)
                for key, time in ours.items():
                    times[key].append((time, alone[key]))
            for (call, size), pairs in times.items():
                row: Row = {"library": library, "ranks": ranks, "call": call, "bytes": size}
                row["resprout"] = median(ours for ours, _ in pairs)
                row["alone"] = median(theirs for _, theirs in pairs)
                row["ratio"] = median(ours / theirs for ours, theirs in pairs)
                rows.append(row)
    return rows


def _time_text(time: float) -> str:
    return f"{time:.3g}" if time < 1000 else f"{time:.0f}"


def _size_text(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B" if size else ""


def _table(rows: list[Row], library: str) -> list[str]:
    """A line a call and size. By number of ranks: Resprout's time, the library's, and the ratio."""
    lines = [
        "| call | size |" + "".join(f" P={p}: Resprout | alone | ratio |" for p in RANKS),
        "|---|---:|" + "---:|" * (3 * len(RANKS)),
    ]
    cells = {(r["call"], r["bytes"], r["ranks"]): r for r in rows if r["library"] == library}
    for call, size in dict.fromkeys((call, size) for call, size, _ in cells):
        line = f"| {call} | {_size_text(int(str(size)))} |"
        for ranks in RANKS:
            row = cells.get((call, size, ranks))
            times = [] if row is None else [float(str(row[name])) for name in ("resprout", "alone")]
            line += "".join(f" {_time_text(time)} |" for time in times) or " | |"
            line += " |" if row is None else f" **{float(str(row['ratio'])):.2f}** |"
        lines.append(line)
    return lines


def page_of(rows: list[Row]) -> list[str]:
    """A section of docs/lab/benchmarks.md."""
    if not rows:
        return []
    lines = [
        "## MPICH and Intel MPI",
        "Microseconds a call, back to back, of the slowest rank. *Alone* is the same program under "
        "the library's",
        "`mpiexec`, in turns. The **ratio** is the median over the turns. "
        "`bench/run.py --other-mpis` measures this part",
        "alone.",
        "",
    ]
    for library in PREFIXES:
        lines += [f"### {library}", "", *_table(rows, library), ""]
    return lines
