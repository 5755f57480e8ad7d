"""What was measured and what follows from it, for people."""

from collections.abc import Sequence

from resprout.calibration.figures import (
    MARGIN,
    OPERATIONS,
    Measured,
    Point,
    points_of,
    ranks_of,
    switches_of,
)
from resprout.experiments.bench.bcast.plan import size_text

_EXPLANATION = (
    "µs a call: Resprout's trees / the MPI library's own; means of the medians of single calls "
    f"and of calls back to back. * : the library is faster by more than {MARGIN - 1:.0%} and "
    "carries it until a loss."
)


def print_tables(measured: Sequence[Measured]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for ranks in ranks_of(measured):
        by_operation = {name: points_of(measured, ranks, name) for name in OPERATIONS}
        table = Table(title=f"{ranks} ranks", title_justify="left")
        for name in ("size", *OPERATIONS):
            table.add_column(name, justify="right")
        sizes = sorted({point.bytes for points in by_operation.values() for point in points})
        for size in sizes:
            cells = [_cell(by_operation[name], size) for name in OPERATIONS]
            table.add_row(size_text(size) if size else "", *cells)
        console.print(table)
    console.print(_EXPLANATION)


def _cell(points: Sequence[Point], size: int) -> str:
    for point in points:
        if point.bytes == size:
            mark = "*" if point.ratio > MARGIN else " "
            return f"{_time(point.resprout_us)} / {_time(point.native_us)} {mark}"
    return ""


def _time(us: float) -> str:
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def sentences(measured: Sequence[Measured]) -> list[str]:
    """For each number of ranks: what the library carries."""
    said = []
    for ranks in ranks_of(measured):
        parts = []
        for name in OPERATIONS:
            switches = switches_of(points_of(measured, ranks, name))
            if switches:
                parts.append(name if name == "barrier" else f"{name} {_ranges(switches)}")
        said.append(f"{ranks} ranks: the library carries {', '.join(parts) or 'nothing'}")
    return said


def _ranges(switches: Sequence[int]) -> str:
    if switches == [0]:
        return "of all sizes"
    texts = []
    for i in range(0, len(switches), 2):
        begins = switches[i]
        ends = switches[i + 1] if i + 1 < len(switches) else None
        if ends is None:
            texts.append(f"from {begins:,} B")
        else:
            texts.append(f"from {begins:,} to {ends - 1:,} B" if begins else f"below {ends:,} B")
    return " and ".join(texts)
