"""What `resprout bench flips` makes of jobs, and which bits it chooses."""

from collections import Counter
from typing import Any

import pytest
from resprout.experiments.bench.flips.figures import Row, rows_of, verdicts
from resprout.experiments.bench.flips.measure import Outcome
from resprout.experiments.bench.flips.outcome import HUNG, Counts, classify
from resprout.experiments.bench.flips.plan import CASES, KERNELS, Request, Run, runs
from resprout.faults import AREAS, Fault, parse_faults

CALLS = {kernel: {"send": 40, "allreduce": 10} for kernel in KERNELS}


def report(*, corrupted: bool = False, lost: bool = False, left: bool = False) -> dict[str, Any]:
    return {
        "corruptions": [{}] if corrupted else [],
        "losses": [],
        "planes": [{"losses": []}, {"losses": [{}] if lost else []}],
        "faults_left": ["flip:rank=0,where=heap,at=send#3,bit=5"] if left else [],
    }


@pytest.mark.parametrize(
    ("status", "is_right", "told", "name"),
    [
        (0, True, report(), "masked"),
        (0, True, report(corrupted=True), "corrected"),
        (0, True, report(lost=True), "corrected"),
        (4, False, report(corrupted=True), "detected"),
        (139, False, report(lost=True), "detected"),
        (1, False, report(), "noticed"),
        (0, False, report(), "silent"),
        # A wrong result is one, whatever else was said.
        (0, False, report(corrupted=True), "silent"),
    ],
)
def test_each_end_counts_once(status: int, is_right: bool, told: dict[str, Any], name: str) -> None:
    assert classify(status, told, is_right) == Counts(flipped=1, **{name: 1})


def test_a_flip_that_did_not_happen_counts_nowhere_else() -> None:
    assert classify(0, report(left=True), True) == Counts(left=1)


def test_flips_are_spread_over_methods_kernels_and_areas_and_can_be_injected() -> None:
    request = Request(2, CASES, 40 * len(CASES), seed=1)
    chosen = runs(request, CALLS)
    assert chosen == runs(request, CALLS) != runs(Request(2, CASES, 400, seed=2), CALLS)
    assert set(Counter((run.degree, run.method) for run in chosen).values()) == {40}
    assert set(Counter((run.kernel, run.area) for run in chosen).values()) == {20}
    for run in chosen:
        (fault,) = parse_faults([run.fault], ranks=2, replicas=run.degree)
        assert isinstance(fault, Fault) and fault.area == run.area
        call, count = fault.at.split("#")
        assert 1 <= int(count) <= CALLS[run.kernel][call]
    assert {run.area for run in chosen} == set(AREAS)


def outcome(method: str, counts: Counts) -> Outcome:
    return Outcome(Run("cg", 3, method, "heap", ""), counts)


def test_verdicts_are_of_jobs_that_compare() -> None:
    silent = Counts(flipped=1, silent=1)
    rows = rows_of([outcome("none", silent), outcome("async-hash", Counts(flipped=1, masked=1))])
    assert rows[0] == Row(3, "none", "heap", silent)
    assert [verdict.is_met for verdict in verdicts(rows)] == [True, True]
    rows = rows_of([outcome("async-hash", silent), outcome("async-hash", HUNG)])
    assert [verdict.is_met for verdict in verdicts(rows)] == [False, False]
    assert "1 of 2" in str(verdicts(rows)[0])
