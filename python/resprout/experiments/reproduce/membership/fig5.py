"""Figure 5: T_s over MPI for a = 4 on BlueGene/L."""

import itertools

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.membership.torus import (
    claim_scale,
    draw,
    model_text,
    ratios_text,
    torus_rows,
)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig5")
    claim_scale(claims, rows)
    runs = sum(row["runs"] for row in rows)
    binary = {row["procs"]: row for row in torus_rows(study, 2)}
    shares = [r["simulated"] / binary[r["procs"]]["simulated"] for r in rows if r["procs"] >= 8]
    claims.holds(
        "the overhead is slightly smaller than for the binary tree",
        "slightly smaller",
        ratios_text(shares),
        all(share < 1 for share in shares),
        2 * runs,
        rule="smaller at each size from 8 nodes on",
    )
    steps = ["flat" if a["base"] == b["base"] else "up" for a, b in itertools.pairwise(rows)]
    with claims.circular():
        claims.holds(
            "the base model alternates between slight increases and no changes",
            "alternates",
            ", ".join(steps),
            all(one != other for one, other in itertools.pairwise(steps)),
            len(steps),
            rule="from each power of two to the next, in turns; by the paper's own formula",
        )
    fours = [row for row in rows if row["procs"].bit_length() % 2 == 1]
    between = [row for row in rows if row["procs"].bit_length() % 2 == 0]
    ratios = [row["distance"] / row["simulated"] for row in fours]
    claims.holds(
        "the distance model closely approximates the results at powers of four",
        "closely",
        model_text(fours),
        all(abs(ratio - 1) <= 0.1 for ratio in ratios),
        sum(row["runs"] for row in fours),
        rule="at most 10 % away at each",
    )
    ratios = [row["distance"] / row["simulated"] for row in between]
    claims.holds(
        "in between, performance is underestimated",
        "below 1",
        model_text(between),
        all(ratio < 1 for ratio in ratios),
        sum(row["runs"] for row in between),
        rule="the model is below the results at each size",
    )
    return claims


FIG5 = Experiment(
    "fig5",
    "Figure 5: T_s over MPI for a = 4 on BG/L",
    "As figure 4, with four children a node.",
    lambda study: (),
    lambda study: torus_rows(study, 4),
    _claims,
    draw,
)
