"""What `resprout bench membership` does: checks, measures, shows, writes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from resprout.bench.machine import about_this_machine
from resprout.bench.membership import show
from resprout.bench.membership.figures import Row, rows_of
from resprout.bench.membership.measure import Apart, Plan, measure, work_of
from resprout.bench.output import as_csv, as_json, make_folder, write_files
from resprout.errors import UserError
from resprout.progress import progress_bar

FORMATS = ("table", "json", "csv")
MEMBERS_MIN, MEMBERS_MAX = 3, 400
RADIX_MAX = 1024


def bench_membership(
    members: str, radix: str, groups: int, repetitions: int, format: str, output: Path | None
) -> int:
    plan = Plan(_members(members), _radixes(radix), groups, repetitions)
    if format not in FORMATS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(FORMATS)}")
    if output is not None:
        make_folder(output)
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
    if format == "json":
        print(as_json(rows, about), end="")
    elif format == "csv":
        print(as_csv(rows), end="")
    else:
        show.print_tables(rows)
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
    from resprout.bench.membership.draw import render

    contents = {
        "membership.json": as_json(rows, about).encode(),
        "membership.csv": as_csv(rows).encode(),
        "membership.md": show.as_markdown(rows).encode(),
        "membership.svg": render(rows, "svg"),
        "membership.png": render(rows, "png"),
    }
    write_files(contents, folder)
