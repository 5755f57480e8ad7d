"""Section 4.3, opportunistic correction: who stays uncolored.

As printed: a message from the right counts (section 3.3), and who was colored by an early
correction sends its tree messages but does not correct (section 3.1: "processes that get colored by
correction do not send any messages themselves"; 3.3 exempts tree messages only). Claims are judged
by that. Two other readings are simulated beside it (docs/errata.md).
"""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.campaign.plan import Point
from resprout.reproduce.claims import Claims
from resprout.reproduce.corrected_trees.broadcasts import (
    PAPER_RUNS,
    RATES,
    TREES,
    optimized,
    percent,
    tree_of,
)
from resprout.reproduce.experiment import Experiment, Row, Study
from resprout.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = ("as printed", "early ones correct too", "heeding both sides")
_STYLES = {
    "as printed": (pictures.BLUE, "o"),
    "early ones correct too": (pictures.GREEN, "^"),
    "heeding both sides": (pictures.VERMILION, "s"),
}


def _specs(tree: str) -> dict[str, str]:
    endings = (",heed=right,early=abstain", ",heed=right,early=join", ",heed=both,early=join")
    texts = (optimized(tree, ending) for ending in endings)
    return dict(zip(FORMS, texts, strict=True))


def _campaign(study: Study) -> Campaign:
    points = [
        Point(spec, study.procs_max, faults=rate)
        for tree in TREES
        for spec in _specs(tree).values()
        for rate in ("none", *RATES)
    ]
    return campaign("opportunistic", points, study.scale.runs(200, PAPER_RUNS))


def _rows(study: Study) -> list[Row]:
    columns = ("protocol", "faults", "runs", "failed", "single", "latency", "messages")
    sql = """
        SELECT protocol, faults, count(*), sum((uncolored > 0)::INT)::INT,
               sum((uncolored = 1)::INT)::INT, avg(quiescence_latency), avg(messages_per_process)
        FROM runs GROUP BY ALL ORDER BY ALL"""
    rows = study.rows(_campaign(study), columns, sql)
    for row in rows:
        row["tree"] = tree_of(row["protocol"])
        forms = _specs(row["tree"]).items()
        row["form"] = next(form for form, spec in forms if spec == row["protocol"])
    return rows


def _count(printed: list[Row], rate: str, key: str) -> int:
    return sum(row[key] for row in printed if row["faults"] == rate)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("opportunistic")
    printed = [row for row in rows if row["form"] == "as printed"]
    runs = _count(printed, "4%", "runs")
    for rate in ("0.01%", "0.1%"):
        claims.equal(
            "With less than 1% of failed processes, Corrected Trees with opportunistic correction "
            f"colored all the processes ({rate}: broadcasts that did not)",
            0,
            _count(printed, rate, "failed"),
            runs,
        )
    for quantity in ("latency", "messages"):
        alone = {row["tree"]: row[quantity] for row in printed if row["faults"] == "none"}
        change = max(
            abs(row[quantity] / alone[row["tree"]] - 1)
            for row in printed
            if row["faults"] in ("0.01%", "0.1%")
        )
        claims.less(
            f"and was indistinguishable in {quantity} from the failure-free case (below 1 %: "
            "largest change of a mean in %)",
            "indistinguishable",
            100 * change,
            1,
            2 * runs,
            rule="below 1 (%)",
        )
    _claim_failures(claims, printed)
    return claims


def _claim_failures(claims: Claims, printed: list[Row]) -> None:
    runs = _count(printed, "4%", "runs")
    failed = sum(row["failed"] for row in printed)
    total = sum(row["runs"] for row in printed if row["faults"] != "none")
    paper_share = 100 * 2600 / (PAPER_RUNS * len(TREES) * len(RATES))
    claims.near(
        "The total number of not fully coloring broadcast operations was around 2,600 out of two "
        "million simulations (in %)",
        paper_share,
        100 * failed / total,
        total,
        tolerance=max(0.1 * paper_share, 3 * (100 * paper_share / total) ** 0.5),
        why="around: a tenth, or three standard errors of so rare a count if that is more",
    )
    of_4_percent = _count(printed, "4%", "failed")
    single = _count(printed, "4%", "single")
    claims.holds(
        "More than 90% of the simulations with uncolored processes came at 4% failure rate",
        "> 90 %",
        f"{of_4_percent} of {failed}",
        of_4_percent > 0.9 * failed,
        failed,
        rule="more than nine tenths",
    )
    claims.holds(
        "leaving a single uncolored process (of those at 4 %)",
        "most",
        f"{single} of {of_4_percent}",
        2 * single > of_4_percent,
        of_4_percent,
        rule="more than half",
    )
    claims.less(
        "A single unreachable process appeared approximately every 10^5 simulations with 1% of "
        "failed processes (share of broadcasts in %)",
        "0.001",
        100 * _count(printed, "1%", "failed") / runs,
        300 / runs + 0.001,
        runs,
        rule="no more than three in our runs, which are too few to see one in 10^5",
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    for shift, form in enumerate(FORMS):
        shares = []
        for rate in RATES:
            own = [row for row in rows if (row["form"], row["faults"]) == (form, rate)]
            share = 100 * sum(r["failed"] for r in own) / sum(r["runs"] for r in own)
            shares.append(share)
        color, mark = _STYLES[form]
        places = [place + 0.1 * (shift - 1) for place in range(len(RATES))]
        axes.plot(places, shares, color=color, marker=mark, label=form)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set_ylim(bottom=0)
    axes.set_xticks(range(len(RATES)), [f"{percent(rate):g}" for rate in RATES])
    axes.set_xlabel("failed processes in %")
    axes.set_ylabel("broadcasts that miss somebody, in %")
    axes.legend(frameon=False)


OPPORTUNISTIC = Experiment(
    "opportunistic",
    "Section 4.3: opportunistic correction under faults",
    "How many broadcasts leave a live process uncolored, over four trees together: overlapped "
    "optimized opportunistic correction, d = 4, as it is printed; if those correct too that were "
    "colored by an early correction; and if moreover messages from both sides are heeded. 64K "
    "processes, L = 2, o = 1.",
    lambda study: [_campaign(study)],
    _rows,
    _claims,
    _draw,
)
