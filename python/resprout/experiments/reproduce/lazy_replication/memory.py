"""Figure 5.5: incomplete requests of a process over time, at double replication."""

from typing import TYPE_CHECKING

from resprout.experiments.bench.replication.paper import FIGURES
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.lazy_replication.cells import Line, compute_of, lines_of
from resprout.experiments.reproduce.lazy_replication.cluster import CLUSTERS
from resprout.experiments.reproduce.lazy_replication.replay import Replay
from resprout.experiments.reproduce.lazy_replication.tables import COLORS
from resprout.experiments.reproduce.lazy_replication.traces import Trace, trace_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METHODS = ("msg-plus-hash", "async", "async-hash")
_PARTS = 3
_SAMPLES = 120


def _rows(study: Study) -> list[Row]:
    lines = lines_of(1, study.procs_max, FIGURES[1]) or lines_of(2, study.procs_max, FIGURES[2])
    return [row for line in lines for method in _METHODS for row in _sampled(line, method)]


def _sampled(line: Line, method: str) -> list[Row]:
    once = trace_of(line.benchmark, line.problem, line.processes)
    repeated = Trace([list(steps) * _PARTS for steps in once.ranks], once.parts / _PARTS)
    replay = Replay(repeated, 2, method, CLUSTERS[line.environment], compute_of(line)).run()
    changes = sorted(replay.requests)
    rows: list[Row] = []
    open_now = at = 0
    for sample in range(_SAMPLES):
        end = replay.seconds * (sample + 1) / _SAMPLES
        most = open_now
        while at < len(changes) and changes[at][0] <= end:
            open_now += changes[at][1]
            most = max(most, open_now)
            at += 1
        rows.append({"benchmark": line.benchmark, "method": method, "seconds": end,
                     "requests": most / (2 * line.processes),
                     "messages": replay.messages})  # fmt: skip
    return rows


def _claims(study: Study, rows: list[Row]) -> Claims:
    del study
    claims = Claims("fig5.5")
    most: dict[tuple[str, str], float] = {}
    for row in rows:
        key = (row["benchmark"], row["method"])
        most[key] = max(most.get(key, 0.0), row["requests"])
    messages = sum({(row["benchmark"], row["method"]): row["messages"] for row in rows}.values())
    names = list(dict.fromkeys(row["benchmark"] for row in rows))
    waiting = [name for name in names if name not in ("ep", "is", "ft")]
    claims.less(
        "under MsgPlusHash at most a handful of requests are allocated at a time",
        "a handful",
        max(most[name, "msg-plus-hash"] for name in waiting),
        6,
        messages,
        rule="at most five of a process on average, EP and IS apart",
    )
    for method, factor, text in (
        ("async", 3, "Async maintains approximately an order of magnitude more"),
        ("async-hash", 3, "AsyncHash has up to 20 times again as many"),
    ):
        ratios = [most[name, method] / most[name, "msg-plus-hash"] for name in waiting]
        claims.more(
            f"{text}: times MsgPlusHash, the most of a benchmark",
            "10" if method == "async" else "up to 200",
            max(ratios),
            factor,
            messages,
            rule="more than three times",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    names = list(dict.fromkeys(row["benchmark"] for row in rows))
    grid = figure.subplots((len(names) + 2) // 3, 3, squeeze=False).flat
    for axes, name in zip(grid, names, strict=False):
        for method in _METHODS:
            own = [r for r in rows if (r["benchmark"], r["method"]) == (name, method)]
            axes.plot(
                [row["seconds"] for row in own],
                [row["requests"] for row in own],
                color=COLORS[method][0],
                linewidth=0.9,
                label=method,
            )
        axes.set_title(name.upper(), fontsize=8.5)
        axes.set_ylim(bottom=0)
    for axes in list(grid)[len(names) :]:
        axes.set_visible(False)
    figure.axes[0].legend(frameon=False, fontsize=6.5)
    figure.axes[0].set_ylabel("requests a process")
    figure.axes[0].set_xlabel("s")


MEMORY = Experiment(
    "fig5.5",
    "Figure 5.5: allocated requests over time",
    "Mean number of requests of a process, from when it waits for a message until all copies and "
    "hashes of it are there; 64 processes, double replication, three parts of the trace.",
    lambda study: [],
    _rows,
    _claims,
    _draw,
    (6.4, 4.4),
)
