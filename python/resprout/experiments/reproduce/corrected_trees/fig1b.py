"""Figure 1b: how long correction takes with in-order and with interleaved numbering."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import PRINTED, RUN, Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import CORRECTION_FAULT_FREE, checked
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERINGS = ("interleaved", "in-order")
COUNTS = (1, 2, 4, 8, 16, 32, 64)
COUNTS_RUN = (1, 2, 3, 5)
"""Failed processes for which the authors ran it, at 1024, 8192 and 65536 processes."""
RATES = ("0.01%", "0.03%", "0.1%", "0.3%", "1%")
# The vertical line of the figure.
_LINE = 10.5

Found = dict[tuple[str, int, str], Row]
"""Rows by numbering, number of processes and faults."""


def _spec(numbering: str) -> str:
    return checked("binomial", f",numbering={numbering}")


def _sizes(study: Study) -> list[int]:
    return [study.procs_max >> 4, study.procs_max >> 2, study.procs_max]


def _sizes_run(study: Study) -> list[int]:
    return [study.procs_max >> 6, study.procs_max >> 3, study.procs_max]


def _campaign(study: Study) -> Campaign:
    shown = [(procs, faults) for procs in _sizes(study) for faults in ("none", *COUNTS, *RATES)]
    shown += [(procs, faults) for procs in _sizes_run(study) for faults in COUNTS_RUN]
    points = [
        Point(_spec(numbering), procs, faults=str(faults))
        for procs, faults in shown
        for numbering in NUMBERINGS
    ]
    return campaign("numbering", points, study.scale.runs(20_000, 100_000))


def _worst(study: Study) -> Campaign:
    """The root's child with the largest subtree is dead: half of all processes."""
    point = Point(_spec("in-order"), study.procs_max, faults="1,")
    return campaign("near_the_root", [point], 1)


def _campaigns(study: Study) -> list[Campaign]:
    return [_campaign(study), _worst(study)]


def _rows(study: Study) -> list[Row]:
    columns = ("protocol", "procs", "faults", "runs", "correction", "error", "g_max")
    sql = """
        SELECT protocol, procs, faults, count(*), avg(quiescence_latency - correction_start),
               stddev_pop(quiescence_latency - correction_start) / sqrt(count(*)), avg(g_max)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    rows = study.rows(_campaign(study), columns, sql)
    for row in rows:
        row["numbering"] = row.pop("protocol").rpartition("numbering=")[2]
        row["is_rate"] = row["faults"].endswith("%")
    worst_columns = ("procs", "correction", "g_max")
    worst_sql = "SELECT procs, quiescence_latency - correction_start, g_max FROM runs"
    (worst,) = study.rows(_worst(study), worst_columns, worst_sql)
    rows.append(
        {
            "numbering": "in-order",
            "faults": "near the root",
            "runs": 1,
            "error": 0.0,
            "is_rate": False,
            **worst,
        }
    )
    return rows


@dataclass(frozen=True)
class _Read:
    """What the claims are judged by: sizes, numbers of faults, and shares or numbers that rise, of
    one of the sizes."""

    sizes: list[int]
    counts: list[str]
    rising: list[str]
    rising_at: int


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig1b")
    sizes = _sizes(study)
    found = {(r["numbering"], r["procs"], r["faults"]): r for r in rows}
    runs = rows[0]["runs"]
    for numbering in NUMBERINGS:
        claims.equal(
            f"Without faults, the correction phase would take 8 time steps ({numbering})",
            CORRECTION_FAULT_FREE,
            found[numbering, sizes[-1], "none"]["correction"],
            runs,
        )
    counts = list(map(str, COUNTS))
    run = list(map(str, COUNTS_RUN))
    for reading, read in (
        (PRINTED, _Read(sizes, counts, list(RATES), sizes[-1])),
        (RUN, _Read(_sizes_run(study), run, run, _sizes_run(study)[0])),
    ):
        with claims.read(reading):
            _claim_interleaved(claims, found, read)
            _claim_in_order(claims, found, read)
            _claim_gaps(claims, found, read)
    worst = found["in-order", sizes[-1], "near the root"]["correction"]
    ratio = worst / found["in-order", sizes[-1], "1"]["correction"]
    claims.holds(
        "a single process failure close to the tree's root may result in correction taking orders "
        "of magnitude longer than on average (in-order)",
        "orders of magnitude",
        f"{worst} ticks, {ratio:.0f} times the mean of one fault",
        ratio >= 100,
        1,
        rule="at least two orders: 100 times",
    )
    return claims


def _claim_interleaved(claims: Claims, found: Found, read: _Read) -> None:
    runs = found["interleaved", read.sizes[-1], "1"]["runs"]
    rising = [found["interleaved", read.rising_at, name]["correction"] for name in read.rising]

    def increases_slightly(means: list[float]) -> bool:
        return means == sorted(set(means)) and means[-1] < 2 * CORRECTION_FAULT_FREE

    claims.holds(
        "the expected correction time of an interleaved tree slightly increases with a higher "
        "fault rate",
        "increases",
        f"{' < '.join(f'{mean:.2f}' for mean in rising)} at {', '.join(read.rising)} of "
        f"{read.rising_at}",
        increases_slightly(rising),
        runs * len(rising),
        rule="each mean above the one before; slightly: the last one less than twice 8",
        planted=increases_slightly([10.0] * len(rising)) or increases_slightly([10.0, 16.0]),
    )
    shown = [found["interleaved", procs, name] for procs in read.sizes for name in read.rising]
    longest = max(shown, key=lambda row: float(row["correction"]))
    claims.holds(
        "but in this case does not exceed 10.5 time steps",
        "≤ 10.5",
        f"{longest['correction']:.2f} with {longest['faults']} of {longest['procs']} failed",
        longest["correction"] <= _LINE,
        runs * len(shown),
        rule="every mean of the interleaved tree that is shown",
    )


def _claim_in_order(claims: Claims, found: Found, read: _Read) -> None:
    runs = found["in-order", read.sizes[-1], "1"]["runs"]
    by_count = [found["in-order", read.sizes[-1], count]["correction"] for count in read.counts]
    claims.rising(
        "the expected correction time of an in-order tree grows with the absolute number of faults",
        "grows",
        f"{' < '.join(f'{mean:.1f}' for mean in by_count)} with {', '.join(read.counts)}",
        by_count,
        runs * len(by_count),
        rule="each mean above the one before",
    )
    most = read.counts[-1]
    by_size = [found["in-order", procs, most]["correction"] for procs in read.sizes]
    claims.rising(
        "and takes even longer for the larger trees (in-order)",
        "longer",
        f"{' < '.join(f'{mean:.1f}' for mean in by_size)} with {most}",
        by_size,
        runs * len(by_size),
        rule="each mean above that of the smaller tree",
    )


def _claim_gaps(claims: Claims, found: Found, read: _Read) -> None:
    names = dict.fromkeys((*read.counts, *read.rising))
    pairs = [
        (found["in-order", procs, name]["g_max"], found["interleaved", procs, name]["g_max"])
        for procs in read.sizes
        for name in names
        if found["in-order", procs, name]["g_max"] > 0  # a small share of few may be nobody
    ]
    claims.equal(
        "For the in-order tree, the resulting gap is large, whereas an interleaved tree creates "
        "smaller gaps (cases in which the mean g_max is larger in order)",
        len(pairs),
        sum(in_order > interleaved for in_order, interleaved in pairs),
        sum(found["in-order", read.sizes[-1], name]["runs"] for name in names) * 2,
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    styles = {"interleaved": (pictures.BLUE, "o"), "in-order": (pictures.VERMILION, "s")}
    largest = max(row["procs"] for row in rows)
    sizes = [largest >> 4, largest >> 2, largest]
    lines = ("dotted", "dashed", "solid")
    by_count, by_rate = figure.subplots(1, 2, sharex=True)
    for axes, is_rate in ((by_count, False), (by_rate, True)):
        for numbering, (color, mark) in styles.items():
            for procs, line in zip(sizes, lines, strict=True):
                own = [
                    (r["correction"], float(r["faults"].rstrip("%")))
                    for r in rows
                    if (r["numbering"], r["procs"], r["is_rate"]) == (numbering, procs, is_rate)
                    and r["faults"].rstrip("%").replace(".", "").isdigit()
                    and float(r["faults"].rstrip("%")) > 0
                ]
                own.sort(key=lambda point: point[1])
                label = f"{numbering}, P = {procs}"
                axes.plot(
                    *zip(*own, strict=True),
                    color=color,
                    marker=mark,
                    markersize=3.5,
                    ls=line,
                    label=label,
                )
        axes.axvline(_LINE, color=pictures.GRAY, linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("expected time of correction in ticks")
    by_count.set_ylabel("failed processes")
    by_rate.set_ylabel("failed processes in %")
    by_rate.legend(fontsize=6.5, frameon=False)


FIG1B = Experiment(
    "fig1b",
    "Figure 1b: correction by numbering",
    "Mean length of synchronized checked correction over a binomial tree, by the number of failed "
    "processes (left) and by their share (right). L = 2, o = 1. The vertical line is at 10.5. The "
    "authors ran 1, 2, 3 and 5 failures of 1024, 8192 and 65536 processes.",
    _campaigns,
    _rows,
    _claims,
    _draw,
    (7.4, 3.6),
)
