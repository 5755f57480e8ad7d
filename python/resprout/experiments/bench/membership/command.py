"""What `resprout bench membership` does: checks, measures, shows, writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.bench.membership import show
from resprout.experiments.bench.membership.figures import Row, rows_of
from resprout.experiments.bench.membership.measure import Apart, Plan, measure, work_of
from resprout.experiments.bench.output import check_output, print_rows, write_rows
from resprout.machine import about_this_machine
from resprout.pictures import FORMATS
from resprout.progress import progress_bar

MEMBERS_MIN, MEMBERS_MAX = 3, 400
RADIX_MAX = 1024


def bench_membership(
    members: str, radix: str, groups: int, repetitions: int, format: str, output: Path | None
) -> int:
    plan = Plan(_members(members), _radixes(radix), groups, repetitions)
    check_output(format, output)
    samples = []
    with (
        Apart(lambda: measure(plan)) as apart,
        progress_bar(work=plan.work, things=plan.deaths, name="deaths") as bar,
    ):
        for sample in apart.samples():
            samples.append(sample)
            bar.advance(work_of(sample.procs), 1)
    if len(samples) != plan.deaths:
        raise UserError("the process that measures has ended too early")
    rows = rows_of(samples)
    about = {**about_this_machine(), **asdict(plan)}
    print_rows(rows, about, format, show.print_tables)
    if output is not None:
        _write(rows, about, output)
    return 0


def _members(text: str) -> tuple[int, ...]:
    valid = f"numbers of members from {MEMBERS_MIN} to {MEMBERS_MAX}, as 8,32,128"
    return _numbers("--members", text, valid, lambda n: MEMBERS_MIN <= n <= MEMBERS_MAX)


def _radixes(text: str) -> tuple[int, ...]:
    valid = f"powers of two from 2 to {RADIX_MAX}, as 2,16"
    return _numbers("--radix", text, valid, lambda n: 2 <= n <= RADIX_MAX and n & (n - 1) == 0)


def _numbers(flag: str, text: str, valid: str, is_valid: Callable[[int], bool]) -> tuple[int, ...]:
    """Each once, ascending."""
    try:
        numbers = {int(word) for word in text.split(",")}
    except ValueError:
        numbers = set()
    if not numbers or not all(map(is_valid, numbers)):
        raise UserError(f"{flag}: {text!r} is not valid; give {valid}")
    return tuple(sorted(numbers))


def _write(rows: Sequence[Row], about: Mapping[str, object], folder: Path) -> None:
    # Slow to import.
    from resprout.experiments.bench.membership.draw import render

    pictures = {f"membership.{format}": render(rows, format) for format in FORMATS}
    write_rows(rows, about, "membership", show.as_markdown(rows), pictures, folder)
