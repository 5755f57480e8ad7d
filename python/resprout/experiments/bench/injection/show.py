"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.injection.figures import Row, verdicts

_COLUMNS = ("replicas", "method", "program", "jobs", "injected", "detected", "corrected", "missed",
            "falsely accused", "right results")  # fmt: skip
_TEXTS = 3
_SHORT = ("method", "program", "injected", "detected", "corrected", "missed", "accused", "right")
_METHOD_WIDTH = len("msg-plus-hash 2")
_AIMS = "Aims:"
_NOTE = "accused: corruptions that are none. right: jobs with the result of one without faults."


def _cells(row: Row) -> tuple[str, ...]:
    found = row.found
    counts = (found.jobs, found.injected, found.detected, found.corrected, found.missed,
              found.falsely_accused, found.right_results)  # fmt: skip
    return (str(row.degree), row.method, row.program, *(f"{count:,}" for count in counts))


def _short_cells(row: Row) -> tuple[str, ...]:
    found = row.found
    counts = (found.injected, found.detected, found.corrected, found.missed, found.falsely_accused)
    right = f"{found.right_results:,} of {found.jobs:,}"
    return (f"{row.method} {row.degree}", row.program, *(f"{count:,}" for count in counts), right)


def print_tables(rows: Sequence[Row]) -> None:
    """What fits a narrow terminal; Markdown, CSV and JSON have more."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for is_control, title in ((True, "without faults"), (False, "with flipped bits")):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for number, name in enumerate(_SHORT):
            wide = _METHOD_WIDTH if name == "method" else None
            table.add_column(name, justify="left" if number < 2 else "right", min_width=wide)
        for row in rows:
            if row.is_control == is_control:
                table.add_row(*_short_cells(row))
        console.print(table)
    console.print(_NOTE)
    console.print(_AIMS)
    for verdict in verdicts(rows):
        console.print(f"  {verdict}")


def as_markdown(rows: Sequence[Row]) -> str:
    lines = []
    for is_control, title in ((True, "Without faults:"), (False, "With flipped bits:")):
        lines += [title, "", "| " + " | ".join(_COLUMNS) + " |"]
        lines += ["|" + "---|" * _TEXTS + "---:|" * (len(_COLUMNS) - _TEXTS)]
        lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows
                  if row.is_control == is_control]  # fmt: skip
        lines += [""]
    lines += [_AIMS, "", *(f"- {verdict}" for verdict in verdicts(rows))]
    return "\n".join(lines) + "\n"
