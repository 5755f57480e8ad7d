"""Figure 7: contention-based latency over TCP."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.membership import models
from resprout.experiments.reproduce.membership.machines import (
    ETHERNET_L,
    ETHERNET_NODES,
    PAIRS_BEAR,
    SERVICE,
    linearity,
    simulate_contention,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CURVES = {1: "pairs", 2: "parent and 2 children", 4: "parent and 4 children"}


def _rows(study: Study) -> list[Row]:
    return [
        {
            "nodes": nodes,
            "children": children,
            "simulated": simulate_contention(nodes, children),
            "model": models.contention_latency(nodes, children, ETHERNET_L, SERVICE),
        }
        for children in _CURVES
        for nodes in range(children + 1, ETHERNET_NODES + 1, children + 1)
    ]


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig7")
    pairs = {row["nodes"]: row["simulated"] for row in rows if row["children"] == 1}
    with claims.circular():
        claims.holds(
            "pairs of nodes are handled well by the switch up to twelve nodes",
            "up to 12",
            f"{pairs[PAIRS_BEAR]:.0f} µs at 12, {pairs[PAIRS_BEAR + 2]:.0f} µs at 14",
            pairs[PAIRS_BEAR] <= 1.01 * ETHERNET_L < pairs[PAIRS_BEAR + 2],
            len(pairs),
            rule="no longer than L; the switch's time for a message is chosen so",
        )
    beyond = [nodes for nodes in pairs if nodes > PAIRS_BEAR]
    straight = linearity([float(n) for n in beyond], [pairs[n] for n in beyond])
    claims.holds(
        "after which the latency linearly rises with the number of nodes",
        "linearly",
        straight,
        straight >= 0.95,
        len(beyond),
        rule="R² of a straight line is 0.95 at least",
    )
    lasts = []
    for children in _CURVES:
        curve = {r["nodes"]: r["simulated"] for r in rows if r["children"] == children}
        lasts.append(curve[max(n for n in curve if n <= 45)])
    claims.holds(
        "a binary tree inflicts higher contention for the same number of nodes, four children more",
        "in this order",
        ", ".join(f"{time:.0f} µs" for time in lasts),
        lasts == sorted(lasts) and len(set(lasts)) == len(lasts),
        len(rows),
        rule="of at most 45 nodes",
    )
    worst = max(abs(row["model"] / row["simulated"] - 1) for row in rows)
    with claims.circular():
        claims.holds(
            "serialization in the switch explains it",
            "explains",
            f"{100 * worst:.0f} % at most",
            worst <= 0.1,
            len(rows),
            rule="its formula is at most 10 % away from a simulation of just that",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    colors = (pictures.BLUE, pictures.VERMILION, pictures.GREEN)
    for color, (children, label) in zip(colors, _CURVES.items(), strict=True):
        curve = [row for row in rows if row["children"] == children]
        nodes = [row["nodes"] for row in curve]
        axes.plot(nodes, [row["simulated"] for row in curve], color=color, marker="o",
                  markersize=3, linestyle="", label=f"{label}, simulated")  # fmt: skip
        axes.plot(nodes, [row["model"] for row in curve], color=color, linewidth=1.0,
                  linestyle="--", label=f"{label}, formula")  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("nodes")
    axes.set_ylabel("latency, µs")
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(frameon=False)


FIG7 = Experiment(
    "fig7",
    "Figure 7: contention-based latency over TCP",
    "Groups of a parent and its children always talk: half of the time from its first message to "
    "the last answer. L = 118 µs, a switch that takes 19.7 µs a message, one after the other.",
    lambda study: (),
    _rows,
    _claims,
    _draw,
)
