"""The pictures of a report: the whole job, and what happened around each loss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from resprout.report.page.events import Event, Json, losses_of, name_of
from resprout.report.page.svg import Picture, Scale

ROWS_MAX = 48
CLOSE_UPS_MAX = 8
# Losses that are closer together are one incident.
_APART_NS = 200_000_000
_ROUND_LOSSES = {"loss", "found", "recovery", "view", "unanswered"}


def whole_job(report: Json, events: Sequence[Event]) -> tuple[str, str]:
    """The picture, and a remark; empty: there is none to make."""
    scale = Scale(_begin(report), report["ended_ns"], report["started_ns"])
    if report.get("planes"):
        return _of_planes(report, events, scale), ""
    if report.get("lives"):
        return _of_lives(report, events, scale)
    return _of_ranks(report, events, scale)


def _begin(report: Json) -> int:
    starts = [life["started_ns"] for life in report.get("lives", ())]
    return int(min([report["started_ns"], *starts]))


def _of_ranks(report: Json, events: Sequence[Event], scale: Scale) -> tuple[str, str]:
    ranks, shown = int(report["ranks"]), list(range(report["ranks"]))
    remark = ""
    if ranks > ROWS_MAX:
        told = {r for event in events for r in event.ranks}
        told |= {loss["found_by"] for _, loss in losses_of(report) if loss["found_by"] is not None}
        shown = sorted(sorted(told)[:ROWS_MAX] or range(ROWS_MAX))
        remark = (
            f"{len(shown)} of {ranks} ranks are shown: those of which there is something to say."
        )
    picture = Picture(scale, [name_of(rank, None) for rank in shown], "ranks over time")
    deaths = {event.ranks[0]: event for event in reversed(events) if event.kind == "loss"}
    for row, rank in enumerate(shown):
        death = deaths.get(rank)
        end = report["ended_ns"] if death is None else death.at_ns
        picture.bar(row, report["started_ns"], end, "alive", f"rank {rank}")
        if death is not None:
            picture.cross(row, death.at_ns, "loss", death.text)
    _mark(picture, events, {rank: row for row, rank in enumerate(shown)})
    for event in events:
        if event.kind == "view":
            picture.line(event.until_ns, "view", event.text)
    return picture.text(), remark


def _mark(picture: Picture, events: Sequence[Event], rows: dict[int, int]) -> None:
    """What else happened to ranks."""
    for event in events:
        if event.kind in ("unanswered", "waiting", "flip"):
            for rank in event.ranks:
                if rank in rows:
                    picture.cross(rows[rank], event.at_ns, event.kind, event.text)


def _of_lives(report: Json, events: Sequence[Event], scale: Scale) -> tuple[str, str]:
    lives = report["lives"][-ROWS_MAX:]
    picture = Picture(scale, [f"life {life['number']}" for life in lives], "lives over time")
    for row, life in enumerate(lives):
        running = life["running_ns"] or life["ended_ns"]
        name = f"life {life['number']}"
        picture.bar(row, life["started_ns"], running, "starting", f"{name} starts")
        picture.bar(row, running, life["ended_ns"], "alive", f"{name}: {life['how']}")
    rows = {life["number"]: row for row, life in enumerate(lives)}
    for (_, loss), event in _with_events(report, events):
        if loss["life"] in rows:
            picture.cross(rows[loss["life"]], event.at_ns, "loss", event.text)
    is_cut = len(lives) < len(report["lives"])
    remark = f"The last {len(lives)} of {len(report['lives'])} lives are shown." if is_cut else ""
    return picture.text(), remark


def _with_events(
    report: Json, events: Sequence[Event]
) -> Iterator[tuple[tuple[int | None, Json], Event]]:
    """Losses of which a time is known."""
    by_time = {(event.plane, event.ranks, event.at_ns): event for event in events
               if event.kind == "loss"}  # fmt: skip
    for plane, loss in losses_of(report):
        at = loss["died_ns"] if loss["died_ns"] is not None else loss["detected_ns"]
        event = by_time.get((plane, (loss["rank"],), at))
        if event is not None:
            yield (plane, loss), event


def _of_planes(report: Json, events: Sequence[Event], scale: Scale) -> str:
    planes = report["planes"]
    picture = Picture(scale, [f"plane {p['replica']}" for p in planes], "planes over time")
    for row, plane in enumerate(planes):
        begin = report["started_ns"]
        for back in plane["returns"]:
            lost = [one.at_ns for one in events
                    if one.kind == "loss" and one.plane == plane["replica"]
                    and begin <= one.at_ns <= back["started_ns"]]  # fmt: skip
            end = max(lost, default=back["started_ns"])
            picture.bar(row, begin, end, "alive", f"plane {plane['replica']}")
            begin = back["joined_ns"] or back["started_ns"]
            text = f"plane {plane['replica']} comes back"
            picture.bar(row, back["started_ns"], begin, "starting", text)
        text = f"plane {plane['replica']}: {plane['how']}"
        picture.bar(row, begin, plane["ended_ns"], "alive", text)
    rows = {plane["replica"]: row for row, plane in enumerate(planes)}
    for event in events:
        if event.plane in rows and event.kind in ("loss", "flip", "corruption"):
            picture.cross(rows[event.plane], event.at_ns, event.kind, event.text)
    return picture.text()


@dataclass(frozen=True)
class CloseUp:
    title: str
    picture: str


def close_ups(report: Json, events: Sequence[Event]) -> list[CloseUp]:
    """What happened around losses, each incident from its first death on."""
    if report.get("planes") or report.get("lives"):
        return []
    round_losses = [event for event in events if event.kind in _ROUND_LOSSES]
    return [_close_up(report, one) for one in _incidents(round_losses)[:CLOSE_UPS_MAX]]


def _incidents(events: Sequence[Event]) -> list[list[Event]]:
    """REQUIRES: in the order of time."""
    found: list[list[Event]] = []
    for event in events:
        if found and event.at_ns - max(one.until_ns for one in found[-1]) < _APART_NS:
            found[-1].append(event)
        else:
            found.append([event])
    return [one for one in found if any(event.kind == "loss" for event in one)]


def _close_up(report: Json, incident: Sequence[Event]) -> CloseUp:
    begin = incident[0].at_ns
    end = max(event.until_ns for event in incident)
    margin = max(50_000, (end - begin) // 20)
    rows = [event for event in incident if event.kind not in ("loss", "found")][:ROWS_MAX]
    lost = sorted({r for event in incident if event.kind == "loss" for r in event.ranks})
    lost = lost[:ROWS_MAX]
    names = [f"rank {rank}" for rank in lost] + [_short(event) for event in rows]
    picture = Picture(Scale(begin - margin, end + margin, begin), names, "around a loss")
    for row, rank in enumerate(lost):
        died = next(e for e in incident if e.kind == "loss" and rank in e.ranks)
        found = [e for e in incident if e.kind == "found" and rank in e.ranks]
        picture.bar(row, begin - margin, died.at_ns, "alive", f"rank {rank}")
        if found:
            picture.bar(row, died.at_ns, found[0].at_ns, "unknown", found[0].text)
        picture.cross(row, died.at_ns, "loss", died.text)
    for row, event in enumerate(rows, start=len(lost)):
        picture.bar(row, event.at_ns, event.until_ns, event.kind, event.text)
    at = (begin - report["started_ns"]) / 1e9
    return CloseUp(f"At {at:.3f} s: {incident[0].text}", picture.text())


def _short(event: Event) -> str:
    words = event.text.split(" lost ")[0]
    if event.kind == "view":
        words = "view " + event.text.split(" view ")[1].split(",")[0]
    return words if len(words) <= 18 else words[:17] + "…"
