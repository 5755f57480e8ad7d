"""Figure 8: quiescence latency by fault rate."""

import math
from typing import TYPE_CHECKING

from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import PRINTED, RUN, Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    RATES,
    TREES,
    checked,
    fault_free,
    least_failures,
    resilience,
    resilience_of_gossip,
    resilience_run,
)
from resprout.experiments.reproduce.corrected_trees.resilience import (
    by_rate,
    draw_by_rate,
    rows_by_rate,
)
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.gossip import checked_gossip
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MANY = "10%"


def _many_faults(study: Study) -> Campaign:
    """Gossip with the time that is best for so many faults, and the fastest tree."""
    time = study.gossip.checked_with_faults(_MANY)
    points = [
        Point(spec, study.procs_max, faults=_MANY)
        for spec in (checked("optimal"), checked_gossip(time))
    ]
    return campaign("many_faults", points, study.scale.runs(500, 100_000))


def _campaigns(study: Study) -> list[Campaign]:
    return [
        *(resilience(study), resilience_run(study), resilience_of_gossip(study)),
        *(fault_free(study), _many_faults(study)),
    ]


def _rows(study: Study) -> list[Row]:
    return rows_by_rate(study, "quiescence_latency", resilience_run(study))


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig8")
    trees = {tree: by_rate(rows, tree) for tree in TREES}
    gossip = by_rate(rows, "gossip")
    sql = f"""
        SELECT protocol, any_value(quiescence_latency) FROM runs
        WHERE procs = {study.procs_max} AND protocol LIKE '%correction=checked%' GROUP BY ALL"""
    alone = dict(study.ask(fault_free(study), sql))
    for tree, own in trees.items():
        runs = own["4%"]["runs"]
        for reading, least in ((PRINTED, "0.01%"), (RUN, least_failures(study))):
            with claims.read(reading):
                claims.between(
                    "The average latency of all Corrected Tree-based broadcast schemes degrades "
                    f"proportionally by 12-14% from 0.01% to 4% fault rate ({tree})",
                    12,
                    14,
                    _growth(own, least),
                    2 * runs,
                    why="rounded to whole percent, as the paper gives it",
                )
        claims.less(
            f"a small number of faults has very little impact ({tree}, 0.01 %: growth in % from "
            "the fault-free latency)",
            "negligible",
            100 * (own["0.01%"]["mean"] / alone[checked(tree)] - 1),
            5,
            runs,
            rule="below 5 (%)",
        )
    claims.near(
        "With the same change of fault rates, latency of Corrected Gossip degrades only by 4%",
        4,
        _growth(gossip),
        2 * gossip["4%"]["runs"],
        tolerance=0.5,
        why="rounded to whole percent, as the paper gives it, and 2.58 standard errors",
        error=_growth_error(gossip),
        matters=2,
    )
    for reading, least in ((PRINTED, "0.01%"), (RUN, least_failures(study))):
        with claims.read(reading):
            _claim_deviations(claims, trees, least)
    _claim_variation(claims, trees, gossip)
    slowest_first = ["binomial", "4-ary", "Lamé", "optimal"]
    ordered = [[trees[tree][rate]["mean"] for tree in slowest_first] for rate in RATES]
    claims.equal(
        "different trees behave differently with regard to latency: binomial slowest, then 4-ary, "
        "Lamé, optimal (fault rates at which it is so)",
        len(ordered),
        sum(means == sorted(means, reverse=True) for means in ordered),
        sum(own[rate]["runs"] for own in trees.values() for rate in RATES),
    )
    means = dict(
        study.ask(
            _many_faults(study), "SELECT protocol, avg(quiescence_latency) FROM runs GROUP BY ALL"
        )
    )
    optimal = means.pop(checked("optimal"))
    claims.less(
        "for higher error rates (≈10%), latency of gossip-based broadcast could be even less than "
        "for an optimal tree, because gossip has the freedom to increase gossiping time",
        f"< {optimal:.2f}",
        next(iter(means.values())),
        optimal,
        _many_faults(study).plan.runs,
        rule="less, with the gossip time that is best for 10 %",
    )
    return claims


def _growth(own: dict[str, Row], least: str = "0.01%") -> float:
    """In percent, from the smallest rate to the largest."""
    return float(100 * (own["4%"]["mean"] / own[least]["mean"] - 1))


def _growth_error(own: dict[str, Row]) -> float:
    ends = (own["4%"], own["0.01%"])
    error = math.sqrt(sum(row["deviation"] ** 2 / row["runs"] for row in ends))
    return float(100 * error / own["0.01%"]["mean"])


def _claim_deviations(claims: Claims, trees: dict[str, dict[str, Row]], least: str) -> None:
    for tree, paper in (("binomial", 17), ("optimal", 10)):
        own = trees[tree]
        claims.near(
            f"the standard deviation is {paper} times higher at 4% fault rate than at 0.01% "
            f"({tree})",
            paper,
            own["4%"]["deviation"] / (own[least]["deviation"] or math.inf),
            2 * own["4%"]["runs"],
            tolerance=1,
            why="a quotient of two estimates, given as a whole number",
        )


def _claim_variation(
    claims: Claims, trees: dict[str, dict[str, Row]], gossip: dict[str, Row]
) -> None:
    ratios = {
        name: own["4%"]["deviation"] / (own["0.01%"]["deviation"] or math.inf)
        for name, own in (*trees.items(), ("gossip", gossip))
    }
    claims.holds(
        "Failure of a process with more ancestors may create a higher impact: slower trees vary "
        "more (deviation at 4 %)",
        "binomial > optimal",
        ", ".join(f"{tree} {own['4%']['deviation']:.2f}" for tree, own in trees.items()),
        trees["binomial"]["4%"]["deviation"] > trees["optimal"]["4%"]["deviation"],
        2 * trees["binomial"]["4%"]["runs"],
        rule="more",
    )
    growths = {name: _growth(own) for name, own in trees.items()}

    def is_little(growth: float, ratio: float) -> bool:
        return 2 * growth < min(growths.values()) and 2 * ratio < min(ratios[t] for t in TREES)

    claims.holds(
        "Both mean latency and latency variation of Corrected Gossip change very little in "
        "comparison to tree-based broadcast",
        "very little",
        f"mean {_growth(gossip):.1f} %, deviation x {ratios['gossip']:.2f}",
        is_little(_growth(gossip), ratios["gossip"]),
        sum(row["runs"] for row in gossip.values()),
        rule="both by less than half as much as of any tree",
        planted=is_little(min(growths.values()), 1) or is_little(0, ratios["optimal"]),
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    draw_by_rate(figure.subplots(), rows, "quiescence latency in ticks")


FIG8 = Experiment(
    "fig8",
    "Figure 8: quiescence latency by fault rate",
    "Means; whiskers from 5 % to 95 %. Trees with synchronized checked correction, checked "
    "Corrected Gossip with the time that is best without faults. 64K processes, L = 2, o = 1.",
    _campaigns,
    _rows,
    _claims,
    _draw,
)
