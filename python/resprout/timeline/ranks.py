"""Which processes a timeline shows: all of a few, the interesting ones of many, or those named."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from resprout.errors import UserError
from resprout.native import TracedMessage
from resprout.timeline.story import Gap, Story

# As many as one can read in one picture.
SHOWN_MAX = 64
# As many as one may ask for.
NAMED_MAX = 512
# Of a longer gap only the two ends are interesting: correction comes from there.
_GAP_END = 8
_PATH_MAX = 24
_MISSED_FIRST = 8
_UNTROUBLED = 8


def parse_ranks(text: str, procs: int) -> list[int]:
    """The ranks of `0-5,9`, in order."""
    ranks: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part.strip())
        if match is None:
            raise UserError(f"--ranks: {part!r} in {text!r} is no rank; give ranks as 0-5,9")
        first = int(match[1])
        last = int(match[2] or match[1])
        if first > last:
            raise UserError(f"--ranks: {part!r} in {text!r} goes down; give the lower rank first")
        if last >= procs:
            raise UserError(f"--ranks: {last} is not from 0 to {procs - 1}")
        ranks |= set(range(first, min(last, first + NAMED_MAX) + 1))
    if len(ranks) > NAMED_MAX:
        raise UserError(
            f"--ranks: {text!r} are more than {NAMED_MAX} ranks, too many for a picture"
        )
    return sorted(ranks)


def interesting_ranks(story: Story) -> list[int]:
    """All of up to SHOWN_MAX processes; of more, those that tell the story, as many as fit."""
    if story.procs <= SHOWN_MAX:
        return list(range(story.procs))
    chosen: set[int] = set()
    for group in _groups(story):
        if len(chosen | set(group)) <= SHOWN_MAX:
            chosen |= set(group)
    return sorted(chosen)


def omitted_ranges(shown: list[int], procs: int) -> list[tuple[int, int]]:
    """The first and the last rank of each run of ranks that is left out."""
    edges = [-1, *shown, procs]
    return [(before + 1, after - 1) for before, after in pairwise(edges) if after - before > 1]


def _groups(story: Story) -> Iterator[Iterable[int]]:
    """What belongs together, the most interesting first."""
    yield [story.root]
    # From the end: a path may be long, in a tree that is a chain.
    yield from ((message["from"], message["to"]) for message in story.path[:_PATH_MAX])
    missed = _missed(story)
    yield from ((message["from"], message["to"]) for message in missed[:_MISSED_FIRST])
    for gap in sorted(story.gaps, key=lambda gap: _importance(story, gap)):
        yield _gap_group(story, gap)
    yield from ((message["from"], message["to"]) for message in missed)
    yield from ([rank] for rank in sorted(story.died))
    # Who found the dead out.
    for event in story.run["trace"]["events"]:
        if event["kind"] in ("exclude", "adopt"):
            yield [event["rank"]]
    # Of an untroubled run: both sides of the root on the ring.
    for distance in range(_UNTROUBLED):
        yield [(story.root + distance) % story.procs]
        yield [(story.root - distance) % story.procs]


def _missed(story: Story) -> list[TracedMessage]:
    """The first lost message of each of the dead, those with the largest subtrees first.

    Down a tree they are called the earliest; up a tree they are called most often.
    """
    if story.is_broadcast:
        return sorted(story.lost.values(), key=lambda m: (m["arrived"], m["to"]))
    calls = Counter(m["to"] for m in story.messages if m["received"] is None)
    return sorted(story.lost.values(), key=lambda m: (-calls[m["to"]], m["to"]))


def _importance(story: Story, gap: Gap) -> tuple[int, int, int]:
    live = sum(rank not in story.died for rank in gap.ranks())
    return -live, -gap.size, gap.first


def _gap_group(story: Story, gap: Gap) -> set[int]:
    """The gap, the processes beside it, and whoever colored somebody in it."""
    ranks = gap.ranks()
    if len(ranks) > 2 * _GAP_END:
        ranks = ranks[:_GAP_END] + ranks[-_GAP_END:]
    group = {*ranks, *gap.neighbors()}
    for rank in ranks:
        message = story.finished_by(rank)
        if message is not None:
            group.add(message["from"])
    return group
