"""What figures 6 and 8 have in common: an Ethernet with one switch.

The protocol is simulated alone, and amid an application as that of sections 2.3 and 3.4, which asks
how others are: all processes in pairs, one message of each always on its way, as in the first curve
of figure 7. It also runs: real members over TCP on this machine's loopback, where cores are
shared instead of a switch.
"""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Row, Study
from resprout.experiments.reproduce.membership import models
from resprout.experiments.reproduce.membership.machines import (
    ETHERNET_L,
    ETHERNET_NODES,
    O_CP,
    SERVICE,
    measured,
    simulate,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = range(3, ETHERNET_NODES + 1)


def ethernet_rows(study: Study, radix: int) -> list[Row]:
    real = {row["procs"]: row["stabilization_us"] for row in measured(study, radix)}
    rows = []
    for procs in SIZES:
        alone = simulate(study, procs, radix, "ethernet")
        busy = simulate(study, procs, radix, "ethernet", talkers=1)
        rows.append(
            {
                "procs": procs,
                "radix": radix,
                "base": models.base_model(procs, radix, ETHERNET_L, O_CP),
                "contention": models.contention_model(procs, radix, ETHERNET_L, O_CP, SERVICE),
                "alone": alone.median,
                "lowest": busy.lowest,
                "simulated": busy.median,
                "highest": busy.highest,
                "runs": busy.runs,
                "measured": real.get(procs),
            }
        )
    return rows


def claim_models(claims: Claims, rows: list[Row]) -> None:
    """What both figures claim of their curves."""
    last, runs = rows[-1], sum(row["runs"] for row in rows)
    claims.holds(
        f"T_s is in the order of single-digit milliseconds ({last['procs']} nodes)",
        "1 to 9 ms",
        last["simulated"] / 1e3,
        1 <= last["simulated"] / 1e3 < 10,
        last["runs"],
        rule="1 to 9.99 ms",
    )
    real = [row for row in rows if row["measured"] is not None][-1]
    claims.holds(
        f"likewise of real members on this machine ({real['procs']} of them)",
        "1 to 9 ms",
        real["measured"] / 1e3,
        real["measured"] / 1e3 < 10,
        1,
        rule="less than 10 ms",
    )
    claims.holds(
        "the base model does not resemble the results",
        "does not",
        last["simulated"] / last["base"],
        last["simulated"] > 2 * last["base"],
        runs,
        rule=f"{last['procs']} nodes take more than twice as long",
    )


def deviations(rows: list[Row]) -> list[float]:
    """By how much of the simulated time the contention model is above it; below: negative."""
    return [row["contention"] / row["simulated"] - 1 for row in rows]


def deviation_text(rows: list[Row]) -> str:
    every = deviations(rows)
    worst = max(range(len(rows)), key=lambda place: abs(every[place]))
    mean = 100 * sum(map(abs, every)) / len(every)
    return f"{mean:.0f} % on average, {100 * every[worst]:+.0f} % at {rows[worst]['procs']}"


def draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    procs = [row["procs"] for row in rows]
    lines = (
        ("simulated", "protocol amid an application, simulated", pictures.BLACK, "-"),
        ("alone", "protocol alone, simulated", pictures.GRAY, "-"),
        ("contention", "contention model", pictures.VERMILION, "--"),
        ("base", "base model", pictures.BLUE, "--"),
    )
    for name, label, color, style in lines:
        times = [row[name] / 1e3 for row in rows]
        axes.plot(procs, times, color=color, linestyle=style, linewidth=1.2, label=label)
    lowest, highest = [r["lowest"] / 1e3 for r in rows], [r["highest"] / 1e3 for r in rows]
    axes.fill_between(procs, lowest, highest, color=pictures.BLACK, alpha=0.12, linewidth=0)
    real = [row for row in rows if row["measured"] is not None]
    places, times = [r["procs"] for r in real], [r["measured"] / 1e3 for r in real]
    axes.plot(places, times, color=pictures.GREEN, marker="o", markersize=4, linestyle="",
              label="real members, this machine")  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("nodes")
    axes.set_ylabel("time of stabilization (T_s), ms")
    axes.grid(visible=True, linewidth=0.3)
    axes.legend(frameon=False)


def claim_closeness(claims: Claims, claim: str, printed: str, rows: list[Row], runs: int) -> None:
    """That the contention model comes close; circular, as its traffic was chosen so."""
    every = deviations(rows)
    with claims.circular():
        claims.holds(
            claim,
            printed,
            deviation_text(rows),
            sum(map(abs, every)) / len(every) <= 0.1,
            runs,
            rule="10 % away on average at most; the traffic beside it was chosen after results",
        )
