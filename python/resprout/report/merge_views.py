"""The views that all ranks say to have installed, put together."""

from collections.abc import Iterable

from resprout.report.ranks import RankPart
from resprout.report.views import SeenView, View, ViewTree


def merge_tree(parts: Iterable[RankPart]) -> ViewTree | None:
    """All who say it say the same; nothing: no rank has, as none keeps views."""
    return next((part.tree for part in parts if part.tree is not None), None)


def merge_views(parts: Iterable[RankPart]) -> tuple[View, ...] | None:
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
