"""Checked correction that is overlapped: section 3.1 has it, the figures leave it out."""

import math
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    COLORS,
    CORRECTION_FAULT_FREE,
    MARKS,
    RATES,
    TREES,
    checked,
    fault_free,
    percent,
    resilience,
    sizes,
    tree_of,
)
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = {"synchronized": "dashed", "overlapped": "solid"}


def _overlapped(tree: str) -> str:
    return checked(tree).replace("start=synchronized", "start=overlapped")


def _alone(study: Study) -> Campaign:
    """No chance in it: twice shows that."""
    points = [Point(_overlapped(tree), procs) for procs in sizes(study) for tree in TREES]
    return campaign("overlapped", points, 2)


def _with_faults(study: Study) -> Campaign:
    points = [
        Point(_overlapped(tree), study.procs_max, faults=rate) for tree in TREES for rate in RATES
    ]
    return campaign("overlapped_faults", points, study.scale.runs(20, 100_000))


def _campaigns(study: Study) -> list[Campaign]:
    return [fault_free(study), _alone(study), resilience(study), _with_faults(study)]


def _rows(study: Study) -> list[Row]:
    """A row for each tree, start, size and fault rate."""
    columns = ("protocol", "procs", "faults", "latency", "deviation", "since", "messages")
    sql = """
        SELECT protocol, procs, faults, avg(quiescence_latency), stddev_pop(quiescence_latency),
               min(quiescence_latency - correction_start), avg(messages_per_process),
               sum(uncolored)::BIGINT, count(*)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    rows = []
    for measured in _campaigns(study):
        for row in study.rows(measured, (*columns, "uncolored", "runs"), sql):
            if "correction=checked" not in row["protocol"]:
                continue
            row["start"] = "overlapped" if "overlapped" in row["protocol"] else "synchronized"
            row["broadcast"] = tree_of(row["protocol"])
            row["percent"] = 0.0 if row["faults"] == "none" else percent(row["faults"])
            rows.append(row)
    return rows


def _varies(lasting: set[int]) -> bool:
    return len(lasting) > 1


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("overlapped")
    overlapped = [row for row in rows if row["start"] == "overlapped"]
    runs = sum(row["runs"] for row in overlapped)
    claims.equal(
        "checked correction colors every live process, overlapped too (live processes that stayed "
        "uncolored)",
        0,
        sum(row["uncolored"] for row in overlapped),
        runs,
    )
    for tree in TREES:
        own = [r for r in overlapped if r["broadcast"] == tree and r["percent"] == 0]
        lasting = {r["since"] for r in own}
        claims.holds(
            "With overlapped correction, the quiescence latency depends additionally on the "
            f"latency of the dissemination phase ({tree}: ticks of correction without faults)",
            "more than one value",
            f"{min(lasting)} to {max(lasting)}",
            _varies(lasting),
            sum(r["runs"] for r in own),
            rule="not the same for all sizes",
            planted=_varies({CORRECTION_FAULT_FREE}),
        )
    checked_messages = {
        (r["broadcast"], r["procs"]): r["messages"] for r in overlapped if r["percent"] == 0
    }
    sql = "SELECT protocol, procs, max(messages_per_process) FROM runs GROUP BY ALL"
    fewer = [
        messages <= checked_messages[tree_of(protocol), procs]
        for protocol, procs, messages in study.ask(fault_free(study), sql)
        if "correction=optimized" in protocol
    ]
    claims.equal(
        "Optimized opportunistic correction sends at most as many messages as checked correction "
        "(both overlapped, d = 4, without faults: trees and sizes)",
        len(fewer),
        sum(fewer),
        2 * len(fewer),
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    alone, latency, messages = figure.subplots(1, 3)
    for start, line in _STYLES.items():
        for tree in TREES:
            own = [r for r in rows if (r["start"], r["broadcast"]) == (start, tree)]
            free = sorted((r for r in own if r["percent"] == 0), key=lambda row: int(row["procs"]))
            alone.plot(
                [row["procs"] for row in free], [row["latency"] for row in free],
                color=COLORS[tree], marker=MARKS[tree], markersize=3, linestyle=line,
                linewidth=1.1, label=f"{tree}, {start}",
            )  # fmt: skip
            faulty = sorted((r for r in own if r["percent"] > 0), key=lambda r: float(r["percent"]))
            for axes, key in ((latency, "latency"), (messages, "messages")):
                _draw_rates(axes, faulty, key, tree, line)
    alone.set_xscale("log", base=2)
    alone.set_xlabel("processes, without faults")
    alone.set_ylabel("quiescence latency in ticks")
    latency.set_ylabel("quiescence latency in ticks")
    messages.set_ylabel("messages per process")
    for axes in (latency, messages):
        axes.set_xticks(range(len(RATES)), [f"{percent(rate):g}" for rate in RATES])
        axes.set_xlabel("failed processes in %")
    figure.legend(*alone.get_legend_handles_labels(), loc="outside right center",
                  fontsize=7, frameon=False)  # fmt: skip
    for axes in (alone, latency, messages):
        axes.grid(axis="y", color=pictures.FAINT_GRAY, linewidth=0.5)


def _draw_rates(axes: "Axes", rows: list[Row], key: str, tree: str, line: str) -> None:
    errors = [1.96 * r["deviation"] / math.sqrt(r["runs"]) if key == "latency" else 0 for r in rows]
    axes.errorbar(
        range(len(rows)), [row[key] for row in rows], yerr=errors, color=COLORS[tree],
        marker=MARKS[tree], markersize=3, linestyle=line, linewidth=1.1, capsize=1.5,
    )  # fmt: skip


OVERLAPPED = Experiment(
    "overlapped",
    "Section 3.1: overlapped checked correction",
    "Checked correction that a process begins right after its tree messages (solid), and that all "
    "begin at one time (dashed). Right: 64K processes; bars hold the true mean 95 times in a "
    "hundred. L = 2, o = 1.",
    _campaigns,
    _rows,
    _claims,
    _draw,
    (10.4, 3.4),
)
