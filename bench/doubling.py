"""An allreduce by recursive doubling beside one up and down a tree, simulated.

Writes docs/lab/doubling.md and its picture.

    .venv/bin/python bench/doubling.py
    .venv/bin/python bench/doubling.py --runs 10 --output /tmp/docs
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.files import replacing
from resprout.sim.runs import Experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parent.parent
LATENCY, OVERHEAD = 2, 1
FORMS = {
    "tree": "ftco-allreduce",
    "tree, k=4": "ftco-allreduce:k=4",
    "doubling": "ftco-allreduce:roots=doubling",
    "doubling, k=4": "ftco-allreduce:roots=doubling,k=4",
}
STYLES = {
    "tree": (pictures.BLUE, "-", "o"),
    "tree, k=4": (pictures.GREEN, "--", "s"),
    "doubling": (pictures.VERMILION, "-.", "^"),
    "doubling, k=4": (pictures.PURPLE, ":", "v"),
}
SIZES = (8, 16, 32, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096, 16384)
PROCS = 1024
DEAD = (0, 1, 2, 4, 8, 16, 32)
WHEN_ENTERED = "in the operation"
WHEN = {"from the start": "{}", WHEN_ENTERED: "0+{}@40"}


@dataclass(frozen=True)
class Row:
    form: str
    procs: int
    when: str
    dead: int
    ticks: float
    messages: float


def measure(form: str, procs: int, when: str, dead: int, runs: int) -> Row:
    faults = WHEN[when].format(dead) if dead else "none"
    experiment = Experiment(
        FORMS[form], procs, LATENCY, OVERHEAD, 0, 0, faults, [], seed=1, runs=runs if dead else 1
    )
    found = list(experiment.run_all())
    for run in found:
        assert run["uncolored"] == 0 and (run["contributors"] or 0) >= procs - dead, run
    ticks = mean(run["completion_latency"] or 0 for run in found)
    return Row(form, procs, when, dead, ticks, mean(run["messages"] for run in found) / procs)


def without_faults() -> list[Row]:
    return [measure(form, procs, "from the start", 0, 1) for procs in SIZES for form in FORMS]


def with_faults(runs: int) -> list[Row]:
    return [
        measure(form, PROCS, when, dead, runs) for when in WHEN for dead in DEAD for form in FORMS
    ]


def table(rows: Sequence[Row], head: str, key: str) -> Iterator[str]:
    names = [f"{form}: {what}" for what in ("ticks", "messages") for form in FORMS]
    yield f"| {head} | " + " | ".join(names) + " |"
    yield "|" + "---:|" * (len(names) + 1)
    for value in dict.fromkeys(getattr(row, key) for row in rows):
        of_value = {row.form: row for row in rows if getattr(row, key) == value}
        ticks = [f"{of_value[form].ticks:,.1f}".removesuffix(".0") for form in FORMS]
        messages = [f"{of_value[form].messages:.2f}" for form in FORMS]
        yield f"| {value:,} | " + " | ".join([*ticks, *messages]) + " |"


def markdown(without: Sequence[Row], losses: Sequence[Row], runs: int) -> str:
    lines = [
        "# An allreduce by recursive doubling",
        "",
        "For those who choose a form of allreduce, or read the FTCO paper. Its conclusion wishes",
        "to see recursive doubling with faults handled in the operation. This page sets it beside",
        "the tree. `.venv/bin/python bench/doubling.py` writes the page.",
        "",
        "With `roots=doubling` the largest power of two of processes exchange what they have, with",
        "one partner after the other. The rest are below them. When one of those who exchange is",
        "lost, all begin again on one tree",
        "([ftco_allreduce](../explanation/protocols/ftco_allreduce.md)).",
        "",
        "![Time of an allreduce by its size, and by who is lost](../pictures/doubling.svg)",
        "",
        f"All figures are simulated, with L = {LATENCY} and o = {OVERHEAD}: a message takes "
        f"{LATENCY + 2 * OVERHEAD} ticks. Ticks are those until",
        "the last process that lives has the result. Messages are those of one process. A loss is",
        f"known everywhere {2 * (LATENCY + 2 * OVERHEAD)} ticks after it.",
        "",
        "```sh",
        f"resprout sim {FORMS['doubling']} --procs {PROCS} --faults 0+4@40 --runs {runs}",
        "```",
        "",
        "## Without faults",
        "",
        *table(without, "processes", "procs"),
    ]
    for when in WHEN:
        lines += ["", f"## Processes die {when}", f"{PROCS:,} processes, means of {runs} runs.", ""]
        lines += table([row for row in losses if row.when == when], "dead", "dead")
    return "\n".join([*lines, "", *conclusion(losses)]) + "\n"


def conclusion(losses: Sequence[Row]) -> list[str]:
    """What the figures say, of k=4, the quicker one."""

    def ticks(form: str, dead: int) -> float:
        (row,) = (r for r in losses if (r.form, r.dead, r.when) == (form, dead, WHEN_ENTERED))
        return row.ticks

    quicker = ticks("tree, k=4", 0) / ticks("doubling, k=4", 0)
    slower = ticks("doubling, k=4", 1) / ticks("tree, k=4", 1)
    return [
        "## What follows",
        "- **While nobody dies** doubling takes one message's time a step, where the tree has two",
        f"  ways and waits at each node. Of {PROCS:,} processes it is {quicker:.1f} times as quick "
        "as the tree with k=4.",
        "- It sends log2(P) messages a process, and the tree two.",
        f"- **With a loss** it is {slower:.2f} times as slow as the tree. The exchange is broken",
        "  off for all, and what follows is the whole tree. A tree goes around who is lost.",
        "- A partner of the lost one cannot go around it alone. Another process may have the lost",
        "  contribution already, and then two halves of the exchange would differ in it.",
        "- So doubling is for jobs whose losses are rare, and payloads that are small.",
    ]


def picture(without: Sequence[Row], losses: Sequence[Row]) -> bytes:
    from matplotlib.figure import Figure

    def curves(axes: "Axes", rows: Sequence[Row], key: str) -> None:
        for form, (color, style, mark) in STYLES.items():
            own = [row for row in rows if row.form == form]
            xs = [getattr(row, key) for row in own]
            axes.plot(xs, [row.ticks for row in own], style, color=color, marker=mark,
                      markersize=3, label=form)  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.set_ylabel("ticks until all have the result")
        axes.spines[["top", "right"]].set_visible(False)

    with pictures.settings():
        figure = Figure(figsize=(10.0, 3.4), facecolor="white", layout="constrained")
        sizes, *others = figure.subplots(1, 3)
        curves(sizes, without, "procs")
        sizes.set_xscale("log", base=2)
        sizes.set_xlabel("processes, none dies")
        sizes.legend(frameon=False)
        for axes, when in zip(others, WHEN, strict=True):
            curves(axes, [row for row in losses if row.when == when], "dead")
            axes.set_xlabel(f"of {PROCS:,} processes, dead {when}")
        title = "Time of an allreduce by recursive doubling and by trees"
        return pictures.encode(figure, "svg", title, "By its size, and by how many are lost")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="of each number of losses")
    parser.add_argument("--output", type=Path, default=ROOT / "docs", help="has lab/, pictures/")
    words = parser.parse_args()
    without, losses = without_faults(), with_faults(words.runs)
    for name, content in (
        ("lab/doubling.md", markdown(without, losses, words.runs).encode()),
        ("pictures/doubling.svg", picture(without, losses)),
    ):
        place = words.output / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as path:
            path.write_bytes(content)


if __name__ == "__main__":
    main()
