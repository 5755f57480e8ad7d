"""What figures 4 and 5 have in common: BlueGene/L, models and the simulated protocol."""

import math
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.membership import models
from resprout.experiments.reproduce.membership.machines import (
    O_CP,
    TORUS_L,
    TORUS_O,
    TORUS_SIZES,
    linearity,
    simulate,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def torus_rows(study: Study, radix: int) -> list[Row]:
    rows = []
    for procs in TORUS_SIZES:
        if procs > study.procs_max:
            continue
        found = simulate(study, procs, radix, "torus", overhead=TORUS_O)
        free = simulate(study, procs, radix, "torus")
        rows.append(
            {
                "procs": procs,
                "radix": radix,
                "base": models.base_model(procs, radix, TORUS_L, O_CP),
                "distance": models.distance_model(procs, radix, TORUS_L, O_CP),
                "printed": models.printed_distance_model(procs, radix, TORUS_L, O_CP),
                "lowest": found.lowest,
                "simulated": found.median,
                "highest": found.highest,
                "free": free.median,
                "runs": found.runs + free.runs,
            }
        )
    return rows


def claim_scale(claims: Claims, rows: list[Row]) -> None:
    """What both figures claim of their curves."""
    last, runs = rows[-1], sum(row["runs"] for row in rows)
    claims.holds(
        f"T_s is in the order of hundreds of microseconds ({last['procs']} nodes)",
        "hundreds of µs",
        last["simulated"],
        100 <= last["simulated"] < 1000,
        last["runs"],
        rule="100 to 999 µs",
    )
    straight = linearity([math.log2(r["procs"]) for r in rows], [r["simulated"] for r in rows])
    claims.holds(
        "scales logarithmically with the number of nodes",
        "linear in log N",
        straight,
        straight >= 0.95,
        runs,
        rule="R² of a straight line over log N is 0.95 at least",
    )


def model_text(rows: list[Row]) -> str:
    """How far the distance model is from what is simulated, with a cost of messages and without."""
    costly = [row["distance"] / row["simulated"] for row in rows]
    free = [row["distance"] / row["free"] for row in rows]
    return f"{ratios_text(costly)}; {ratios_text(free)} where messages cost no time"


def ratios_text(ratios: list[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f} times"


def draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    procs = [row["procs"] for row in rows]
    lines = (
        ("simulated", "protocol, simulated", pictures.BLACK, "o", "-"),
        ("free", "the same, o = 0", pictures.GRAY, "v", ":"),
        ("distance", "distance model", pictures.VERMILION, "s", "--"),
        ("base", "base model", pictures.BLUE, "^", "--"),
    )
    for name, label, color, marker, style in lines:
        axes.plot(procs, [row[name] for row in rows], color=color, marker=marker, markersize=4,
                  linestyle=style, linewidth=1.2, label=label)  # fmt: skip
    lowest, highest = [row["lowest"] for row in rows], [row["highest"] for row in rows]
    axes.fill_between(procs, lowest, highest, color=pictures.BLACK, alpha=0.12, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_xticks(procs, [str(count) for count in procs])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("nodes")
    axes.set_ylabel("time of stabilization (T_s), µs")
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(frameon=False)
