"""Figure 8: T_s over TCP for a = 4 on Linux."""

import itertools

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.membership import models
from resprout.experiments.reproduce.membership.ethernet import (
    claim_closeness,
    claim_models,
    deviations,
    draw,
    ethernet_rows,
)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig8")
    claim_models(claims, rows)
    runs = sum(row["runs"] for row in rows)
    steps = [
        str(one)
        for one, other in itertools.pairwise(range(2, rows[-1]["procs"] + 1))
        if models.height(one, 4) < models.height(other, 4)
    ]
    with claims.circular():
        claims.equal(
            "the base model steps up above 5 and 21 nodes", "5, 21", ", ".join(steps), len(rows)
        )
    before = [row for row in rows if row["procs"] in (5, 21)]
    claims.holds(
        "the contention model resembles the results just before the height increases (5, 21)",
        "resembles",
        ", ".join(f"{100 * deviation:+.0f} %" for deviation in deviations(before)),
        all(abs(deviation) <= 0.1 for deviation in deviations(before)),
        sum(row["runs"] for row in before),
        rule="at most 10 % away at both",
    )
    every = deviations(rows)
    claim_closeness(
        claims,
        "the refined models show a close resemblance of experiments (section 7, end)",
        "close",
        rows,
        runs,
    )
    above = sum(deviation > 0 for deviation in every) / len(every)
    claims.holds(
        "the contention model tends to overestimate the results",
        "tends to",
        f"at {100 * above:.0f} % of the sizes",
        above > 0.5,
        runs,
        rule="at more than half of the sizes",
    )
    return claims


FIG8 = Experiment(
    "fig8",
    "Figure 8: T_s over TCP for a = 4 on Linux",
    "As figure 6, with four children a node.",
    lambda study: (),
    lambda study: ethernet_rows(study, 4),
    _claims,
    draw,
)
