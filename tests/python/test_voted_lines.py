"""Lines of output that replicas vote on."""

import random

import pytest
from resprout.launch.planes.lines import Key, Marker
from resprout.launch.planes.voted_lines import Difference, VotedLines, corruption_of

OUT: Key = (0, "stdout")
ERR: Key = (0, "stderr")


def voted(planes: int, stands_in: bool = False, shows_undecided: bool = False) -> VotedLines:
    return VotedLines(planes, stands_in, shows_undecided)


def test_a_line_is_shown_when_two_have_said_it() -> None:
    lines = voted(3)
    assert lines.take(1, OUT, b"a\n") == b""
    assert lines.take(2, OUT, b"a\n") == b"a\n"
    assert lines.take(0, OUT, b"a\n") == b""
    assert lines.differences == []


def test_one_that_says_something_else_is_out_voted_first_or_last() -> None:
    lines = voted(3)
    texts = [(0, b"x\n"), (1, b"a\n"), (2, b"a\n"), (1, b"b\n"), (2, b"b\n"), (0, b"y\n")]
    assert b"".join(lines.take(plane, OUT, text) for plane, text in texts) == b"a\nb\n"
    assert lines.differences == [Difference(0, 1, 2, (0,)), Difference(0, 2, 2, (0,))]
    found = corruption_of(lines.differences[0], is_reported=False)
    assert (found.end, found.then, found.wrong_replicas) == ("outvoted", "go_on", (0,))


@pytest.mark.parametrize("shows", [False, True])
def test_where_nobody_can_tell_a_line_is_held_back_or_the_first_one_s_is_shown(shows: bool) -> None:
    lines = voted(2, shows_undecided=shows)
    assert lines.take(0, OUT, b"a\n") == b""
    assert lines.take(1, OUT, b"x\n") == (b"a\n" if shows else b"")
    assert lines.differences == [Difference(0, 1, 2, ())]
    both = lines.take(0, OUT, b"b\n") + lines.take(1, OUT, b"b\n")
    assert both == (b"b\n" if shows else b"")
    assert len(lines.differences) == 1
    assert corruption_of(lines.differences[0], is_reported=shows).then == (
        "go_on" if shows else "abort"
    )


def test_who_is_left_alone_is_believed_and_says_what_was_kept() -> None:
    lines = voted(2)
    lines.take(1, OUT, b"a\n")
    lines.take(1, OUT, b"b\n")
    assert lines.lose(0, {}) == [(OUT, b"a\nb\n")]
    assert lines.take(1, OUT, b"c\n") == b"c\n"


def test_who_has_ended_with_less_has_said_nothing() -> None:
    lines = voted(3)
    assert lines.finish(0, {}) == []
    lines.take(1, OUT, b"a\n")
    assert lines.take(2, OUT, b"a\n") == b"a\n"
    assert lines.differences == [Difference(0, 1, 2, (0,))]
    lines = voted(3)
    lines.take(2, OUT, b"more\n")
    assert lines.finish(0, {}) + lines.finish(1, {}) == []
    lines.finish(2, {})
    assert lines.differences == [Difference(0, 1, 0, (2,))]


def test_a_line_without_an_end_is_compared_when_the_copies_have_ended() -> None:
    lines = voted(2)
    assert lines.finish(0, {OUT: b"end"}) == []
    assert lines.finish(1, {OUT: b"end"}) == [(OUT, b"end")]
    assert lines.differences == []


@pytest.mark.parametrize("stands_in", [False, True])
def test_stderr_is_as_without_votes(stands_in: bool) -> None:
    lines = voted(2, stands_in)
    assert lines.take(0, ERR, b"a\n") == b"a\n"
    assert lines.take(1, ERR, b"b\n") == b""
    assert lines.differences == []


def test_a_rank_that_a_plane_has_lost_has_no_vote_there() -> None:
    lines = voted(3, stands_in=True)
    lines.take(0, OUT, b"a\n")
    assert lines.lose_rank(1, 0) == []
    assert lines.take(2, OUT, b"a\n") == b"a\n"
    lines.take(2, OUT, b"b\n")
    assert lines.lose_rank(0, 0) == [(OUT, b"b\n")]
    assert lines.finish(1, {}) + lines.finish(0, {}) == []
    assert lines.differences == []


def test_a_plane_that_is_back_votes_from_its_place_on() -> None:
    lines = voted(2)
    lines.take(0, OUT, b"a\n")
    lines.take(1, OUT, b"a\n")
    lines.lose(1, {})
    assert lines.take(0, OUT, b"b\n") == b"b\n"
    back = lines.add(1)
    lines.take(back, OUT, b"said before\n")
    lines.take(back, OUT, Marker(1))
    lines.take(0, OUT, Marker(1))
    assert lines.take(0, OUT, b"c\n") == b""
    assert lines.take(back, OUT, b"c\n") == b"c\n"
    assert lines.differences == []


def test_whatever_the_order_the_majority_s_lines_are_shown_once() -> None:
    for seed in range(200):
        generator = random.Random(seed)
        lines = voted(3)
        wrong = {(generator.randrange(3), number) for number in generator.sample(range(20), 5)}
        wrong = {(plane, number) for plane, number in wrong}
        said = [0, 0, 0]
        shown = b""
        while min(said) < 20:
            plane = generator.choice([p for p in range(3) if said[p] < 20])
            mark = b"!" if (plane, said[plane]) in wrong else b""
            shown += lines.take(plane, OUT, b"%d%s\n" % (said[plane], mark))
            said[plane] += 1
        assert shown == b"".join(b"%d\n" % i for i in range(20)), f"seed {seed}"
        found = {(one.wrong[0], one.number - 1) for one in lines.differences}
        assert found == wrong, f"seed {seed}"
