"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.recovery.figures import Row, comparisons

_EXPLANATION = (
    "ULFM's way divided by resprout, both with resprout's detector, from the last death on (in "
    "parentheses: after the first survivor knew; with the MPI's own detector, from the last death):"
)


_COLUMNS = ("ranks", "faults", "way", "total", "quartiles", "until known", "from there")


def _cells(row: Row) -> tuple[str, ...]:
    total = row.total
    rest = ["", ""]
    if row.detection.median:
        rest = [_text(row.detection.median), _text(row.recovery.median)]
    quartiles = f"{_text(total.lower)} to {_text(total.upper)}"
    return str(row.procs), row.faults, row.way, _text(total.median), quartiles, *rest


def _text(us: float) -> str:
    return f"{us:.0f}"


def print_tables(rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for procs in dict.fromkeys(row.procs for row in rows):
        table = Table(title=f"{procs} ranks, µs", title_justify="left")
        for number, name in enumerate(_COLUMNS[1:]):
            table.add_column(name, justify="left" if number < 2 else "right")
        last = None
        for row in rows:
            if row.procs != procs:
                continue
            if last not in (None, row.faults):
                table.add_section()
            cells = list(_cells(row)[1:])
            if row.faults == last:
                cells[0] = ""
            last = row.faults
            table.add_row(*cells)
        console.print(table)
    console.print(_EXPLANATION)
    for sentence in comparisons(rows):
        console.print(f"  {sentence}")


def as_markdown(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|---:|---|---|---:|---:|---:|---:|"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    lines += ["", _EXPLANATION, ""]
    lines += [f"- {sentence}" for sentence in comparisons(rows)]
    return "\n".join(lines) + "\n"
