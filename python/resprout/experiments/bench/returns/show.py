"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.returns.figures import Row

_COLUMNS = ("of", "what", "until", "samples", "median", "quartiles")


def _cells(row: Row) -> tuple[str, ...]:
    time = "" if row.time == "whole" else row.time
    quartiles = f"{_text(row.figure.lower)} to {_text(row.figure.upper)}"
    return row.of, row.what, time, str(row.samples), _text(row.figure.median), quartiles


def _text(us: float) -> str:
    """In milliseconds."""
    return f"{us / 1e3:.0f}" if us >= 1e5 else f"{us / 1e3:.3g}"


def print_tables(rows: Sequence[Row], sentences: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title="Milliseconds", title_justify="left")
    for number, name in enumerate(_COLUMNS):
        table.add_column(name, justify="left" if number < 3 else "right")
    last = ("", "")
    for row in rows:
        if last[0] not in ("", row.of):
            table.add_section()
        cells = list(_cells(row))
        cells[0] = "" if row.of == last[0] else cells[0]
        cells[1] = "" if (row.of, row.what) == last else cells[1]
        last = (row.of, row.what)
        table.add_row(*cells)
    console.print(table)
    for sentence in sentences:
        console.print(f"{sentence}.")


def as_markdown(rows: Sequence[Row], sentences: Sequence[str]) -> str:
    columns = (*_COLUMNS[:4], "median, ms", _COLUMNS[5])
    lines = ["| " + " | ".join(columns) + " |", "|---|---|---|---:|---:|---:|"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    lines += ["", *(f"- {sentence}." for sentence in sentences)]
    return "\n".join(lines) + "\n"
