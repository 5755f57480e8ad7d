"""The lemmas and corollaries, and what else the text says for certain."""

from typing import TYPE_CHECKING

from resprout import native, pictures
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.corrected_trees.broadcasts import TREES, checked
from resprout.experiments.reproduce.corrected_trees.kary import claim_kary, kary_campaigns
from resprout.experiments.reproduce.corrected_trees.shape import (
    parents_of,
    violations_of_definition_1,
)
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.store import Campaign, campaign

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LATENCIES = range(1, 11)
_OVERHEADS = (1, 2, 3)
_PROCS = 1000
_GAPS = range(1, 9)
_RATES = ("0.1%", "1%", "4%", "10%", "30%", "60%", "90%")


def _fault_free(study: Study) -> Campaign:
    points = [
        Point(checked(tree), _PROCS, latency, overhead)
        for tree in TREES
        for overhead in _OVERHEADS
        for latency in _LATENCIES
    ]
    return campaign("correction_without_faults", points, 1)


def _bounded(study: Study) -> Campaign:
    """For lemma 3: other parameters, sizes and trees than those of figure 10."""
    points = [
        Point(checked(tree), 4 * _PROCS, latency, overhead, faults="2%")
        for tree in TREES
        for overhead in _OVERHEADS
        for latency in (1, 2, 3, 5, 8)
    ]
    return campaign("correction_with_faults", points, study.scale.runs(500, 10_000))


def _single_gap(study: Study) -> Campaign:
    """Gaps of g leaves, each alone, with a dead process further left, and with a twin."""
    points = [
        Point(checked("binomial"), 1024, faults=faults)
        for gap in _GAPS
        for faults in (*_alone(gap), _with_twin(gap))
    ]
    return campaign("single_gaps", points, 1)


def _alone(gap: int) -> list[str]:
    """The last message may go to the dead one, which saves its receive (appendix A)."""
    leaves = _ranks(700, gap)
    return [leaves, *(f"{rank},{leaves}" for rank in range(690, 699))]


def _with_twin(gap: int) -> str:
    """On both sides of one process."""
    return _ranks(700, gap) + _ranks(701 + gap, gap)


def _ranks(first: int, count: int) -> str:
    return "".join(f"{rank}," for rank in range(first, first + count))


def _gap_counts(study: Study) -> Campaign:
    """More gaps of the same size: 1 to 64 gaps of two leaves."""
    points = [
        Point(checked("binomial"), 1024, faults="".join(_ranks(600 + 5 * i, 2) for i in range(n)))
        for n in (1, 4, 16, 64)
    ]
    return campaign("gap_counts", points, 1)


def _many_failures(study: Study) -> Campaign:
    points = [Point(checked(tree), _PROCS, faults=rate) for tree in TREES for rate in _RATES]
    return campaign("many_failures", points, study.scale.runs(2000, 10_000))


def _liveness(study: Study) -> Campaign:
    """Section 3.3: one failure, which opportunistic correction with d = 4 covers in this tree."""
    points = []
    for heed in ("right", "both"):
        spec = "corrected-tree:tree=binomial,numbering=in-order,correction=optimized-opportunistic"
        points += [Point(f"{spec},d=4,heed={heed}", 32, faults=f"{r},") for r in range(1, 32)]
    plain = "corrected-tree:tree=binomial,numbering=in-order,correction=opportunistic,d=4"
    points += [Point(plain, 32, faults=f"{r},") for r in range(1, 32)]
    return campaign("liveness", points, 1)


def _campaigns(study: Study) -> list[Campaign]:
    makers = (_fault_free, _bounded, _single_gap, _gap_counts, _many_failures, _liveness)
    return [*(make(study) for make in makers), *kary_campaigns(study)]


def lemma_2(latency: int, overhead: int) -> int:
    """As printed: with the floor."""
    return 4 * overhead + latency + latency // overhead * overhead


def lemma_2_corrected(latency: int, overhead: int) -> int:
    return 4 * overhead + latency + -(-latency // overhead) * overhead


def _rows(study: Study) -> list[Row]:
    columns = ("protocol", "latency", "overhead", "correction", "messages", "procs")
    sql = """
        SELECT protocol, latency, overhead, quiescence_latency - correction_start, messages, procs
        FROM runs ORDER BY ALL"""
    return study.rows(_fault_free(study), columns, sql)


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("lemmas")
    _claim_interleaving(claims)
    _claim_lemma_2(claims, rows)
    _claim_lemma_3(study, claims)
    _claim_single_gaps(study, claims)
    _claim_resilience(study, claims)
    _claim_examples(claims)
    return claims


def _claim_interleaving(claims: Claims) -> None:
    sizes = range(2, 66)
    for name, trees in (
        ("Lamé trees, k = 1 to 4, P = 2 to 65", [f"tree=lame,k={k}" for k in range(1, 5)]),
        ("k-ary trees, k = 2 to 4, P = 2 to 65", [f"tree=kary,k={k}" for k in range(2, 5)]),
    ):
        wrong = sum(violations_of_definition_1(parents_of(t, p)) for t in trees for p in sizes)
        claims.equal(
            f"Lemma 1: A tree constructed by Equation (2) is interleaved ({name}: pairs that "
            "violate Definition 1)"
            if "Lamé" in name
            else f"our node numbering scheme maintains the interleaving also for incomplete {name}",
            0,
            wrong,
            len(trees) * len(sizes),
        )
    same = sum(
        parents_of("tree=lame,k=1", procs) == parents_of("tree=binomial", procs) for procs in sizes
    )
    claims.equal(
        "With k = 1 the Lamé tree is binomial (of the sizes 2 to 65)", len(sizes), same, len(sizes)
    )
    equal = 0
    models = [(latency, overhead) for latency in range(1, 5) for overhead in (1,)]
    for latency, overhead in models:
        k = 2 * overhead + latency
        specs = (f"tree=lame,k={k}", "tree=optimal")
        times = [
            native.Simulation(
                f"corrected-tree:{spec},correction=none",
                procs=_PROCS,
                latency=latency,
                overhead=overhead,
            ).run()["coloring_latency"]
            for spec in specs
        ]
        equal += times[0] == times[1]
    claims.equal(
        "A Lamé tree can constitute an optimal communication topology when 2o + L = k (of L = 1 "
        "to 4, o = 1: where its coloring latency is the optimal tree's)",
        len(models),
        equal,
        2 * len(models),
    )


def _claim_lemma_2(claims: Claims, rows: list[Row]) -> None:
    for divides in (True, False):
        own = [row for row in rows if (row["latency"] % row["overhead"] == 0) == divides]
        where = "o divides L" if divides else "o does not divide L"
        wrong = [r for r in own if r["correction"] != lemma_2(r["latency"], r["overhead"])]
        claims.equal(
            f"Lemma 2: L_SCC without faults is 4o + L + floor(L/o)o ({where}: runs that differ)",
            0,
            len(wrong),
            len(own),
        )
        corrections = [r["messages"] - (r["procs"] - 1) for r in own]
        wrong_messages = sum(
            found != row["procs"] * (3 + row["latency"] // row["overhead"])
            for found, row in zip(corrections, own, strict=True)
        )
        claims.equal(
            f"Corollary 1: 3 + floor(L/o) corrections per process ({where}: runs that differ)",
            0,
            wrong_messages,
            len(own),
        )


def _claim_lemma_3(study: Study, claims: Claims) -> None:
    """The lemma says P >> g_max: gaps of more than an eighth of the ring are left out."""
    sql = """
        SELECT latency, overhead, g_max, quiescence_latency - correction_start, count(*)
        FROM runs WHERE g_max * 8 <= procs GROUP BY ALL"""
    found = study.ask(_bounded(study), sql)
    runs = sum(count for *_, count in found)
    low = high = 0
    for latency, overhead, gap, length, count in found:
        free = lemma_2_corrected(latency, overhead)
        low += count * (length < free + gap * overhead)
        high += count * (length > free + (2 * gap + 1) * overhead)
    text = "Lemma 3 with L = 1 to 8, o = 1 to 3, P = 4000, 2 % faults"
    claims.equal(f"{text}: runs below L_SCC^FF + g_max o", 0, low, runs)
    claims.equal(f"{text}: runs above L_SCC^FF + (2 g_max + 1) o", 0, high, runs)


def _claim_single_gaps(study: Study, claims: Claims) -> None:
    sql = "SELECT faults, quiescence_latency - correction_start, g_max FROM runs"
    found = {faults: length for faults, length, _ in study.ask(_single_gap(study), sql)}
    least = [min(found[faults] for faults in _alone(gap)) for gap in _GAPS]
    # (n_12 + T)o + L with o = 1, L = 2.
    lower = [gap + 5 + (2 if gap >= 3 else gap) + 2 for gap in _GAPS]
    claims.holds(
        "Appendix A: the lower bound results from the case with a single gap, (n_12 + T)o + L "
        "(for g_max = 1 to 8)",
        ", ".join(map(str, lower)),
        ", ".join(map(str, least)),
        all(ours >= bound for ours, bound in zip(least, lower, strict=True))
        and sum(ours == bound for ours, bound in zip(least, lower, strict=True)) * 2 > len(lower),
        len(_GAPS) * len(_alone(1)),
        rule="never below; met for more than half, as it is claimed to result from there",
    )
    most = [found[_with_twin(gap)] for gap in _GAPS]
    upper = [8 + 2 * gap + 1 for gap in _GAPS]
    claims.holds(
        "Appendix A: the maximum latency is limited by gaps of g_max on both sides (for g_max = 1 "
        "to 8)",
        ", ".join(f"≤ {bound}" for bound in upper),
        ", ".join(map(str, most)),
        all(bound - 1 <= ours <= bound for ours, bound in zip(most, upper, strict=True)),
        len(_GAPS),
        rule="never above, and at most o below: the o of two messages at once needs luck",
    )
    gaps = study.ask(_gap_counts(study), "SELECT messages FROM runs ORDER BY repetition")
    messages = [count for (count,) in gaps]
    claims.rising(
        "Given g_max, the more gaps there are, the fewer messages are sent (1, 4, 16, 64 gaps of "
        "two leaves)",
        "fewer",
        " > ".join(map(str, messages)),
        [-count for count in messages],
        len(messages),
        rule="each number below the one before",
    )


def _claim_resilience(study: Study, claims: Claims) -> None:
    ((uncolored, runs),) = study.ask(
        _many_failures(study), "SELECT sum((uncolored > 0)::INT)::INT, count(*) FROM runs"
    )
    claims.equal(
        "Synchronized checked correction guarantees full coloring independent of the number of "
        "failures happening before the correction phase (0.1 % to 90 %: runs that miss somebody)",
        0,
        uncolored,
        runs,
    )
    claim_kary(study, claims)
    sql = "SELECT protocol, sum((uncolored > 0)::INT)::INT, count(*) FROM runs GROUP BY ALL"
    missed = {spec: (count, runs) for spec, count, runs in study.ask(_liveness(study), sql)}
    plain = next(count for spec, (count, _) in missed.items() if "optimized" not in spec)
    for heed, words in (
        ("right", "the rule as printed, for messages from the right"),
        ("both", "the rule for both sides"),
    ):
        spec = next(spec for spec in missed if f"heed={heed}" in spec)
        claims.equal(
            "a simple optimization of opportunistic correction that preserves non-faulty liveness "
            f"({words}: of 31 single failures, d = 4, those that leave somebody uncolored)",
            plain,
            missed[spec][0],
            missed[spec][1],
        )


def _claim_examples(claims: Claims) -> None:
    """What the text works out by hand."""
    in_order = native.Simulation(
        "corrected-tree:tree=kary,k=2,numbering=in-order,correction=none", procs=7
    ).run(faults="4,")
    claims.equal(
        "Figure 3, in-order: a single fault (process 4) will leave two consecutive processes "
        "uncolored",
        2,
        in_order["uncolored"],
        1,
    )
    claims.equal("The resulting gap has a size of 2", 2, in_order["g_max"] or 0, 1)
    interleaved = native.Simulation("corrected-tree:tree=kary,k=2,correction=none", procs=7).run(
        faults="2,"
    )
    claims.equal(
        "Figure 3, interleaved: assume process 2 failed; the maximum gap size is 1",
        1,
        interleaved["g_max"] or 0,
        1,
    )
    trace = native.Simulation(
        "corrected-tree:tree=binomial,correction=checked", procs=32, latency=1, trace=True
    ).run(faults="20,21,22,24,25,26,27")["trace"]["messages"]
    # With L = 1 both are heard before it is past them.
    sends = [m["to"] for m in trace if m["from"] == 23 and m["kind"] == "correction"]
    claims.equal(
        "if process 23 received the nearest correction messages from 19 and 28, it sends "
        "correction messages to processes",
        "22, 24, 21, 25, 20, 26, 19, 27, 28",
        ", ".join(map(str, sends)),
        1,
    )
    lame = parents_of("tree=lame,k=3", 9, latency=1)
    claims.equal(
        "Figure 5: in the Lamé tree k = 3 of 9 processes, process 0 sends to R(i + 2): 1, 2, 3, 4, "
        "6; process 1 to 5 and process 2 to",
        "0: 1 2 3 4 6, 1: 5 7, 2: 8",
        ", ".join(
            f"{parent}: {' '.join(str(c) for c in sorted(lame) if lame[c] == parent)}"
            for parent in sorted(set(lame.values()))
        ),
        1,
    )


def _draw(figure: "Figure", rows: list[Row]) -> None:
    axes = figure.subplots()
    styles = ((pictures.BLUE, "o"), (pictures.VERMILION, "s"), (pictures.GREEN, "^"))
    for overhead, (color, mark) in zip(_OVERHEADS, styles, strict=True):
        own = sorted({(r["latency"], r["correction"]) for r in rows if r["overhead"] == overhead})
        axes.plot(
            *zip(*own, strict=True), color=color, marker=mark, linestyle="", label=f"o = {overhead}"
        )
        printed = [lemma_2(latency, overhead) for latency in _LATENCIES]
        corrected = [lemma_2_corrected(latency, overhead) for latency in _LATENCIES]
        axes.plot(_LATENCIES, printed, color=color, linestyle="dotted", linewidth=0.9)
        axes.plot(_LATENCIES, corrected, color=color, linewidth=0.9)
    axes.plot([], [], color=pictures.GRAY, linestyle="dotted", label="Lemma 2 as printed, floor")
    axes.plot([], [], color=pictures.GRAY, label="with ceil")
    axes.set_xlabel("time of a message in the network (L), ticks")
    axes.set_ylabel("time of correction without faults (L_SCC), ticks")
    axes.legend(frameon=False)


LEMMAS = Experiment(
    "lemmas",
    "Lemmas, corollaries and examples",
    "The picture: how long synchronized checked correction takes without faults, measured (marks), "
    "by Lemma 2 as it is printed (dotted) and as it should be (lines). 1000 processes.",
    _campaigns,
    _rows,
    _claims,
    _draw,
)
