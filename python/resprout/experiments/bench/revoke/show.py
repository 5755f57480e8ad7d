"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.bcast.plan import size_text
from resprout.experiments.bench.bcast.show import ratio_text, time_text
from resprout.experiments.bench.revoke.figures import OURS, Row, comparisons, traces

_COLUMNS = ("ranks", "operation", "size", "initiator", "way", "before", "revoked", "quartiles",
            "1st after", "2nd", "5th", "6th to 20th", "revoked to ulfm's")  # fmt: skip
_TO_ULFM = (
    "resprout divided by ulfm, medians of the rounds: of all cases the median (least to most):"
)
_TRACE = "The 6th to 20th operation after divided by those before, in the same way:"


def _cells(row: Row) -> tuple[str, ...]:
    quartiles = (
        f"{time_text(row.revoked_lower_quartile)} to {time_text(row.revoked_upper_quartile)}"
    )
    size = size_text(row.bytes) if row.bytes else ""
    times = (row.after[0], row.after[1], row.after[4], row.settled)
    compared = ratio_text(row.to_ulfm[1]) if row.way == OURS else ""
    return (str(row.ranks), row.operation, size, str(row.initiator), row.way,
            time_text(row.before), time_text(row.revoked), quartiles,
            *map(time_text, times), compared)  # fmt: skip


def _short_cells(row: Row) -> tuple[str, ...]:
    operation = f"{row.operation} {size_text(row.bytes)}" if row.bytes else row.operation
    compared = ratio_text(row.to_ulfm[1]) if row.way == OURS else ""
    return (operation, str(row.initiator), row.way, time_text(row.before), time_text(row.revoked),
            compared, time_text(row.after[0]), time_text(row.settled))  # fmt: skip


def print_tables(rows: Sequence[Row]) -> None:
    """What fits a narrow terminal; Markdown, CSV and JSON have more."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for ranks in dict.fromkeys(row.ranks for row in rows):
        table = Table(title=f"{ranks} ranks, µs", title_justify="left", box=None, pad_edge=False)
        for name in ("operation", "from", "way", "before", "revoked", "ratio", "1st after", "6th+"):
            table.add_column(name, justify="left" if name in ("operation", "way") else "right")
        for row in rows:
            if row.ranks == ranks:
                table.add_row(*_short_cells(row))
        console.print(table)
    for explanation, sentences in ((_TO_ULFM, comparisons(rows)), (_TRACE, traces(rows))):
        console.print(explanation)
        for sentence in sentences:
            console.print(f"  {sentence}")


def as_markdown(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_COLUMNS) + " |"]
    lines += ["|---:|---|---:|---:|---|" + "---:|" * (len(_COLUMNS) - 5)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    for explanation, sentences in ((_TO_ULFM, comparisons(rows)), (_TRACE, traces(rows))):
        lines += ["", explanation, "", *(f"- {sentence}" for sentence in sentences)]
    return "\n".join(lines) + "\n"
