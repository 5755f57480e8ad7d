"""What happened in a job, in the order of time: from the JSON of its report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resprout.report.as_json import SCHEMA
from resprout.report.show import duration

Json = Mapping[str, Any]

_HOW = {
    "killed": "was killed",
    "exited": "exited without MPI_Finalize",
    "hung": "hung and was ended",
    "stood_still": "stood still and was ended",
    "unreachable": "could not be reached",
    "cut_off": "was told to end because its data link was silent",
}


@dataclass(frozen=True)
class Event:
    """Something that happened at one time, or took some."""

    at_ns: int
    """Of the system's clock."""
    kind: str
    """loss, found, recovery, view, unanswered, waiting, flip, corruption, start or end."""
    text: str
    took_ns: int = 0
    ranks: tuple[int, ...] = ()
    """Whom it is about."""
    plane: int | None = None

    @property
    def until_ns(self) -> int:
        return self.at_ns + self.took_ns


def check_schema(report: Any) -> Json:
    """Raises ValueError: it is no report of a form that is known."""
    if not isinstance(report, Mapping) or "losses" not in report or "started_ns" not in report:
        raise ValueError("is no report of `resprout run --report`")
    if report.get("schema") != SCHEMA:
        raise ValueError(f"has schema {report.get('schema')}; this Resprout reads {SCHEMA}")
    return report


def events_of(report: Json) -> list[Event]:
    """All that has a time."""
    found = [
        *_of_losses(report),
        *_of_recoveries(report),
        *_of_waits(report),
        *_of_flaws(report),
        *_of_launches(report),
    ]
    return sorted(found, key=lambda event: (event.at_ns, event.kind != "loss"))


def headline(report: Json) -> str:
    """How many were lost, and how it ended."""
    seconds = (report["ended_ns"] - report["started_ns"]) / 1e9
    lost = len(losses_of(report))
    count = f"{lost} loss{'' if lost == 1 else 'es'}" if lost else "no loss"
    return f"{count}, status {report['exit_status']}, {seconds:.2f} s"


def losses_of(report: Json) -> list[tuple[int | None, Json]]:
    """Of all planes, each with its number; None: there are none."""
    if not report.get("planes"):
        return [(None, loss) for loss in report["losses"]]
    return [
        (plane["replica"], loss)
        for plane in report["planes"]
        for one in (*plane["returns"], plane)
        for loss in one["losses"]
    ]


def name_of(rank: int, plane: int | None) -> str:
    return f"rank {rank}" if plane is None else f"rank {rank} of plane {plane}"


def named_ranks(ranks: Sequence[int], most: int = 12) -> str:
    shown = ", ".join(map(str, ranks[:most]))
    more = f" and {len(ranks) - most} more" if len(ranks) > most else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {shown}{more}"


def _of_losses(report: Json) -> Iterator[Event]:
    for plane, loss in losses_of(report):
        who, ranks = name_of(loss["rank"], plane), (loss["rank"],)
        fault = f" ({loss['fault']})" if loss.get("fault") else ""
        died, detected = loss.get("died_ns"), loss.get("detected_ns")
        by = loss.get("found_by")
        how = f"{who} {_HOW.get(loss['how'], loss['how'])}{fault}"
        if died is None and detected is not None and by is not None:
            how += f", found by rank {by}"
        at = detected if died is None else died
        if at is not None:
            yield Event(at, "loss", how, 0, ranks, plane)
        if died is not None and detected is not None:
            delay = duration(max(0, detected - died))
            found = f"rank {by} found that {who} was lost, after {delay}"
            yield Event(detected, "found", found, 0, ranks, plane)


def _of_recoveries(report: Json) -> Iterator[Event]:
    for operation in report.get("touched", ()):
        on = operation["communicator"]
        where = "" if on == "world" else f" on {on}"
        name = f"{operation['operation']}#{operation['number']}{where}"
        cost = operation["cost_ns"]
        text = f"{name} lost {named_ranks(operation['lost'])} and went on after {duration(cost)}"
        if operation.get("began_ns"):
            lost = tuple(operation["lost"])
            yield Event(operation["began_ns"], "recovery", text, cost, lost)
    for view in report.get("views") or ():
        began = view["installed_ns"] if view["detected_ns"] is None else view["detected_ns"]
        took = max(0, view["installed_ns"] - began)
        within = f", within {duration(took)}" if took else ""
        text = (
            f"{view['ranks']} ranks agreed on view {view['epoch']}, without "
            f"{named_ranks(view['lost'])}{within}"
        )
        yield Event(began, "view", text, took, tuple(view["lost"]))


def _of_waits(report: Json) -> Iterator[Event]:
    for call in report.get("unanswered", ()):
        lost = named_ranks(call["lost"]) if call["lost"] else "a rank"
        text = f"{call['call']} of rank {call['rank']} asked for data of {lost}, which was lost"
        yield Event(call["at_ns"], "unanswered", text, 0, (call["rank"],))
    for found in report.get("call_timeouts", ()):
        for call in found["calls"]:
            text = (
                f"{named_ranks(call['waiting'])} had waited in {call['call']} for "
                f"{call['seconds']:.0f} s"
            )
            if call["absent"]:
                text += f"; {named_ranks(call['absent'])} had not come"
            yield Event(found["at_ns"], "waiting", text, 0, tuple(call["waiting"]))


def _of_flaws(report: Json) -> Iterator[Event]:
    has_planes = bool(report.get("planes"))
    for flip in report.get("flipped", ()):
        plane = flip["replica"] if has_planes else None
        text = f"a bit of {name_of(flip['rank'], plane)} was flipped ({flip['fault']})"
        yield Event(flip["flipped_ns"], "flip", text, 0, (flip["rank"],), plane)
    for found in report.get("corruptions", ()):
        wrong = ", ".join(map(str, found["wrong_replicas"])) or "an unknown plane"
        text = (
            f"rank {found['rank']} of plane {found['replica']} found that a {found['of']} of "
            f"{wrong if wrong.startswith('an') else 'plane ' + wrong} differs ({found['end']})"
        )
        ranks = (found["rank"],)
        yield Event(found["found_ns"], "corruption", text, 0, ranks, found["replica"])


def _of_launches(report: Json) -> Iterator[Event]:
    for life in report.get("lives", ()):
        number = life["number"]
        yield Event(life["started_ns"], "start", f"life {number} of the job began")
        yield Event(life["ended_ns"], "end", f"life {number} ended: {life['how']}")
    for plane in report.get("planes", ()):
        number = plane["replica"]
        for back in plane["returns"]:
            text = f"plane {number} was started again"
            yield Event(back["started_ns"], "start", text, plane=number)
            if back["joined_ns"] is not None:
                from_where = (
                    "" if back["checkpoint"] is None else f" from checkpoint {back['checkpoint']}"
                )
                text = f"plane {number} was back{from_where}"
                yield Event(back["joined_ns"], "start", text, plane=number)
        text = f"plane {number} ended: {plane['how']}, status {plane['status']}"
        yield Event(plane["ended_ns"], "end", text, plane=number)
