"""Figure 10: simulations agree with the analysis on g_max and the time of correction."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    COLORS,
    CORRECTION_FAULT_FREE,
    MARKS,
    TREES,
    resilience,
    tree_of,
)
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def lower_bound(g_max: int) -> int:
    """Lemma 3, for L = 2, o = 1."""
    return CORRECTION_FAULT_FREE + g_max


def upper_bound(g_max: int) -> int:
    return CORRECTION_FAULT_FREE + 2 * g_max + 1


def _campaigns(study: Study) -> list[Campaign]:
    return [resilience(study)]


def _rows(study: Study) -> list[Row]:
    columns = ("protocol", "faults", "g_max", "correction", "runs")
    sql = """
        SELECT protocol, faults, g_max, quiescence_latency - correction_start, count(*)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    rows = study.rows(resilience(study), columns, sql)
    for row in rows:
        row["broadcast"] = tree_of(row.pop("protocol"))
    return rows


def _count(rows: list[Row]) -> int:
    return sum(row["runs"] for row in rows)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig10")
    _claim_bounds(claims, rows)
    _claim_long_gaps(claims, rows)
    sql = "SELECT corr(g_max, quiescence_latency - correction_start) FROM runs"
    ((correlation,),) = study.ask(resilience(study), sql)
    claims.more(
        "the maximum gap size is an adequate proxy for correction latency (correlation)",
        "adequate",
        correlation,
        0.9,
        _count(rows),
        rule="above 0.9",
    )
    return claims


def _claim_bounds(claims: Claims, rows: list[Row]) -> None:
    total = _count(rows)
    low = [r for r in rows if r["correction"] < lower_bound(r["g_max"])]
    high = [r for r in rows if r["correction"] > upper_bound(r["g_max"])]
    claims.equal("Lemma 3: runs below the lower bound 8 + g_max", 0, _count(low), total)
    claims.equal("Lemma 3: runs above the upper bound 9 + 2 g_max", 0, _count(high), total)
    gaps = sorted({row["g_max"] for row in rows if 1 <= row["g_max"] <= 10})
    tight = [
        gap
        for gap in gaps
        if min(r["correction"] for r in rows if r["g_max"] == gap) <= lower_bound(gap) + 1
        and max(r["correction"] for r in rows if r["g_max"] == gap) >= upper_bound(gap) - 1
    ]
    claims.holds(
        "Upper and lower bounds surround the data points tightly",
        "tightly",
        f"for {len(tight)} of {len(gaps)} g_max up to 10 both are met or missed by 1",
        len(tight) * 2 >= len(gaps),
        total,
        rule="for at least half of them",
    )


def _claim_long_gaps(claims: Claims, rows: list[Row]) -> None:
    total = _count(rows)
    long = [row for row in rows if row["g_max"] > 20]
    claims.less(
        "The density of points is much lower for g_max greater than 20 (share of runs)",
        "much lower",
        _count(long) / total,
        0.001,
        total,
        rule="below 0.1 % of all",
    )
    binomial = _count([row for row in long if row["broadcast"] == "binomial"])
    claims.mostly(
        "Most large gaps happened only for binomial trees (of those above 20)",
        "most",
        binomial,
        _count(long),
        share=0.5,
        matters=0.25,
    )
    above_10 = [row for row in rows if row["g_max"] > 10]
    claims.less(
        "only less than 1% of all simulations ended up having a maximum gap size greater than 10",
        "< 1 %",
        100 * _count(above_10) / total,
        1,
        total,
        rule="below 1 (%)",
    )
    of_4_percent = _count([row for row in above_10 if row["faults"] == "4%"])
    claims.mostly(
        "with the vast majority of these gaps coming from 4% fault rate",
        "vast majority",
        of_4_percent,
        _count(above_10),
        share=0.75,
        matters=0.5,
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    for tree in reversed(TREES):
        pairs = {(r["g_max"], r["correction"]) for r in rows if r["broadcast"] == tree}
        axes.plot(
            *zip(*sorted(pairs), strict=True),
            color=COLORS[tree],
            marker=MARKS[tree],
            linestyle="",
            markersize=3.5,
            fillstyle="none",
            label=tree,
        )
    longest = max(row["g_max"] for row in rows)
    reach = [0, longest]
    axes.plot(reach, [lower_bound(g) for g in reach], color=pictures.GRAY, label="Lemma 3")
    axes.plot(reach, [upper_bound(g) for g in reach], color=pictures.GRAY)
    axes.set_xlabel("longest gap (g_max), processes")
    axes.set_ylabel("time of correction (L_SCC), ticks")
    axes.legend(frameon=False)


FIG10 = Experiment(
    "fig10",
    "Figure 10: the longest gap and the time of correction",
    "All pairs that were seen at least once, over four trees and five fault rates, and the bounds "
    "of Lemma 3. 64K processes, synchronized checked correction, L = 2, o = 1.",
    _campaigns,
    _rows,
    _claims,
    _draw,
)
