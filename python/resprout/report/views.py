"""The views that ranks have agreed on: what one rank says of them, and what all do."""

from dataclasses import dataclass
from typing import Any

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
