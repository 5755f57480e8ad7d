"""All measurements: tables on stdout, in docs/lab/benchmarks.md and README.md; JSON with --json.

1. Broadcast and allreduce under `resprout run`, in turns with the MPI library's own: within each
   job call by call (`mpi`), and job by job against a plain mpirun without Resprout and without
   ULFM (`alone`). The ratio is to the faster of the two.
2. Every collective, job by job against a plain mpirun.
3. The same as 1 where Resprout's own collectives carry all, against the library's in the same job.
4. The same as 2 between hosts, and what losses cost there, where hosts can be made (hosts.py).
5. How long the survivors of a killed rank stay in the operation that the kill fell into.
6. What programs of MPICH and Intel MPI pay, against their own `mpiexec` (other_mpis.py).
7. The simulator's messages a second, against copies of memory; the transports against pipes.
"""

import argparse
import array
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from statistics import median, quantiles

import hosts
import other_mpis
import readme

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build" / "release" / "bench"
BIN = Path(sys.executable).parent
PAGE = ROOT / "docs" / "lab" / "benchmarks.md"
HEAD = (
    "For those who want to know what Resprout costs, and repeat it. `make bench` measures all of "
    "this and writes this page."
)
RANKS = (2, 4, 8, 16)
OWN_RANKS = (4, 8, 16)
EVERY_RANKS = (2, 4)
# Of the seconds of a case, where there are so many functions.
EVERY_SHARE = 0.7
KILLED_OF = 8
# In the in-order binomial tree of 8: the root, a child of it with a subtree of 4, a leaf.
KILLS = (
    ("allreduce", 0, "the root"),
    ("allreduce", 4, "an inner rank"),
    ("allreduce", 7, "a leaf"),
    ("bcast", 0, "the broadcast's root"),
)
WATCHDOG_SECONDS = 120.0
# Containers run as root, which Open MPI allows only when it is told so.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

Row = dict[str, object]
Key = tuple[str, str, int]
# By library: lower quartile, median, upper quartile.
Figures = dict[str, tuple[float, float, float]]


def say(text: str) -> None:
    """Progress goes to stderr, at once."""
    print(text, file=sys.stderr, flush=True)


def output_of(command: Sequence[str | Path]) -> str:
    """What the command prints; a command that fails or hangs ends the measurement."""
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=WATCHDOG_SECONDS,
        env=os.environ | AS_ROOT,
    )
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def preloaded(ranks: int, *command: str | Path, carrier: str = "auto") -> list[str | Path]:
    """The command line of a job under Resprout."""
    options = ["--calibration", "none", "--collectives", carrier]
    return [BIN / "resprout", "run", "-n", str(ranks), *options, "--", *command]


def plain(ranks: int, *command: str | Path) -> list[str | Path]:
    """The command line of the same job as the MPI library runs it by default."""
    return [BIN / "mpirun", "--oversubscribe", "-n", str(ranks), *command]


def figures_of(text: str) -> dict[Key, Figures]:
    """What bench/mpi/collectives printed."""
    found: dict[Key, Figures] = defaultdict(dict)
    for line in text.splitlines():
        operation, mode, library, size, *quartiles = line.split()
        low, middle, high = map(float, quartiles)
        found[operation, mode, int(size)][library] = (low, middle, high)
    return found


def middle_of(runs: Sequence[tuple[float, float, float]]) -> list[float]:
    """Quartile by quartile, the median over the runs."""
    return [median(run[i] for run in runs) for i in range(3)]


def measure_collectives(rounds: int, seconds: float) -> list[Row]:
    rows: list[Row] = []
    program = PROGRAMS / "mpi" / "collectives"
    for ranks in RANKS:
        runs: dict[Key, dict[str, list[tuple[float, float, float]]]]
        runs = defaultdict(lambda: defaultdict(list))
        for number in range(rounds):
            say(f"collectives of {ranks} ranks, round {number + 1} of {rounds}")
            shim = figures_of(output_of(preloaded(ranks, program, str(seconds))))
            alone = figures_of(output_of(plain(ranks, program, str(seconds))))
            for key, libraries in shim.items():
                runs[key]["resprout"].append(libraries["program"])
                runs[key]["mpi"].append(libraries["mpi"])
                runs[key]["within"].append(libraries["ratio"])
                runs[key]["alone"].append(alone[key]["program"])
                runs[key]["alone"].append(alone[key]["mpi"])
        for (operation, mode, size), libraries in runs.items():
            row: Row = {"operation": operation, "mode": mode, "ranks": ranks, "bytes": size}
            for name, quartiles in libraries.items():
                row[name] = middle_of(quartiles)
            to_alone = middle_of(libraries["resprout"])[1] / middle_of(libraries["alone"])[1]
            row["ratio"] = max(to_alone, middle_of(libraries["within"])[1])
            rows.append(row)
    return rows


def measure_own(rounds: int, seconds: float) -> list[Row]:
    """Where the MPI library carries nothing: Resprout's time to the library's, in the same job."""
    rows: list[Row] = []
    program = PROGRAMS / "mpi" / "collectives"
    for ranks in OWN_RANKS:
        ratios: dict[Key, list[float]] = defaultdict(list)
        for number in range(rounds):
            say(f"our own collectives of {ranks} ranks, round {number + 1} of {rounds}")
            command = preloaded(ranks, program, str(seconds), carrier="resprout")
            for key, libraries in figures_of(output_of(command)).items():
                ratios[key].append(libraries["ratio"][1])
        for (operation, mode, size), found in ratios.items():
            row: Row = {"operation": operation, "mode": mode, "ranks": ranks, "bytes": size}
            rows.append({**row, "ratio": median(found)})
    return rows


def times_of(text: str) -> dict[tuple[str, int], float]:
    """What bench/mpi/all_collectives printed."""
    lines = [line.split() for line in text.splitlines()]
    return {(function, int(size)): float(time) for function, size, time in lines}


def measure_every(rounds: int, seconds: float) -> list[Row]:
    """Each function, back to back, in jobs that take turns with a plain mpirun."""
    rows: list[Row] = []
    program = PROGRAMS / "mpi" / "all_collectives"
    seconds *= EVERY_SHARE
    for ranks in EVERY_RANKS:
        times: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
        for number in range(rounds):
            say(f"every collective of {ranks} ranks, round {number + 1} of {rounds}")
            shim = times_of(output_of(preloaded(ranks, program, str(seconds))))
            alone = times_of(output_of(plain(ranks, program, str(seconds))))
            for key, time_of_shim in shim.items():
                times[key].append((time_of_shim, alone[key]))
        for (function, size), pairs in times.items():
            row: Row = {"function": function, "ranks": ranks, "bytes": size}
            row["resprout"] = median(ours for ours, _ in pairs)
            row["alone"] = median(theirs for _, theirs in pairs)
            row["ratio"] = median(ours / theirs for ours, theirs in pairs)
            rows.append(row)
    return rows


def kill_once(operation: str, victim: int) -> float:
    """Milliseconds from the kill until the last survivor's operation has returned."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "times"
        program = PROGRAMS / "mpi" / "kill_to_completion"
        output_of(preloaded(KILLED_OF, program, file, operation, str(victim)))
        times = array.array("q", file.read_bytes())
    if len(times) != KILLED_OF or min(times) <= 0:
        sys.exit(f"a survivor of rank {victim} never returned from {operation}: {list(times)}")
    return float(max(times) - times[victim]) / 1e6


def measure_kills(kills: int) -> list[Row]:
    rows: list[Row] = []
    for operation, victim, who in KILLS:
        say(f"kills of {who}, {kills} times")
        times = [kill_once(operation, victim) for _ in range(kills)]
        rows.append({"operation": operation, "victim": who, "ms": times})
    return rows


def measure_programs() -> dict[str, str]:
    """The output of the benches that are programs of their own."""
    texts = {}
    for name in ("sim_throughput", "memory_copy", "transport_pingpong"):
        say(name)
        texts[name] = output_of([PROGRAMS / name])
    return texts


def environment() -> dict[str, str]:
    """What the figures depend on, apart from Resprout."""
    models = re.findall(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    compiler = output_of(["c++", "--version"]).splitlines()[0]
    mpi = output_of([BIN / "mpirun", "--version"]).splitlines()[0]
    commit = output_of(["git", "-C", ROOT, "describe", "--always"]).strip()
    return {
        "date": date.today().isoformat(),
        "commit": commit,
        "processor": f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "mpi": mpi.replace("mpirun (", "").replace(")", ""),
        "compiler": compiler,
        "load when it began": f"{os.getloadavg()[0]:.1f}",
    }


def size_text(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def collectives_table(rows: list[Row], operation: str, mode: str) -> list[str]:
    """A line a size; for each number of ranks Resprout's time, the MPI's two, and the ratio."""
    head = "| size |" + "".join(f" P={p}: Resprout | in the job | alone | ratio |" for p in RANKS)
    lines = [head, "|---:|" + "---:|" * (4 * len(RANKS))]
    cells = {
        (row["bytes"], row["ranks"]): row
        for row in rows
        if row["operation"] == operation and row["mode"] == mode
    }
    for size in sorted({int(str(row["bytes"])) for row in rows}):
        line = f"| {size_text(size)} |"
        for ranks in RANKS:
            row = cells[size, ranks]
            times = [row[name][1] for name in ("resprout", "mpi", "alone")]  # type: ignore[index]
            line += "".join(f" {t:.3g} |" if t < 1000 else f" {t:.0f} |" for t in times)
            line += f" **{row['ratio']:.2f}** |"
        lines.append(line)
    return lines


def own_table(rows: list[Row], operation: str) -> list[str]:
    """A line a size; for each number of ranks the ratio back to back, and after a barrier."""
    head = "| size |" + "".join(f" P={p}: back to back | after a barrier |" for p in OWN_RANKS)
    lines = [head, "|---:|" + "---:|" * (2 * len(OWN_RANKS))]
    cells = {
        (row["bytes"], row["ranks"], row["mode"]): row["ratio"]
        for row in rows
        if row["operation"] == operation
    }
    for size in sorted({int(str(row["bytes"])) for row in rows}):
        ratios = [cells[size, p, mode] for p in OWN_RANKS for mode in ("throughput", "latency")]
        lines.append(f"| {size_text(size)} |" + "".join(f" {ratio:.2f} |" for ratio in ratios))
    return lines


def every_table(rows: list[Row], ranks: int) -> list[str]:
    """A line a function; for each size Resprout's time, the library's, and the ratio."""
    cells = {(row["function"], row["bytes"]): row for row in rows if row["ranks"] == ranks}
    sizes = sorted({int(str(size)) for _, size in cells})
    head = "| function |" + "".join(f" {size_text(s)}: Resprout | alone | ratio |" for s in sizes)
    lines = [head, "|---|" + "---:|" * (3 * len(sizes))]
    for function in dict.fromkeys(str(name) for name, _ in cells):
        line = f"| {function} |"
        for size in sizes:
            row = cells[function, size]
            times = [float(str(row[name])) for name in ("resprout", "alone")]
            line += "".join(f" {t:.3g} |" if t < 1000 else f" {t:.0f} |" for t in times)
            line += f" **{row['ratio']:.2f}** |"
        lines.append(line)
    return lines


def kills_table(rows: list[Row]) -> list[str]:
    lines = ["| operation | who is killed | kills | lower quartile | median | upper quartile |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    pooled: list[float] = []
    for row in rows:
        times = list(row["ms"])  # type: ignore[call-overload]
        pooled += times
        lines.append(kill_line(str(row["operation"]), str(row["victim"]), times))
    lines.append(kill_line("all", "", pooled))
    return lines


def kill_line(operation: str, victim: str, times: list[float]) -> str:
    low, middle, high = quantiles(times, n=4)
    figures = f"{low:.2f} ms | **{middle:.2f} ms** | {high:.2f} ms"
    return f"| {operation} | {victim} | {len(times)} | {figures} |"


def page_of(results: dict[str, object]) -> str:
    rows: list[Row] = results["collectives"]  # type: ignore[assignment]
    programs: dict[str, str] = results["programs"]  # type: ignore[assignment]
    about: dict[str, str] = results["environment"]  # type: ignore[assignment]
    lines = ["# Measurements", "", HEAD, ""]
    lines += [f"- {name}: {value}" for name, value in about.items()]
    lines += [
        "",
        "## Collectives without a loss",
        "Microseconds an operation, of the slowest rank. *In the job* is the MPI library's own "
        "collective, called in turns",
        "with Resprout's in the same processes; *alone* the same program under a plain `mpirun`, "
        "without Resprout and without",
        "ULFM, job after job in turns. Medians over the repetitions in a job, then over the jobs. "
        "The **ratio** is Resprout's",
        "time to the library's, the worse of the two: below 1, Resprout is faster.",
        "",
    ]
    for operation in ("bcast", "allreduce"):
        for mode, meaning in (
            ("throughput", "calls back to back"),
            ("latency", "one call after a barrier"),
        ):
            lines += [f"### {operation}, {meaning}", ""]
            lines += [*collectives_table(rows, operation, mode), ""]
    lines += [
        "## Every collective without a loss",
        "Microseconds a call, back to back, of the slowest rank. *Alone* is the same program under "
        "a plain `mpirun`, in turns.",
        "The **ratio** is the median over the turns. An `i...` is started and waited for at once.",
        "An `..._init` is made once, and then started and waited for again and again.",
        "",
    ]
    for ranks in EVERY_RANKS:
        lines += [f"### P={ranks}", "", *every_table(results["every"], ranks), ""]  # type: ignore[arg-type]
    lines += hosts.page_of(results["hosts"])  # type: ignore[arg-type]
    lines += other_mpis.page_of(results["other mpis"])  # type: ignore[arg-type]
    lines += [
        "## Resprout's own collectives",
        "The same with `--collectives resprout`, where the MPI library carries none: Resprout's "
        "time to that of the library's own",
        "collective, called in turns in the same processes. Medians likewise.",
        "",
    ]
    for operation in ("bcast", "allreduce"):
        lines += [f"### {operation}", "", *own_table(results["own"], operation), ""]  # type: ignore[arg-type]
    lines += [
        "## From a kill to completion",
        f"{KILLED_OF} ranks on one host, one kills itself with SIGKILL instead of entering its "
        "200th operation of 8 bytes: time from",
        "there until the last survivor's call has returned. One kill a job.",
        "",
        *kills_table(results["kills"]),  # type: ignore[arg-type]
        "",
        "## The simulator",
        "Broadcasts among 65536 processes on one core, in processor time, and how often that core "
        "copies 64 bytes at random.",
        "",
        "```",
        *programs["sim_throughput"].splitlines(),
        *programs["memory_copy"].splitlines(),
        "```",
        "",
        "## The transports",
        "",
        "```",
        *programs["transport_pingpong"].splitlines(),
        "```",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])  # type: ignore[union-attr]
    parser.add_argument("--rounds", type=int, default=3, help="pairs of jobs for each P")
    parser.add_argument("--seconds", type=float, default=0.06, help="a case and library, in a job")
    parser.add_argument(
        "--every", action="store_true", help="print the table of every collective, and no more"
    )
    parser.add_argument("--kills", type=int, default=12, help="for each kind of victim")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all figures as JSON")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="what is written")
    parser.add_argument("--hosts", action="store_true", help="print what is between hosts alone")
    parser.add_argument(
        "--other-mpis", action="store_true", help="print what is of MPICH and Intel MPI alone"
    )
    options = parser.parse_args()
    began = time.monotonic()
    if options.every:
        rows = measure_every(options.rounds, options.seconds)
        for ranks in EVERY_RANKS:
            print(f"P={ranks}", *every_table(rows, ranks), "", sep="\n")
        say(f"measured in {time.monotonic() - began:.0f} s")
        return
    if options.hosts:
        print(
            *hosts.page_of(hosts.measure(options.rounds, options.seconds, options.kills)), sep="\n"
        )
        say(f"measured in {time.monotonic() - began:.0f} s")
        return
    if options.other_mpis:
        print(*other_mpis.page_of(other_mpis.measure(options.rounds, options.seconds)), sep="\n")
        say(f"measured in {time.monotonic() - began:.0f} s")
        return
    results: dict[str, object] = {
        "environment": environment(),
        "collectives": measure_collectives(options.rounds, options.seconds),
        "every": measure_every(options.rounds, options.seconds),
        "hosts": hosts.measure(options.rounds, options.seconds, options.kills),
        "other mpis": other_mpis.measure(options.rounds, options.seconds),
        "own": measure_own(options.rounds, options.seconds),
        "kills": measure_kills(options.kills),
        "programs": measure_programs(),
    }
    page = page_of(results)
    options.page.write_text(page)
    if options.page == PAGE:
        readme.main()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    print(page)
    say(f"measured in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
