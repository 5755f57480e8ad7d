"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.membership.figures import Row, growth

_COLUMNS = ("killed", "members", "radix", "last view", "quartiles", "suspected", "T_s", "installed")
_EXPLANATION = "The time to the last view grows as this power of the number of members N:"


def _cells(row: Row) -> tuple[str, ...]:
    spans = (row.detection, row.stabilization, row.installation)
    quartiles = f"{_text(row.total.lower)} to {_text(row.total.upper)}"
    counts = (row.victim, str(row.procs), str(row.radix))
    return (*counts, _text(row.total.median), quartiles, *(_text(s.median) for s in spans))


def _text(us: float) -> str:
    return f"{us:.0f}"


def print_tables(rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for victim in dict.fromkeys(row.victim for row in rows):
        table = Table(title=f"one {victim} killed, µs", title_justify="left")
        for name in _COLUMNS[1:]:
            table.add_column(name, justify="right")
        last = None
        for row in rows:
            if row.victim != victim:
                continue
            if last not in (None, row.procs):
                table.add_section()
            cells = list(_cells(row)[1:])
            if row.procs == last:
                cells[0] = ""
            last = row.procs
            table.add_row(*cells)
        console.print(table)
    if sentences := growth(rows):
        console.print(_EXPLANATION)
        for sentence in sentences:
            console.print(f"  {sentence}")


def as_markdown(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    if sentences := growth(rows):
        lines += ["", _EXPLANATION, "", *(f"- {sentence}" for sentence in sentences)]
    return "\n".join(lines) + "\n"
