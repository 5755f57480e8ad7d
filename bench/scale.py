"""The plan for very many processes: connections, memory and messages from 10^3 to 10^6.

What the protocols send is simulated. What the lifeline keeps and sends is measured: its tables at
every size, real processes at the sizes that a machine can run (bench/scale.cpp). Writes
docs/lab/scale.md and its picture; docs/explanation/scale.md says what follows from them.

    .venv/bin/python bench/scale.py
    .venv/bin/python bench/scale.py --procs 1024,10240 --real 16,64 --output /tmp/scale
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resprout import native, pictures
from resprout.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "release" / "bench" / "scale"
HOST = 128
REAL_HOST = 16
SIZES = (1024, 10_240, 102_400, 1_024_000)
REAL = (48, 96, 144)
LATENCY = 10
BEATS_A_SECOND = 10
NEWS_BYTES = 32
# What each process gets of each other one at the start: two host ids, an address, two names.
START_BYTES = 32 + 88 + 64 + 64
SECONDS_MAX = 900.0

Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    sizes: Sequence[int]
    host: int
    real: Sequence[int]
    real_host: int


def simulated(spec: str, procs: int, fail_at: Sequence[str] = (), more: Row | None = None) -> Row:
    machine = native.Simulation(spec, procs=procs, latency=LATENCY, overhead=1, **(more or {}))
    return dict(machine.run(faults="none", fail_at=list(fail_at), seed=0))


def connections(procs: int) -> int:
    """Each process makes one with whomever is 2^i to its right, and accepts as many. Where 2^i to
    the right is 2^j to the left, two processes have two."""
    return 2 * (procs - 1).bit_length()


def flood(procs: int, host: int) -> Row:
    """The last process dies, and the kernel tells all others of its host at once."""
    siblings = ",".join(str(rank) for rank in range(procs - host, procs - 1))
    dead = [f"{procs - 1}@0"]
    return simulated("revoke", procs, dead, {"initiators": siblings if host > 1 else "0"})


def remote_neighbors(procs: int, host: int) -> float:
    """Of a process of the last host, in the mean: those whom it is linked with and that are on
    other hosts."""
    steps = (procs - 1).bit_length()
    count = 0
    for rank in range(procs - host, procs):
        near = {(rank + sign * (1 << i)) % procs for i in range(steps) for sign in (1, -1)}
        count += sum(other // host != rank // host for other in near)
    return count / host


def measured(what: str, procs: int, host: int) -> Row:
    """By bench/scale.cpp."""
    words = [PROGRAM, what, str(procs), str(host)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, timeout=SECONDS_MAX)
    row: Row = json.loads(done.stdout)
    return row


def planned(procs: int, host: int) -> Row:
    """One size: what is simulated of it, and what a process keeps."""
    told = flood(procs, host)
    reduced = simulated("ftco-allreduce", procs)
    lost = [f"{rank}@0" for rank in range(procs - host, procs)]
    around = simulated("ftco-allreduce", procs, lost)
    spread = simulated("corrected-tree:correction=optimized-opportunistic,d=1", procs)
    views = simulated("membership:radix=4,views=local", procs, [f"{procs - 1}@0"])
    tables = measured("tables", procs, host)
    links = connections(procs)
    watchers = remote_neighbors(procs, host)
    return {
        "procs": procs,
        "hosts": procs // host,
        "links": links,
        "tree": (procs - 1).bit_length(),
        "kept": tables["kept"] + tables["kept_by_transport"],
        "start_ms": tables["start_ms"],
        "start_bytes": START_BYTES * procs,
        "beats": links * BEATS_A_SECOND,
        "known": told["coloring_latency"],
        "loss": told["messages"] / procs,
        "host_accusations": watchers * host,
        "host_silent": (watchers * host + host) * links,
        "allreduce": reduced["completion_latency"],
        "allreduce_lost": around["completion_latency"],
        "allreduce_messages": reduced["messages_per_process"],
        "allreduce_lost_messages": around["messages_per_process"],
        "broadcast_messages": spread["messages_per_process"],
        "views": views["messages_per_process"],
        "views_ticks": views["completion_latency"],
    }


def collect(asked: Asked) -> tuple[list[Row], list[Row]]:
    rows = [planned(procs, asked.host) for procs in asked.sizes]
    real = []
    for procs in asked.real:
        one = measured("process", procs, asked.real_host)
        silent = measured("host", procs, asked.real_host)
        expected = {
            "links_expected": connections(procs),
            "accusations_expected": remote_neighbors(procs, asked.real_host) * asked.real_host,
        }
        real.append({**one, "host_messages": silent["loss_messages"], **expected})
    return rows, real


def table(columns: Sequence[tuple[str, str, str]], rows: Sequence[Row]) -> list[str]:
    """In Markdown; a column is a heading, a key and a format."""
    lines = ["| " + " | ".join(heading for heading, _, _ in columns) + " |"]
    lines.append("|" + "---:|" * len(columns))
    for row in rows:
        cells = (format(row[key], form) for _, key, form in columns)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


PLANNED = (
    ("processes", "procs", ",d"), ("hosts", "hosts", ",d"), ("connections", "links", "d"),
    ("most partners in a tree", "tree", "d"), ("kept, KiB", "kept_kib", ",.0f"),
    ("received at the start, KiB", "start_kib", ",.0f"), ("tables ready, ms", "start_ms", ",.1f"),
    ("heartbeats a second", "beats", "d"), ("of a host", "host_beats", ",d"),
)  # fmt: skip
LOSSES = (
    ("processes", "procs", ",d"), ("a process dies: messages", "loss", ".1f"),
    ("all know, ticks", "known", "d"),
    ("a host falls silent: accusations", "host_accusations", ",.0f"),
    ("messages", "host_silent", ",.0f"),
    ("allreduce, ticks", "allreduce", "d"), ("without a host", "allreduce_lost", "d"),
    ("allreduce, messages", "allreduce_messages", ".2f"),
    ("without a host", "allreduce_lost_messages", ".2f"),
    ("broadcast, messages", "broadcast_messages", ".2f"),
    ("a view, messages", "views", ".2f"), ("a view, ticks", "views_ticks", "d"),
)  # fmt: skip
MEASURED = (
    ("processes", "procs", "d"), ("on a host", "host", "d"), ("connections", "links", ".1f"),
    ("by the graph", "links_expected", "d"), ("memory, KiB", "memory_kib", ",.0f"),
    ("sent at the start, bytes", "start_bytes", ",.0f"),
    ("heartbeats a period", "heartbeats", ".1f"),
    ("a process dies: messages", "loss_messages", ".1f"), ("all know, ms", "known_ms", ",.0f"),
    ("a host falls silent: messages", "host_messages", ",.0f"),
    ("by the graph", "host_expected", ",.0f"),
)  # fmt: skip


def with_units(rows: list[Row], host: int) -> list[Row]:
    return [
        {
            **row,
            "kept_kib": row["kept"] / 1024,
            "start_kib": row["start_bytes"] / 1024,
            "host_beats": row["beats"] * host,
        }
        for row in rows
    ]


def with_units_of_real(rows: list[Row]) -> list[Row]:
    return [
        {
            **row,
            "memory_kib": row["memory"] / 1024,
            "host_expected": (row["accusations_expected"] + row["host"]) * row["links_expected"],
        }
        for row in rows
    ]


def markdown(asked: Asked, rows: list[Row], real: list[Row]) -> str:
    machine = f"{len(os.sched_getaffinity(0))} cores of {platform.machine()}"
    lines = [
        "# Very many processes",
        "",
        "For those who run Resprout on more processes than one machine has, or plan to. "
        "`.venv/bin/python bench/scale.py` writes",
        "this page. [What follows from it](../explanation/scale.md).",
        "",
        f"- date: {datetime.datetime.now(datetime.UTC).date()}",
        f"- machine: {machine}, load when it ended {os.getloadavg()[0]:.0f}",
        "",
        "![Connections, memory and messages of one process](../pictures/scale.svg)",
        "",
        "All figures are of one process, unless they say otherwise. A tick is the time of a send;",
        f"a message is {LATENCY} ticks on its way.",
        "",
        f"## At the start and at rest, hosts of {asked.host}",
        "",
        *table(PLANNED, with_units(rows, asked.host)),
        "",
        f"## With a loss, hosts of {asked.host}",
        "",
        *table(LOSSES, rows),
        "",
        "## Real processes",
        "They run on one machine, and pretend to be on hosts. The last process is killed, or all",
        "processes of the last host are stopped. Memory is that of the lifeline, before the loss.",
        "",
        *table(MEASURED, with_units_of_real(real)),
    ]
    return "\n".join(lines) + "\n"


def draw(figure: "Figure", rows: list[Row], real: list[Row]) -> None:
    sizes = [row["procs"] for row in rows]
    few = [row["procs"] for row in real]
    links, memory, losses = figure.subplots(1, 3)

    def curve(axes: "Axes", ys: Sequence[float], name: str, style: str, color: str) -> None:
        axes.plot(sizes, ys, style, color=color, marker="o", markersize=3, label=name)

    def points(axes: "Axes", ys: Sequence[float], name: str, mark: str, color: str) -> None:
        axes.plot(few, ys, mark, color=color, markersize=6, fillstyle="none", label=name)

    curve(links, [row["links"] for row in rows], "connections", "-", pictures.BLUE)
    points(links, [row["links"] for row in real], "connections, measured", "s", pictures.BLUE)
    curve(links, [row["loss"] for row in rows], "a process dies", "--", pictures.VERMILION)
    points(
        links, [row["loss_messages"] for row in real],
        "a process dies, measured", "^", pictures.VERMILION,
    )  # fmt: skip
    links.set_ylabel("connections, or messages")
    links.set_ylim(bottom=0)
    curve(memory, [row["kept"] / 1024 for row in rows], "tables of all processes", "-",
          pictures.GREEN)  # fmt: skip
    points(memory, [row["memory"] / 1024 for row in real], "lifeline, measured", "s",
           pictures.GREEN)  # fmt: skip
    memory.set_yscale("log")
    memory.set_ylabel("KiB")
    curve(losses, [row["host_silent"] for row in rows], "a host falls silent", "-",
          pictures.PURPLE)  # fmt: skip
    points(losses, [row["host_messages"] for row in real], "measured, smaller hosts", "s",
           pictures.PURPLE)  # fmt: skip
    losses.set_yscale("log")
    losses.set_ylabel("messages")
    for axes in (links, memory, losses):
        axes.set_xscale("log")
        axes.set_xlabel("processes of the job")
        axes.legend(frameon=False, fontsize=7)
        axes.spines[["top", "right"]].set_visible(False)


def picture(rows: list[Row], real: list[Row]) -> bytes:
    from matplotlib.figure import Figure

    title = "Connections, memory and messages of one process"
    with pictures.settings():
        figure = Figure(figsize=(10.0, 3.4), facecolor="white", layout="constrained")
        draw(figure, rows, real)
        return pictures.encode(figure, "svg", title, "By the number of processes of the job")


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(",") if word)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--procs", type=numbers, default=SIZES, help="of the plan, with commas")
    parser.add_argument("--host", type=int, default=HOST, help="processes of a host")
    parser.add_argument("--real", type=numbers, default=REAL, help="numbers of real processes")
    parser.add_argument("--real-host", type=int, default=REAL_HOST, help="of them, on a host")
    parser.add_argument("--output", type=Path, default=ROOT / "docs", help="has lab/, pictures/")
    words = parser.parse_args()
    asked = Asked(words.procs, words.host, words.real, words.real_host)
    if any(procs % asked.host or procs <= asked.host for procs in asked.sizes):
        parser.error(f"--procs: multiples of the {asked.host} processes of a host, and more")
    rows, real = collect(asked)
    for name, content in (
        ("lab/scale.md", markdown(asked, rows, real).encode()),
        ("pictures/scale.svg", picture(rows, real)),
    ):
        place = words.output / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as path:
            path.write_bytes(content)


if __name__ == "__main__":
    main()
