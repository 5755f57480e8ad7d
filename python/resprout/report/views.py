"""The views that the ranks have agreed on, put together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resprout.report.ranks import RankPart

# As in src/runtime/lifeline/lifeline.hpp.
VIEWS_RANKS_MAX = 4096


@dataclass(frozen=True)
class SeenView:
    """A view, as one rank installed it."""

    epoch: int
    lost: tuple[int, ...]
    """All ranks that are not in it."""
    detected_ns: int | None
    decided_ns: int | None
    """Only the rank that decided it knows."""
    installed_ns: int


@dataclass(frozen=True)
class View:
    """A view, as all that installed it did. Two of one epoch would contradict each other."""

    epoch: int
    lost: tuple[int, ...]
    ranks: int
    """How many say to have installed it."""
    detected_ns: int | None
    """When the first of its new losses was found."""
    decided_ns: int | None
    decided_by: int | None
    installed_ns: int
    """By the last one."""

    @property
    def took_ns(self) -> int | None:
        """From the first loss to the last installation."""
        return None if self.detected_ns is None else max(0, self.installed_ns - self.detected_ns)


@dataclass(frozen=True)
class ViewTree:
    """The tree over which the ranks agree; the same for all views of a job."""

    radix: int
    places: tuple[int, ...]
    """Of each rank its identifier in the tree: the children of v are radix * v + 1 and on."""


def parse_tree(value: Any) -> ViewTree | None:
    if value is None:
        return None
    return ViewTree(int(value["radix"]), tuple(int(place) for place in value["places"]))


def merge_tree(parts: Iterable["RankPart"]) -> ViewTree | None:
    """All who say it say the same; nothing: no rank has, as none keeps views."""
    return next((part.tree for part in parts if part.tree is not None), None)


def parse_views(value: Any) -> tuple[SeenView, ...] | None:
    if value is None:
        return None
    return tuple(
        SeenView(
            int(view["epoch"]),
            tuple(int(rank) for rank in view["lost"]),
            None if view["detected_ns"] is None else int(view["detected_ns"]),
            None if view["decided_ns"] is None else int(view["decided_ns"]),
            int(view["installed_ns"]),
        )
        for view in value
    )


def merge_views(parts: Iterable["RankPart"]) -> tuple[View, ...] | None:
    """In the order of their epochs; nothing: no rank has kept any."""
    kept = [part for part in parts if part.views is not None]
    same: dict[tuple[int, tuple[int, ...]], list[tuple[int, SeenView]]] = {}
    for part in kept:
        for view in part.views or ():
            same.setdefault((view.epoch, view.lost), []).append((part.rank, view))
    return tuple(_merge(same[key]) for key in sorted(same)) if kept else None


def _merge(seen: list[tuple[int, SeenView]]) -> View:
    first = seen[0][1]
    detected = [view.detected_ns for _, view in seen if view.detected_ns is not None]
    decisions = [(view.decided_ns, rank) for rank, view in seen if view.decided_ns is not None]
    decided_ns, decided_by = min(decisions, default=(None, None))
    return View(
        epoch=first.epoch,
        lost=first.lost,
        ranks=len(seen),
        detected_ns=min(detected, default=None),
        decided_ns=decided_ns,
        decided_by=decided_by,
        installed_ns=max(view.installed_ns for _, view in seen),
    )
