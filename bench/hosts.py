"""What collectives cost between hosts, and what losses cost there. Part of bench/run.py.

Hosts are network namespaces of this machine, so their ranks share its cores, and what is measured
of a network is the system's. Needs root, iproute2 and the tool that makes hosts (HOSTS_TOOL).
"""

import array
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parent.parent
TOOL = Path(os.environ.get("HOSTS_TOOL", ROOT.parent / "shared" / "tools" / "hosts"))
PROGRAMS = ROOT / "build" / "release" / "bench" / "mpi"
BIN = Path(sys.executable).parent
HOSTS = 4
# So many hosts, and ranks on each.
SHAPES = ((4, 2), (2, 1))
FUNCTIONS = (
    "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "scan",
    "reduce_scatter",
)  # fmt: skip
# What Resprout's own carry of it in bearable time: their exchanges send everything to everybody.
OWN = ("bcast", "reduce", "allreduce")
CARRIERS = {"auto": FUNCTIONS, "resprout": OWN}
# Of 4 hosts with 2 ranks each: who ends in which operation.
KILLS = (
    ("allreduce", 0, "the root"),
    ("allreduce", 7, "a leaf"),
    ("bcast", 0, "the broadcast's root"),
)
CUT_OFF = "D"
WATCHDOG_SECONDS = 180.0

Row = dict[str, object]


def why_not() -> str:
    """Why no hosts can be made here; empty if they can."""
    if not TOOL.exists():
        return f"{TOOL} is not there"
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "making hosts needs root and iproute2"
    made = subprocess.run(["ip", "netns", "add", "rs-try"], capture_output=True, check=False)
    if made.returncode != 0:
        return "no network namespace can be made here"
    subprocess.run(["ip", "netns", "del", "rs-try"], check=True)
    return ""


class Hosts:
    """That are up, with a folder that all of them see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "HOSTS_STATE": str(folder / "state"),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # Ranks outnumber cores, so the library yields where it is alone, too.
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_btl": "^ofi,usnic",
            "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
            "PRTE_MCA_prte_if_include": "10.78.0.0/24",
            "PRTE_MCA_plm_ssh_agent": str(folder / "agent"),
            "RESPROUT_NETWORK": "10.77.0.0/24",
        }
        agent = folder / "agent"
        agent.write_text(f'#!/bin/sh\nexec {TOOL} agent "$@"\n')
        agent.chmod(0o700)

    def tool(self, *words: str) -> None:
        subprocess.run([TOOL, *words], check=True, env=self.environment)

    def hostfile(self, hosts: int, ranks_each: int) -> list[str]:
        path = self.folder / f"hosts-{hosts}-{ranks_each}"
        names = [f"node{letter}" for letter in "ABCDEFGH"[:hosts]]
        path.write_text("".join(f"{name} slots={ranks_each}\n" for name in names))
        return ["-n", str(hosts * ranks_each), "--hostfile", str(path)]

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        command = [TOOL, "in", "A", *words]
        return subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end_of(self, job: subprocess.Popen[str]) -> str:
        """What it said; a job that fails ends the measurement."""
        out, err = job.communicate(timeout=WATCHDOG_SECONDS)
        if job.returncode != 0:
            sys.exit(f"{job.args!r} ended with {job.returncode}:\n{out}{err}")
        return out

    def plain(self, where: Sequence[str], *program: str | Path) -> subprocess.Popen[str]:
        by_slots = ["--map-by", "slot:oversubscribe"]
        return self.start(BIN / "mpirun", "--mca", "coll", "^han", *by_slots, *where, *program)

    def resprout(
        self, where: Sequence[str], *program: str | Path, carrier: str = "auto"
    ) -> subprocess.Popen[str]:
        options: list[str | Path] = ["--calibration", "none", "--collectives", carrier]
        options += ["--run-dir", self.folder]
        return self.start(BIN / "resprout", "run", *where, *options, "--", *program)


@contextmanager
def up() -> Iterator[Hosts]:
    with tempfile.TemporaryDirectory(prefix="hosts-") as folder:
        hosts = Hosts(Path(folder))
        hosts.tool("up", str(HOSTS))
        try:
            yield hosts
        finally:
            hosts.tool("down")


def times_of(text: str) -> dict[tuple[str, int], float]:
    """What bench/mpi/all_collectives printed."""
    lines = [line.split() for line in text.splitlines()]
    times = {(function, int(size)): float(time) for function, size, time in lines}
    if not times or min(times.values()) <= 0:
        sys.exit(f"a call cannot take no time:\n{text}")
    return times


def measure_collectives(hosts: Hosts, rounds: int, seconds: float) -> list[Row]:
    """Each function, back to back, in jobs that take turns with a plain mpirun."""
    rows: list[Row] = []
    words: list[str | Path] = [PROGRAMS / "all_collectives", str(seconds)]
    plainly = [*words, *FUNCTIONS]
    for number, each in SHAPES:
        where = hosts.hostfile(number, each)
        times: dict[tuple[str, int], dict[str, list[float]]]
        times = defaultdict(lambda: defaultdict(list))
        for turn in range(rounds):
            say(f"{number} hosts with {each} ranks, round {turn + 1} of {rounds}")
            found = {"alone": times_of(hosts.end_of(hosts.plain(where, *plainly)))}
            for carrier, functions in CARRIERS.items():
                job = hosts.resprout(where, *words, *functions, carrier=carrier)
                found[carrier] = times_of(hosts.end_of(job))
            for who, of_them in found.items():
                for key, time_of_it in of_them.items():
                    times[key][who].append(time_of_it)
        for (function, size), of_all in times.items():
            row: Row = {"hosts": number, "each": each, "function": function, "bytes": size}
            row |= {who: median(values) for who, values in of_all.items()}
            for who in of_all.keys() & CARRIERS:
                pairs = zip(of_all[who], of_all["alone"], strict=True)
                row[f"{who} ratio"] = median(ours / theirs for ours, theirs in pairs)
            rows.append(row)
    return rows


def kill_once(hosts: Hosts, operation: str, victim: int) -> float:
    """Milliseconds from the kill until the last survivor's operation has returned."""
    ranks = SHAPES[0][0] * SHAPES[0][1]
    file = hosts.folder / "times"
    file.unlink(missing_ok=True)
    program: list[str | Path] = [PROGRAMS / "kill_to_completion", file, operation, str(victim)]
    hosts.end_of(hosts.resprout(hosts.hostfile(*SHAPES[0]), *program))
    times = array.array("q", file.read_bytes())
    if len(times) != ranks or min(times) <= 0:
        sys.exit(f"a survivor of rank {victim} never returned from {operation}: {list(times)}")
    return float(max(times) - times[victim]) / 1e6


def cut_once(hosts: Hosts) -> float:
    """Milliseconds from the cut of a host's data link until all others have its operation."""
    file = hosts.folder / "times"
    file.unlink(missing_ok=True)
    program: list[str | Path] = [PROGRAMS / "kill_to_completion", file, "allreduce", "-1"]
    job = hosts.resprout(hosts.hostfile(*SHAPES[0]), *program)
    others = (SHAPES[0][0] - 1) * SHAPES[0][1]
    while not file.exists() or min(array.array("q", file.read_bytes()) or [0]) == 0:
        if job.poll() is not None:
            sys.exit(f"it ended before the cut: {job.communicate()}")
        time.sleep(0.05)
    time.sleep(0.2)
    began = time.monotonic_ns()
    hosts.tool("cut", CUT_OFF, "data")
    # The ranks of the host that is cut off end with an error, and so may the job.
    job.communicate(timeout=WATCHDOG_SECONDS)
    hosts.tool("heal", CUT_OFF, "data")
    times = array.array("q", file.read_bytes())[:others]
    if min(times) <= began:
        sys.exit(f"a survivor of the cut never returned: {list(times)}, cut at {began}")
    return float(max(times) - began) / 1e6


def measure_losses(hosts: Hosts, kills: int) -> list[Row]:
    rows: list[Row] = []
    for operation, victim, who in KILLS:
        say(f"between hosts: kills of {who}, {kills} times")
        times = [kill_once(hosts, operation, victim) for _ in range(kills)]
        rows.append({"operation": operation, "loss": f"{who} is killed", "ms": times})
    say(f"a host is cut off, {kills} times")
    times = [cut_once(hosts) for _ in range(kills)]
    rows.append({"operation": "allreduce", "loss": "a host is cut off", "ms": times})
    return rows


def measure(rounds: int, seconds: float, kills: int) -> dict[str, object]:
    """All of it; where no hosts can be made, `skipped` says why."""
    if reason := why_not():
        say(f"hosts: skipped, {reason}")
        return {"skipped": reason}
    with up() as hosts:
        return {
            "collectives": measure_collectives(hosts, rounds, seconds),
            "losses": measure_losses(hosts, kills),
        }


def size_text(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def collectives_table(rows: list[Row], shape: tuple[int, int]) -> list[str]:
    """A line a function; for each size `auto`, alone and the ratio, and that of Resprout's own."""
    cells = {
        (row["function"], row["bytes"]): row for row in rows if (row["hosts"], row["each"]) == shape
    }
    sizes = sorted({int(str(size)) for _, size in cells})
    each = "".join(f" {size_text(s)}: auto | alone | ratio | own |" for s in sizes)
    lines = [f"| function |{each}", "|---|" + "---:|" * (4 * len(sizes))]
    for function in dict.fromkeys(str(name) for name, _ in cells):
        line = f"| {function} |"
        for size in sizes:
            row = cells[function, size]
            line += f" {float(str(row['auto'])):.4g} | {float(str(row['alone'])):.4g} |"
            own = f"{row['resprout ratio']:.2f}" if function in OWN else ""
            line += f" **{row['auto ratio']:.2f}** | {own} |"
        lines.append(line)
    return lines


def losses_table(rows: list[Row]) -> list[str]:
    lines = ["| operation | what is lost | times | lower quartile | median | upper quartile |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    for row in rows:
        times = list(row["ms"])  # type: ignore[call-overload]
        low, middle, high = quantiles(times, n=4)
        figures = f"{low:.2f} ms | **{middle:.2f} ms** | {high:.2f} ms"
        lines.append(f"| {row['operation']} | {row['loss']} | {len(times)} | {figures} |")
    return lines


def page_of(results: dict[str, object]) -> list[str]:
    lines = ["## Between hosts"]
    if "skipped" in results:
        return [*lines, f"Not measured: {results['skipped']}.", ""]
    lines += [
        "Hosts are network namespaces of this machine, joined by a bridge, so all ranks share its "
        "cores. Microseconds a call,",
        "back to back, of the slowest rank. *Alone* is the same program under a plain `mpirun`, in "
        "turns. The **ratio** is the",
        "median over the turns, of `auto`, and *own* that of `--collectives resprout`.",
        "",
    ]
    for shape in SHAPES:
        lines += [f"### {shape[0]} hosts with {shape[1]} ranks", ""]
        lines += [*collectives_table(results["collectives"], shape), ""]  # type: ignore[arg-type]
    lines += [
        "### From a loss to completion",
        f"{SHAPES[0][0]} hosts with {SHAPES[0][1]} ranks, one loss a job: until the last "
        "survivor's call has returned. Who is cut off counts as",
        "lost after two heartbeat timeouts, of a second each.",
        "",
        *losses_table(results["losses"]),  # type: ignore[arg-type]
        "",
    ]
    return lines


def say(text: str) -> None:
    """Progress goes to stderr, at once."""
    print(text, file=sys.stderr, flush=True)
