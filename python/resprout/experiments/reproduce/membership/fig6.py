"""Figure 6: T_s over TCP for a = 2 on Linux."""

import math

from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.membership.ethernet import (
    claim_closeness,
    claim_models,
    draw,
    ethernet_rows,
)
from resprout.experiments.reproduce.membership.machines import linearity


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig6")
    claim_models(claims, rows)
    runs = sum(row["runs"] for row in rows)
    segments = [[r for r in rows if low <= r["procs"] < 2 * low] for low in (16, 32)]
    straight = [linearity([r["procs"] for r in s], [r["simulated"] for r in s]) for s in segments]
    claims.holds(
        "T_s increases linearly between any power-of-two node counts",
        "linearly",
        min(straight),
        min(straight) >= 0.95,
        sum(row["runs"] for segment in segments for row in segment),
        rule="R² of straight lines through 16 to 31 and 32 to 47 nodes is 0.95 at least",
    )
    claim_closeness(
        claims,
        "the contention-based model resembles the results very closely",
        "very closely",
        rows,
        runs,
    )
    full = [row for row in rows if (row["procs"] + 1).bit_count() == 1]
    straight_log = linearity(
        [math.log2(row["procs"] + 1) for row in full], [row["simulated"] for row in full]
    )
    claims.holds(
        "footnote 2: time grows logarithmically, seen at 2^n - 1 nodes",
        "linear in log N",
        straight_log,
        straight_log >= 0.95,
        sum(row["runs"] for row in full),
        rule="R² of a straight line over log N is 0.95 at least",
    )
    return claims


FIG6 = Experiment(
    "fig6",
    "Figure 6: T_s over TCP for a = 2 on Linux",
    "After one death, until the root has all acknowledgments. L = 118 µs, O_cp = 2 µs, a switch "
    "that takes 19.7 µs a message. Points: `resprout bench membership`, medians; its members share "
    "this machine's cores.",
    lambda study: (),
    lambda study: ethernet_rows(study, 2),
    _claims,
    draw,
)
