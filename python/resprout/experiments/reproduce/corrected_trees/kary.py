"""Section 3.2.1: how many failures a k-ary tree bears, and with how many correction messages.

Random failures rarely are the worst ones, so the worst ones are among the cases: k - 1 children of
the root, and k - 1 neighbors on the ring. What each claim would be with one failure more, or one
message fewer, is simulated beside it: there it has to fail, or the cases would prove nothing.
"""

import random

from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Study
from resprout.experiments.reproduce.store import Campaign, campaign

ARITIES = range(2, 7)
_PROCS = 1000
_SEED = 321


def messages_spec(k: int, messages: int, start: str) -> str:
    """So many correction messages a process, all of them to the right."""
    correction = (
        f"correction=opportunistic,d={messages},sides=right" if messages else "correction=none"
    )
    return f"corrected-tree:tree=kary,k={k},{correction},start={start}"


def worst_cases(failures: int) -> list[str]:
    """The first children of the root; as many leaves in a row."""
    return [_listed(range(1, 1 + failures)), _listed(range(600, 600 + failures))]


def level(k: int, depth: int) -> range:
    """The ranks of a level of an interleaved k-ary tree."""
    first = (k**depth - 1) // (k - 1)
    return range(first, first + k**depth)


def level_cases(k: int, depth: int, failures: int, count: int) -> list[str]:
    """Failures on this level or below: all on it, the first time; then at random."""
    generator = random.Random(_SEED + 100 * k + depth)
    cases = [_listed(level(k, depth)[:failures])]
    below = range(level(k, depth)[0], _PROCS)
    cases += [_listed(generator.sample(level(k, depth), failures)) for _ in range(count)]
    return cases + [_listed(generator.sample(below, failures)) for _ in range(count)]


def _listed(ranks: range | list[int]) -> str:
    return "".join(f"{rank}," for rank in ranks)


def _random_failures(study: Study) -> Campaign:
    points = [
        Point(messages_spec(k, k - 1, start), _PROCS, faults=str(k - 1))
        for k in ARITIES
        for start in ("synchronized", "overlapped")
    ]
    return campaign("kary_failures", points, study.scale.runs(1000, 10_000))


def _worst_failures(study: Study) -> Campaign:
    """With k - 1 messages, as claimed, and with one fewer."""
    points = [
        Point(messages_spec(k, messages, start), _PROCS, faults=faults)
        for k in ARITIES
        for start in ("synchronized", "overlapped")
        for messages in (k - 2, k - 1)
        for faults in worst_cases(k - 1)
    ]
    return campaign("kary_worst", points, 1)


def _levels(study: Study) -> Campaign:
    """With k^l - 1 failures, as claimed, and with one more."""
    points = [
        Point(f"corrected-tree:tree=kary,k={k},correction=checked", _PROCS, faults=faults)
        for k in ARITIES
        for depth in _depths(k)
        for failures in (k**depth - 1, k**depth)
        for faults in level_cases(k, depth, failures, study.scale.runs(20, 200))
    ]
    return campaign("kary_levels", points, 1)


def _depths(k: int) -> list[int]:
    """Levels with others below them."""
    return [depth for depth in (1, 2, 3) if level(k, depth + 1)[0] + k**depth < _PROCS]


def kary_campaigns(study: Study) -> list[Campaign]:
    return [_random_failures(study), _worst_failures(study), _levels(study)]


def claim_kary(study: Study, claims: Claims) -> None:
    _claim_levels(study, claims)
    sql = "SELECT protocol, faults, g_max, uncolored FROM runs"
    worst = study.ask(_worst_failures(study), sql)
    many = study.ask(_random_failures(study), sql)
    in_time = [row for row in (*worst, *many) if "start=synchronized" in row[0]]
    claims.equal(
        "With k - 1 failed processes at least every k-th process is colored after the "
        "dissemination (k = 2 to 6: cases with a longer gap)",
        0,
        sum(gap >= _arity(spec) for spec, _, gap, _ in in_time),
        len(in_time),
    )
    enough = [row for row in (*worst, *many) if _messages(row[0]) == _arity(row[0]) - 1]
    missed = sum(uncolored > 0 for *_, uncolored in enough)
    fewer = [row for row in worst if _messages(row[0]) == _arity(row[0]) - 2]
    seen = {_arity(spec) for spec, *_, uncolored in fewer if uncolored > 0}
    claims.holds(
        "opportunistic correction with k - 1 messages sent per process is guaranteed to color all "
        "processes as long as there are less than k failures (k = 2 to 6: cases that miss some)",
        0,
        missed,
        missed == 0 and seen == set(ARITIES),
        len(enough),
        rule="none, where one message fewer misses somebody for each k",
    )


def _claim_levels(study: Study, claims: Claims) -> None:
    found = study.ask(_levels(study), "SELECT protocol, faults, g_max FROM runs")
    borne, beyond = [], set()
    for spec, faults, gap in found:
        k, failures = _arity(spec), faults.count(",")
        depth = next(d for d in _depths(k) if failures in (k**d - 1, k**d))
        if failures == k**depth - 1:
            borne.append(gap >= k**depth)
        elif gap >= k**depth:
            beyond.add((k, depth))
    wanted = {(k, depth) for k in ARITIES for depth in _depths(k)}
    claims.holds(
        "k^l - 1 failures on level l or below can be tolerated, and still every k^l-th process "
        "will be colored after the dissemination (k = 2 to 6, l = 1 to 3: cases with longer gaps)",
        0,
        sum(borne),
        not any(borne) and beyond == wanted,
        len(borne),
        rule="none, where one failure more leaves a longer gap for each k and l",
    )


def _arity(spec: str) -> int:
    return int(spec.partition(",k=")[2].partition(",")[0])


def _messages(spec: str) -> int:
    return int(spec.partition(",d=")[2].partition(",")[0] or 0)
