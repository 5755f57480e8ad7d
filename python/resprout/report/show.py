"""The report for people: a table on a terminal, plain lines elsewhere."""

import re
import sys
from collections.abc import Iterable
from typing import TextIO

from resprout.report.job import Loss, Report, Touched
from resprout.report.ranks import Flipped
from resprout.report.signals import name_of
from resprout.report.views import VIEWS_RANKS_MAX

_COLUMNS = ("rank", "pid", "how", "at", "found by", "after", "operations touched", "cost")
_NAMED_OPERATIONS = 3
_AREAS = {"library": "libraries' data"}
_NAMED_FLIPS = 10


def show(report: Report, file: TextIO | None = None) -> None:
    file = file or sys.stderr
    if report.planes:
        from resprout.report.planes import describe_planes

        for line in (*describe_planes(report), *_flips(report)):
            print(f"resprout: {line}", file=file)
        return
    if report.losses and file.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table

        console = Console(file=file, highlight=False)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in _COLUMNS:
            is_long = column in ("how", "operations touched")
            table.add_column(column, no_wrap=not is_long, justify="left" if is_long else "right")
        for loss in report.losses:
            table.add_row(*_cells(loss, report))
        console.print(f"[bold]{_headline(report)}[/bold]")
        console.print(table)
    else:
        print(f"resprout: {_headline(report)}", file=file)
        for loss in report.losses:
            print(f"resprout:   {_sentence(loss, report)}", file=file)
    prefix = "" if report.losses and file.isatty() else "resprout: "
    for line in _remarks(report):
        print(prefix + line, file=file)


def _headline(report: Report) -> str:
    seconds = (report.ended_ns - report.started_ns) / 1e9
    ended = f"ended after {seconds:.2f} s with status {report.exit_status}"
    if len(report.lives) > 1:
        restarts = len(report.lives) - 1
        times = "once" if restarts == 1 else f"{restarts} times"
        return f"the job of {report.ranks} ranks was started again {times} after losses; it {ended}"
    if not report.losses and report.missing:
        whole = len(report.missing) == report.ranks
        ranks = (
            f"all {report.ranks} ranks"
            if whole
            else f"{len(report.missing)} of {report.ranks} ranks"
        )
        return f"{ranks} ended without a word; the job {ended}"
    if not report.losses:
        return f"no rank of {report.ranks} was lost; the job {ended}"
    count = len(report.losses)
    were = "was" if count == 1 else "were"
    return f"{count} of {report.ranks} ranks {were} lost; the job {ended}"


def _cells(loss: Loss, report: Report) -> list[str]:
    return [
        str(loss.rank),
        str(loss.pid or "?"),
        what_happened(loss).removeprefix("was "),
        _when(loss, report),
        "-" if loss.found_by is None else str(loss.found_by),
        "?" if loss.delay_ns is None else duration(loss.delay_ns),
        _names(loss.touched),
        duration(loss.cost_ns) if loss.touched else "nothing",
    ]


def _sentence(loss: Loss, report: Report) -> str:
    if report.lives:
        who = f"rank {loss.rank} (pid {loss.pid or '?'})"
        return f"{who} {what_happened(loss)} at {_when(loss, report)}, in life {loss.life}"
    found = (
        "nobody has reported finding it"
        if loss.found_by is None
        else f"found by rank {loss.found_by}"
    )
    after = "" if loss.delay_ns is None else f" after {duration(loss.delay_ns)}"
    cost = f", which cost {duration(loss.cost_ns)}" if loss.touched else ""
    touched = f"; touched {_names(loss.touched)}{cost}" if report.operations else ""
    return (
        f"rank {loss.rank} (pid {loss.pid or '?'}) {what_happened(loss)} at {_when(loss, report)}, "
        f"{found}{after}{touched}"
    )


def _flips(report: Report) -> Iterable[str]:
    for flip in report.flipped[:_NAMED_FLIPS]:
        yield _flip_sentence(flip, report)
    if (unnamed := len(report.flipped) - _NAMED_FLIPS) > 0:
        yield f"{unnamed} more flips (injected)"
    for fault in report.faults_left:
        yield f"{fault} did not come about: {_why_left(fault)}"


def _why_left(fault: str) -> str:
    if "at=" in fault:
        or_memory = ", or had no such memory" if fault.startswith("flip") else ""
        call = re.search(r"at=([a-z_]+)#", fault)
        if call is None:
            return f"it had called MPI_Finalize before{or_memory}"
        name = f"MPI_{call[1].capitalize()}"
        return f"it has called {name} less often, or Resprout does not count that{or_memory}"
    if "collective=" in fault:
        return "it has given anything to fewer collectives"
    if "where=memory" in fault:
        return "it has called resprout_checkpoint less often, or has protected nothing"
    return "it has sent fewer messages, or that one was empty"


def _flip_sentence(flip: Flipped, report: Report) -> str:
    on = "" if flip.communicator == "MPI_COMM_WORLD" else f" on {flip.communicator or 'another'}"
    plane = f" in plane {flip.replica}" if report.planes else ""
    at = f"(injected) at {(flip.flipped_ns - report.started_ns) / 1e9:.3f} s"
    if flip.area:
        return (
            f"bit {flip.bit} of the {flip.bytes} bytes of memory of rank {flip.rank}{plane} was "
            f"flipped, in its {_AREAS.get(flip.area, flip.area)}, {at}"
        )
    if flip.checkpoint:
        return (
            f"bit {flip.bit} of the {flip.bytes} bytes that rank {flip.rank}{plane} protects was "
            f"flipped after its checkpoint {flip.checkpoint} {at}"
        )
    if flip.collective:
        return (
            f"bit {flip.bit} of the {flip.bytes} bytes that rank {flip.rank}{plane} gave to its "
            f"collective {flip.collective} ({flip.call}{on}) was flipped {at}"
        )
    return (
        f"message {flip.message} of rank {flip.rank}{plane} ({flip.call} to rank "
        f"{flip.destination}{on}, tag {flip.tag}, {flip.bytes} bytes) was sent with bit {flip.bit} "
        f"flipped {at}"
    )


def what_happened(loss: Loss) -> str:
    """Behind the name of the rank."""
    words = {
        "killed": "was killed" if loss.signal is None else f"was ended by {name_of(loss.signal)}",
        "exited": "exited without MPI_Finalize",
        "hung": "hung and was ended",
        "stood_still": "stood still and was ended",
        "unreachable": "could not be reached",
        "cut_off": "was told to end because its data link was silent",
    }[loss.how]
    status = "" if loss.exit_status is None else f", status {loss.exit_status}"
    knew = ", was told so and went on alone" if loss.cut_off else ""
    return words + knew + status + (" (injected)" if loss.fault else "")


def _when(loss: Loss, report: Report) -> str:
    if loss.when_ns is None:
        return "?"
    return f"{(loss.when_ns - report.started_ns) / 1e9:.3f} s"


def _names(operations: Iterable[Touched]) -> str:
    names = [
        f"{o.operation}#{o.number}" + (f" on {o.communicator}" if o.communicator != "world" else "")
        for o in operations
    ]
    if len(names) > _NAMED_OPERATIONS:
        names = [*names[:_NAMED_OPERATIONS], f"{len(names) - _NAMED_OPERATIONS} more"]
    return ", ".join(names) or "no operation"


def _remarks(report: Report) -> Iterable[str]:
    if report.losses and not report.lives:
        errors = [f"{t.errors} of {name}" for name, t in report.operations.items() if t.errors]
        returned = f"calls that returned an error: {', '.join(errors)}" if errors else (
            "no call returned an error"
        )  # fmt: skip
        count = len(report.touched)
        operations = "1 operation" if count == 1 else f"{count} operations"
        if report.operations:
            yield f"recovery took {duration(report.recovery_ns)} in {operations}; {returned}"
        else:  # all were ended before they could write it
            yield "no rank has reported what the losses have touched, nor what they cost"
        yield from _unanswered(report)
        yield from _views(report)
    yield from _flips(report)
    yield from _lower_case(report)
    if rejected := report.transport.get("rejected_connections"):
        yield f"{rejected} foreign or malformed connections were rejected"
    if report.unprotected:
        ranks = ", ".join(map(str, report.unprotected))
        yield f"not protected, as said above: rank {ranks} ran without libresprout.so"
    if report.missing:
        ranks = ", ".join(map(str, report.missing))
        yield f"killed, with nobody left to notice, or not to be seen from here: rank {ranks}"
        if len(report.missing) == report.ranks and report.mpirun_status:
            yield (
                f"the MPI library's launcher ended with status {report.mpirun_status}: if it could "
                "not start the ranks, it says above why"
            )


def _lower_case(report: Report) -> Iterable[str]:
    """Of mpi4py, if calls that it makes of messages have ended the job, or were never counted."""
    if not any(re.search(r"(^|/)python[0-9.]*$|\.py$", word) for word in report.command):
        return
    errors = [name for name, calls in report.operations.items() if calls.errors]
    has_failed = report.exit_status != 0 and any(re.search("send|recv", name) for name in errors)
    of_reductions = re.compile(r"at=((all)?reduce|(ex)?scan)#")
    if has_failed or any(of_reductions.search(fault) for fault in report.faults_left):
        yield (
            "mpi4py makes reduce, allreduce, scan and exscan in lower case of messages, which fail "
            "after a loss. Reduce, Allreduce, Scan and Exscan go on"
        )


def _unanswered(report: Report) -> Iterable[str]:
    if not report.unanswered:
        return
    first = report.unanswered[0]
    lost = ", ".join(map(str, first.lost)) or "?"
    more = len(report.unanswered) - 1
    others = f" and {more} more rank{'' if more == 1 else 's'}" if more else ""
    on = first.communicator or "a communicator without a name"
    yield (
        f"rank {first.rank}{others} asked for data that was lost, first by {first.call} on {on}, "
        f"of which rank {lost} was lost"
    )


def _views(report: Report) -> Iterable[str]:
    if report.views is None and report.ranks > VIEWS_RANKS_MAX:
        yield f"no views: a job of more than {VIEWS_RANKS_MAX} ranks agrees on none"
    if not report.views:
        return
    took = max((view.took_ns for view in report.views if view.took_ns is not None), default=None)
    within = "" if took is None else f", within {duration(took)} of a loss"
    count = "1 view" if len(report.views) == 1 else f"{len(report.views)} views"
    ranks = report.views[-1].ranks
    yield f"{count} agreed on, the last by {ranks} rank{'' if ranks == 1 else 's'}{within}"


def duration(nanoseconds: int) -> str:
    """With three digits, in the unit that fits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds} ns"
