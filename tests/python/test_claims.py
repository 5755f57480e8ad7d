"""How claims are judged: a rule lets through what is claimed, and no deviation that matters."""

import random

import pytest
from resprout.experiments.reproduce.claims import PRINTED, RUN, Claims, read_as, summary


def verdicts(claims: Claims) -> list[bool | None]:
    return [claim.within for claim in claims]


def test_equal_is_no_other_value() -> None:
    claims = Claims("figure")
    claims.equal("equal", 0, 0, 1)
    claims.equal("one of a million is not none", 0, 1, 1_000_000)
    assert verdicts(claims) == [True, False]


def test_near_ends_at_the_tolerance() -> None:
    claims = Claims("figure")
    claims.near("near", 12, 13, 1, tolerance=1, why="whole ticks")
    claims.near("not near", 12, 13.1, 1, tolerance=1, why="whole ticks")
    assert verdicts(claims) == [True, False]
    assert claims[0].rule == "±1: whole ticks"


def test_near_allows_for_chance_and_says_nothing_where_chance_covers_what_matters() -> None:
    claims = Claims("figure")
    for ours in (2600, 3000, 0):
        claims.near("of many", 2600, ours, 1, tolerance=260, why="", error=360, matters=1700)
    for ours in (2600, 0, 9000):
        claims.near("of few", 2600, ours, 1, tolerance=260, why="", error=1300, matters=1700)
    assert verdicts(claims) == [True, True, False, None, None, False]


def test_between_rounds_as_the_paper_does() -> None:
    claims = Claims("figure")
    claims.between("rounds to it", 12, 14, 14.4, 1, why="whole percent")
    claims.between("does not", 12, 14, 11.4, 1, why="whole percent")
    assert verdicts(claims) == [True, False]


def test_less_is_not_the_limit() -> None:
    claims = Claims("figure")
    claims.less("less", "few", 0.99, 1, 1, rule="below 1")
    claims.less("not less", "few", 1.0, 1, 1, rule="below 1")
    assert verdicts(claims) == [True, False]


def test_never_is_seen_in_enough_runs_only() -> None:
    claims = Claims("figure")
    claims.never("never", 0, 800, matters=0.01)
    claims.never("once", 1, 800, matters=0.01)
    claims.never("too few to tell", 0, 100, matters=0.01)
    assert verdicts(claims) == [True, False, None]


def test_mostly_tells_nine_tenths_from_three_quarters_or_says_nothing() -> None:
    claims = Claims("figure")
    claims.mostly("38 of 40", "> 90 %", 38, 40, share=0.9, matters=0.75)
    claims.mostly("30 of 40", "> 90 %", 30, 40, share=0.9, matters=0.75)
    claims.mostly("too few", "> 90 %", 4, 4, share=0.9, matters=0.75)
    claims.mostly("none at all", "> 90 %", 0, 0, share=0.9, matters=0.75)
    claims.mostly("a planted share", "> 50 %", 2_500, 10_000, share=0.5, matters=0.25)
    assert verdicts(claims) == [True, False, None, None, False]


def test_rare_things_are_missed_neither_by_zero_nor_by_half() -> None:
    claims = Claims("figure")
    for hits in (130, 65, 0):
        claims.rare("of many", 0.0013, hits, 100_000, slack=0.1)
    claims.rare("of few", 0.0013, 0, 4_000, slack=0.1)
    assert verdicts(claims) == [True, False, False, None]


def test_a_planted_share_of_three_quarters_passes_as_nine_tenths_once_in_twenty_at_most() -> None:
    generator = random.Random(5)
    passed = 0
    for _ in range(400):
        hits = sum(generator.random() < 0.75 for _ in range(40))
        claims = Claims("figure")
        claims.mostly("planted", "> 90 %", hits, 40, share=0.9, matters=0.75)
        passed += claims[0].within is not False
    assert passed <= 20


def test_what_holds_names_a_deviation_that_would_not() -> None:
    claims = Claims("figure")
    claims.holds("rises", "rises", "1 < 2", True, 2, rule="each above", planted=False)
    with pytest.raises(ValueError, match="each above"):
        claims.holds("rises", "rises", "1 < 2", True, 2, rule="each above", planted=True)
    assert verdicts(claims) == [True]


def test_a_claim_that_is_read_twice_counts_once_in_each_reading() -> None:
    claims = Claims("figure")
    claims.equal("of both", 1, 1, 1)
    with claims.read(PRINTED):
        claims.equal("of one", 1, 2, 1)
    with claims.read(RUN):
        claims.equal("of one", 1, 1, 1)
        claims.undecided("of few", 1, "not simulated")
    assert [claim.claim for claim in read_as(claims, PRINTED)] == ["of both", "of one"]
    assert verdicts(claims) == [True, False, True, None]
    assert summary(claims) == (
        "1 of 2 claims hold as printed, 2 of 3 claims hold as their authors ran them; "
        "1 rest on too few runs to tell"
    )


def test_circular_claims_are_named_and_count_neither_way() -> None:
    claims = Claims("figure")
    claims.equal("may fail", 1, 1, 1)
    claims.equal("has failed", 1, 2, 1)
    with claims.circular():
        claims.equal("chosen so", 1, 1, 1)
    claims.equal("may fail, too", 1, 1, 1)
    assert [claim.verdict for claim in claims] == ["within", "outside", "circular", "within"]
    assert [claim.as_json()["circular"] for claim in claims] == [False, False, True, False]
    assert summary(claims) == "2 of 3 claims hold; 1 more are circular"
