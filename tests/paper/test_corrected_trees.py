"""Sentences of Corrected Trees (PPoPP 2019), from small parts of what `resprout reproduce` does.

What is claimed of random samples is judged at the paper's sizes there; here stands what each
small sample has to show.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from resprout.experiments.reproduce.claims import Claim
from resprout.experiments.reproduce.command import papers
from resprout.experiments.reproduce.experiment import Study
from resprout.experiments.reproduce.scale import Scale
from resprout.experiments.reproduce.store import Store


@cache
def claims_of(figure: str) -> list[Claim]:
    """With a thousandth of the runs, on up to 16384 processes."""
    (experiment,) = papers()["corrected-trees"].chosen(figure)
    with TemporaryDirectory() as folder:
        study = Study(Store(Path(folder), 2), Scale(divisor=1000), procs_max=16384)
        study.store.simulate(experiment.campaigns(study))
        return list(experiment.claims(study, experiment.rows(study)))


def verdicts(figure: str, words: str) -> list[bool]:
    """Of all claims that have these words; there must be some."""
    found = [claim.within for claim in claims_of(figure) if words in claim.claim]
    assert found, f"no claim of {figure} says {words!r}"
    return found


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ("lemmas", "Lemma 1: A tree constructed by Equation (2) is interleaved"),
        ("lemmas", "our node numbering scheme maintains the interleaving also for incomplete"),
        ("lemmas", "With k = 1 the Lamé tree is binomial"),
        ("lemmas", "optimal communication topology when 2o + L = k"),
        ("lemmas", "Lemma 3 with L = 1 to 8"),
        ("lemmas", "Appendix A: the lower bound results from the case with a single gap"),
        ("lemmas", "the more gaps there are, the fewer messages are sent"),
        ("lemmas", "guarantees full coloring independent of the number of failures"),
        ("lemmas", "at least every k-th process is colored after the dissemination"),
        ("lemmas", "guaranteed to color all processes as long as there are less than k failures"),
        ("lemmas", "k^l - 1 failures on level l or below can be tolerated"),
        ("lemmas", "if process 23 received the nearest correction messages from 19 and 28"),
        ("lemmas", "Figure 5: in the Lamé tree k = 3 of 9 processes"),
        ("fig7", "Independent of tree type, checked correction lasts 8 time steps"),
        ("fig7", "lies between the binomial and Lamé"),
        ("fig7", "The latency of a tree-based broadcast is exact"),
        ("fig7", "each non-leaf process in a 4-ary tree sends at most 4 messages"),
        ("fig7", "gossiping processes will send 30 - t_c messages"),
        ("fig6", "each of them sends 5 correction messages"),
        ("fig6", "then an acknowledgment in a second message"),
        ("fig6", "Optimized opportunistic correction sends at most as many messages as checked"),
        ("fig6", "only one correction message in one direction"),
        ("fig14", "no difference in coloring latency between corrected and acknowledged trees"),
        ("fig14", "all nodes are colored when the last process receives a tree message"),
        ("fig10", "Lemma 3: runs"),
        ("table1", "with no faults"),
        ("fig1b", "Without faults, the correction phase would take 8 time steps"),
        ("fig1b", "correction taking orders of magnitude longer"),
    ],
)
def test_it_is_as_the_paper_says(figure: str, words: str) -> None:
    assert all(verdicts(figure, words))


@pytest.mark.parametrize(
    "words",
    [
        "Lemma 2: L_SCC without faults is 4o + L + floor(L/o)o",
        "Corollary 1: 3 + floor(L/o) corrections per process",
    ],
)
def test_floor_is_right_where_o_divides_l_and_wrong_elsewhere(words: str) -> None:
    assert verdicts("lemmas", words) == [True, False]


def test_the_optimization_preserves_liveness_as_printed_and_not_if_both_sides_are_heeded() -> None:
    assert verdicts("lemmas", "that preserves non-faulty liveness") == [True, False]


def test_the_gap_of_figure_3_has_three_processes_if_the_dead_one_counts() -> None:
    assert verdicts("lemmas", "will leave two consecutive processes uncolored") == [True]
    assert verdicts("lemmas", "The resulting gap has a size of 2") == [False]
