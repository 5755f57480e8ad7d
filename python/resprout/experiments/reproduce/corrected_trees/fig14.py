"""Figure 14, appendix B: coloring latency without faults."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    COLORS,
    MARKS,
    TREES,
    acknowledged,
    fault_free,
    gossip_fault_free,
    opportunistic_gossip_fault_free,
)
from resprout.experiments.reproduce.corrected_trees.fig7 import latency_rows
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _acknowledged_with_faults(study: Study) -> Campaign:
    points = [Point(acknowledged(tree), study.procs_max, faults="1%") for tree in TREES]
    return campaign("acknowledged_with_faults", points, study.scale.runs(20, 1000))


def _campaigns(study: Study) -> list[Campaign]:
    return [
        fault_free(study),
        gossip_fault_free(study),
        opportunistic_gossip_fault_free(study),
        _acknowledged_with_faults(study),
    ]


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig14")
    found = {(row["broadcast"], row["kind"], row["procs"]): row for row in rows}
    sizes = sorted({row["procs"] for row in rows if row["broadcast"] in TREES})
    largest = study.procs_max
    for tree in TREES:
        same = sum(
            found[tree, "checked", p]["coloring"] == found[tree, "acknowledged", p]["coloring"]
            for p in sizes
        )
        claims.equal(
            "there is no difference in coloring latency between corrected and acknowledged trees "
            f"({tree}: sizes without one)",
            len(sizes),
            same,
            4 * len(sizes),
        )
        row = found[tree, "acknowledged", largest]
        claims.less(
            f"In a fault-free case coloring happens much faster ({tree}: as a share of the time "
            "until all acknowledgments are there)",
            "much faster",
            row["coloring"] / row["latency"],
            2 / 3,
            2,
            rule="below two thirds",
        )
    at_start = sum(
        found[tree, "checked", p]["coloring"] == found[tree, "checked", p]["start"]
        for tree in TREES
        for p in sizes
    )
    claims.equal(
        "In the fault-free case all nodes are colored when the last process receives a tree "
        "message (trees and sizes where nobody is colored by correction)",
        len(TREES) * len(sizes),
        at_start,
        2 * len(TREES) * len(sizes),
    )
    sql = "SELECT sum((coloring_latency > correction_start)::INT)::INT, count(*) FROM runs"
    late, runs = study.ask(gossip_fault_free(study), f"{sql} WHERE procs = {largest}")[0]
    claims.mostly(
        "Corrected Gossip usually finishes full coloring only during correction",
        "usually",
        late,
        runs,
        share=0.5,
        matters=0.25,
    )
    uncolored = "SELECT avg((uncolored > 0)::INT), count(*) FROM runs"
    share, runs = study.ask(_acknowledged_with_faults(study), uncolored)[0]
    claims.more(
        "For acknowledged trees, there is no guarantee that all live nodes get colored in case of "
        "faults (share of runs with 1 % faults in which some do not)",
        "> 0",
        share,
        0,
        runs,
        rule="in some run",
    )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    for kind, line in (("checked", "solid"), ("opportunistic", "dotted")):
        for name, color in COLORS.items():
            own = sorted(
                (r["procs"], r["coloring"])
                for r in rows
                if (r["broadcast"], r["kind"]) == (name, kind)
            )
            axes.plot(
                *zip(*own, strict=True),
                color=color,
                marker=MARKS[name],
                markersize=3,
                linestyle=line,
                label=f"{name}, {kind}",
            )
    axes.set_xscale("log", base=2)
    axes.set_xlabel("processes")
    axes.set_ylabel("coloring latency in ticks")
    axes.legend(fontsize=6.5, frameon=False, ncols=2)
    axes.grid(axis="y", color=pictures.FAINT_GRAY, linewidth=0.5)


FIG14 = Experiment(
    "fig14",
    "Figure 14: coloring latency without faults",
    "When the last process has the broadcast: trees with synchronized checked correction (as with "
    "acknowledgments or none) and overlapped optimized opportunistic correction (dotted), and "
    "Corrected Gossip. L = 2, o = 1.",
    _campaigns,
    latency_rows,
    _claims,
    _draw,
)
