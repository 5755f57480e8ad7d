"""Figure 9: messages per process by fault rate."""

from typing import TYPE_CHECKING

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import (
    COLORS,
    RATES,
    TREES,
    resilience,
    resilience_of_gossip,
)
from resprout.experiments.reproduce.corrected_trees.resilience import (
    by_rate,
    draw_by_rate,
    rows_by_rate,
)
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _campaigns(study: Study) -> list[Campaign]:
    return [resilience(study), resilience_of_gossip(study)]


def _rows(study: Study) -> list[Row]:
    return rows_by_rate(study, "messages_per_process")


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig9")
    found = {name: by_rate(rows, name) for name in COLORS}
    for name, own in found.items():
        runs = sum(own[rate]["runs"] for rate in RATES)
        means = [own[rate]["mean"] for rate in RATES]
        claims.rising(
            f"With more faults, the number of messages drops for all types of collectives ({name})",
            "drops",
            " > ".join(f"{mean:.2f}" for mean in means),
            [-mean for mean in means],
            runs,
            rule="each mean below the one before",
        )
        claims.rising(
            f"and the variation in messages per process grows ({name}: deviation at 0.01 and 4 %)",
            "grows",
            f"{own['0.01%']['deviation']:.4f} to {own['4%']['deviation']:.4f}",
            [own["0.01%"]["deviation"], own["4%"]["deviation"]],
            runs,
            rule="larger",
        )
    procs = study.procs_max
    alone = dict.fromkeys(TREES, 5 + (procs - 1) / procs)
    alone["gossip"] = found["gossip"]["none"]["mean"]
    impact = {
        name: 100 * (1 - found[name]["0.01%"]["mean"] / messages)
        for name, messages in alone.items()
    }
    claims.less(
        "a small number of faults has very little impact on the number of messages in comparison "
        "to the fault-free case (0.01 %: largest change in %)",
        "very little",
        max(map(abs, impact.values())),
        1,
        sum(own["0.01%"]["runs"] for own in found.values()),
        rule="below 1 (%)",
    )
    for tree in TREES:
        ratio = max(found[tree][rate]["mean"] / found["gossip"][rate]["mean"] for rate in RATES)
        claims.less(
            "Corrected Tree-based broadcast still maintains a significantly lower number of "
            f"messages than Corrected Gossip ({tree}: largest share of gossip's, of all rates)",
            "significantly lower",
            ratio,
            0.9,
            sum(found[tree][rate]["runs"] for rate in RATES),
            rule="at least a tenth fewer at each rate",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    draw_by_rate(figure.subplots(), rows, "messages per process")


FIG9 = Experiment(
    "fig9",
    "Figure 9: messages per process by fault rate",
    "Means; whiskers from 5 % to 95 %. Trees with synchronized checked correction, checked "
    "Corrected Gossip with the time that is best without faults. 64K processes, L = 2, o = 1.",
    _campaigns,
    _rows,
    _claims,
    _draw,
)
