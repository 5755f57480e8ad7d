"""Figure 7: latency without faults, over trees with the best k."""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.ftco.allreduces import (
    BEST_K,
    RADICES,
    allreduce,
    optimal_latency,
    point,
    sizes,
)
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOTS = ("single", "multi")
# Trees of both kinds are compared up to here.
_KARY_MAX = 4096


def _points(study: Study) -> list[tuple[str, str, int, Point]]:
    """Tree, roots and k of each point."""
    return [
        (tree, roots, k, point(allreduce(k, roots, tree), procs))
        for tree in ("knomial", "kary")
        for roots in ROOTS
        for procs in sizes(study)
        for k in RADICES
        if tree == "knomial" or procs <= _KARY_MAX
    ]


def _search(study: Study) -> Campaign:
    return campaign("search", [point for *_, point in _points(study)], 1)


def _rows(study: Study) -> list[Row]:
    """A row for each tree, number of roots, size and k."""
    sql = "SELECT protocol, procs, completion_latency FROM runs"
    latency = {(spec, procs): value for spec, procs, value in study.ask(_search(study), sql)}
    return [
        {
            "tree": tree,
            "roots": roots,
            "procs": point.procs,
            "k": k,
            "latency": latency[point.protocol, point.procs],
        }
        for tree, roots, k, point in _points(study)
    ]


def _best(rows: list[Row], roots: str, procs: int) -> int:
    return min(
        int(row["latency"])
        for row in rows
        if (row["tree"], row["roots"], row["procs"]) == ("knomial", roots, procs)
    )


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig7")
    procs = sizes(study)
    single = [_best(rows, "single", p) for p in procs]
    multi = [_best(rows, "multi", p) for p in procs]
    claims.equal(
        "the latency of the multi-root topology is lower than that of a single-root (sizes)",
        len(procs),
        sum(b < a for a, b in zip(single, multi, strict=True)),
        len(rows),
    )
    claims.equal(
        "The bottom line shows the latency for the optimal tree: below both (sizes)",
        len(procs),
        sum(optimal_latency(p) < b for p, b in zip(procs, multi, strict=True)),
        len(rows),
    )
    found = {
        tree: {(r["roots"], r["procs"], r["k"]): r["latency"] for r in rows if r["tree"] == tree}
        for tree in ("knomial", "kary")
    }
    pairs = list(found["kary"])
    better = sum(found["knomial"][pair] <= found["kary"][pair] for pair in pairs)
    claims.equal(
        f"for a given k, the K-nomial topology outperforms K-ary (sizes up to {_KARY_MAX}, roots "
        "and k where it is not slower)",
        len(pairs),
        better,
        2 * len(pairs),
    )
    for p in procs:
        claims.equal(
            f"optimal k for {p} processes: the latency with that of the authors' public results, "
            f"{BEST_K[p]}",
            _best(rows, "multi", p),
            found["knomial"]["multi", p, BEST_K[p]],
            len(RADICES),
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    procs = sorted({row["procs"] for row in rows})
    for roots, color, mark in (("single", pictures.VERMILION, "s"), ("multi", pictures.BLUE, "o")):
        values = [_best(rows, roots, p) for p in procs]
        axes.plot(procs, values, color=color, marker=mark, markersize=4, label=f"{roots} root")
    optimal = [optimal_latency(p) for p in procs]
    axes.plot(procs, optimal, color=pictures.BLACK, linestyle="dashed", label="optimal tree")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("processes")
    axes.set_ylabel("latency in steps")
    axes.legend(frameon=False)


FIG7 = Experiment(
    "fig7",
    "Figure 7: latency without faults",
    "Allreduce over k-nomial trees, the best k of 2 to 20 for each size; and up and down the "
    "optimal trees of the best number of roots. L = 10, o = 1.",
    lambda study: [_search(study)],
    _rows,
    _claims,
    _draw,
)
