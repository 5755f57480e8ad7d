"""Section 3.2: the binomial graph; how far and how dear the flood is, and what cuts it."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.campaign.plan import NONE, Point
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.revoke.benchmark import LATENCIES, PROCS
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZES = (60, 250, 1000, PROCS, 1 << 16, 1 << 20)
_FAULTS = ("1%", "10%", "25%", "40%", "49%", "60%")
# By number of processes: so many draws of those who have failed.
_CUT = {25: 20_000, 64: 20_000, 1000: 2_000, PROCS: 200}


def _sizes(study: Study) -> list[int]:
    """The paper's, and beyond; smaller studies have neither."""
    beyond = 16 * study.procs_max
    return [procs for procs in _SIZES if procs <= beyond]


def _floods(study: Study) -> Campaign:
    points = [Point("revoke", procs, latency) for procs in _sizes(study) for latency in LATENCIES]
    return campaign("floods", points, 1)


def _cuts(study: Study) -> list[Campaign]:
    return [
        campaign(
            f"cuts_{procs}",
            [Point("revoke:ring=open", procs, faults=faults) for faults in _FAULTS],
            study.scale.runs(draws, 10 * draws),
        )
        for procs, draws in _CUT.items()
        if procs <= study.procs_max
    ]


def _trees(study: Study) -> Campaign:
    spec = "corrected-tree:tree=binomial,correction=none"
    points = [Point(spec, procs, latency) for procs in _sizes(study) for latency in LATENCIES]
    return campaign("trees", points, 1)


def _doublings(procs: int) -> int:
    return math.ceil(math.log2(procs))


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _rows(study: Study) -> list[Row]:
    columns = ("procs", "latency", "faults", "known", "silent", "messages", "cut", "runs")
    sql = """
        SELECT procs, latency, faults, max(coloring_latency), max(quiescence_latency),
               max(messages), avg((uncolored > 0)::INT), count(*)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    sql_of_trees = "SELECT procs, latency, coloring_latency FROM runs"
    trees = {(p, at): time for p, at, time in study.ask(_trees(study), sql_of_trees)}
    return [
        {**row, "tree": trees[row["procs"], row["latency"]] if row["faults"] == NONE else None}
        for measured in (_floods(study), *_cuts(study))
        for row in study.rows(measured, columns, sql)
    ]


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("overlay")
    floods = [row for row in rows if row["faults"] == NONE]
    short = [row for row in floods if row["latency"] == LATENCIES[0]]
    printed = {row["procs"]: 2 * _doublings(row["procs"]) for row in short}
    degrees = {row["procs"]: row["messages"] // row["procs"] for row in short}
    claims.equal(
        f"the degree is 2 log2 n, rounded up: messages of each process, {_listed(degrees)} "
        "processes",
        _listed(printed.values()),
        _listed(degrees.values()),
        len(short),
    )
    trees = {(row["procs"], row["latency"]): row["tree"] for row in floods if row["tree"]}
    ratios = [
        tree / ((latency + 2) * _doublings(procs)) for (procs, latency), tree in trees.items()
    ]
    claims.holds(
        "a binomial broadcast tree that is taken out of the graph takes the link latency for each "
        "of log2 n steps, as a share of that",
        1,
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        all(abs(ratio - 1) <= 0.1 for ratio in ratios),
        len(ratios),
        rule="±0.1 at each size, on both machines",
    )
    cuts = [row for row in rows if row["faults"] not in (NONE, "60%")]
    worst = max(cuts, key=lambda row: row["cut"])
    claims.less(
        "when less than 50% of the nodes have failed, the disconnection probability is well under "
        f"1% (the worst: {worst['procs']} processes, {worst['faults']} failed)",
        "< 0.01",
        worst["cut"],
        0.01,
        sum(row["runs"] for row in cuts),
        rule="less, at each size and share of the failed",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    floods, cuts = figure.subplots(1, 2)
    marks = zip(LATENCIES, (pictures.BLUE, pictures.ORANGE), ("o", "s"), strict=True)
    for latency, color, mark in marks:
        shown = [r for r in rows if r["faults"] == NONE and r["latency"] == latency]
        sizes = [row["procs"] for row in shown]
        style = {"color": color, "marker": mark, "markersize": 4, "linewidth": 1}
        floods.plot(sizes, [r["known"] for r in shown], label=f"all know, L = {latency}", **style)
        floods.plot(sizes, [r["tree"] for r in shown], label=f"binomial tree, L = {latency}",
                    **{**style, "linestyle": "--", "marker": ""})  # fmt: skip
        floods.plot(
            sizes,
            [row["silent"] for row in shown],
            linestyle=":",
            label=f"all is silent, L = {latency}",
            **style,
        )
    floods.set_xscale("log")
    floods.set_ylim(bottom=0)
    floods.set_xlabel("processes")
    floods.set_ylabel("ticks")
    floods.legend(frameon=False, fontsize=7)
    colors = (pictures.BLUE, pictures.ORANGE, pictures.GREEN, pictures.PURPLE)
    for procs, color, mark in zip(_CUT, colors, "os^D", strict=True):
        shown = [r for r in rows if r["procs"] == procs and r["faults"] != NONE]
        if shown:
            cuts.plot(
                [float(row["faults"].rstrip("%")) for row in shown],
                [100 * row["cut"] for row in shown],
                color=color,
                marker=mark,
                markersize=4,
                linewidth=1,
                label=f"{procs} processes",
            )
    cuts.set_xlabel("failed, %")
    cuts.set_ylabel("cut, % of draws")
    cuts.legend(frameon=False, fontsize=7)


OVERLAY = Experiment(
    "overlay",
    "Section 3.2: the binomial graph",
    "Left: when all know of a revocation, and when the last notice has arrived, without faults "
    "(o = 1). Right: how often random failures leave somebody uninformed, with the ring left open "
    "over the dead as in the paper; with the ring closed nobody ever is.",
    lambda study: [_floods(study), _trees(study), *_cuts(study)],
    _rows,
    _claims,
    _draw,
)
