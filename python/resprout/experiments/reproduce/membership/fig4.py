"""Figure 4: T_s over MPI for a = 2 on BlueGene/L."""

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.membership.torus import (
    claim_scale,
    draw,
    model_text,
    torus_rows,
)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig4")
    claim_scale(claims, rows)
    last, runs = rows[-1], sum(row["runs"] for row in rows)
    claims.holds(
        "the base model diverges significantly from the results",
        "significantly",
        last["simulated"] / last["base"],
        last["simulated"] > 2 * last["base"],
        last["runs"],
        rule=f"{last['procs']} nodes take more than twice as long",
    )
    ratios = [row["distance"] / row["simulated"] for row in rows]
    claims.holds(
        "the distance model closely matches the results",
        "closely",
        model_text(rows),
        all(abs(ratio - 1) <= 0.1 for ratio in ratios),
        runs,
        rule="at most 10 % away at each size",
    )
    claims.holds(
        f"so does its formula as it is printed, with a factor H - 1 ({last['procs']} nodes)",
        "hundreds of µs",
        last["printed"],
        100 <= last["printed"] < 1000,
        last["runs"],
        rule="100 to 999 µs",
    )
    return claims


FIG4 = Experiment(
    "fig4",
    "Figure 4: T_s over MPI for a = 2 on BG/L",
    "After one death, until the root has all acknowledgments. L = 4.6 µs a hop, O_cp = 2 µs, "
    "o = 2 µs for each message that a task sends or receives, torus of 8 x 8 x 8 midplanes. The "
    "line is the median over the dead members, the ribbon their range.",
    lambda study: (),
    lambda study: torus_rows(study, 2),
    _claims,
    draw,
)
