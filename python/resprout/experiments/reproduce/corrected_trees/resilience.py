"""What figures 8 and 9 have in common: one quantity by fault rate, of trees and of gossip."""

from typing import TYPE_CHECKING

from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    COLORS,
    MARKS,
    RATES,
    percent,
    resilience,
    resilience_of_gossip,
    tree_of,
    with_rates,
)
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("protocol", "faults", "mean", "deviation", "p5", "p95", "runs")


def rows_by_rate(study: Study, quantity: str, *more: Campaign) -> list[Row]:
    """Mean, deviation and percentiles; what is no rate, "none" or a number, stands as 0 %."""
    sql = f"""
        SELECT protocol, faults, avg({quantity}), stddev_pop({quantity}),
               quantile_cont({quantity}, 0.05), quantile_cont({quantity}, 0.95), count(*)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    rows = []
    for measured in (resilience(study), resilience_of_gossip(study), *more):
        for row in study.rows(measured, _COLUMNS, sql):
            is_gossip = "gossip" in row["protocol"]
            row["broadcast"] = "gossip" if is_gossip else tree_of(row["protocol"])
            row["percent"] = percent(row["faults"]) if row["faults"].endswith("%") else 0.0
            rows.append(row)
    return rows


def by_rate(rows: list[Row], name: str) -> dict[str, Row]:
    return {row["faults"]: row for row in with_rates(rows, name)}


def draw_by_rate(axes: "Axes", rows: list[Row], label: str) -> None:
    """Whiskers from 5 % to 95 %, side by side."""
    for shift, (name, color) in enumerate(COLORS.items()):
        own = [row for row in with_rates(rows, name) if row["percent"] > 0]
        places = [place + 0.1 * (shift - 2) for place in range(len(own))]
        means = [row["mean"] for row in own]
        whiskers = [
            [max(0.0, row["mean"] - row["p5"]) for row in own],
            [max(0.0, row["p95"] - row["mean"]) for row in own],
        ]
        axes.errorbar(
            places,
            means,
            yerr=whiskers,
            color=color,
            marker=MARKS[name],
            markersize=4,
            linewidth=0.8,
            capsize=2,
            label=name,
        )
    axes.set_xticks(range(len(RATES)), [f"{percent(rate):g}" for rate in RATES])
    axes.set_xlabel("failed processes in %")
    axes.set_ylabel(label)
    axes.legend(fontsize=7, frameon=False, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
