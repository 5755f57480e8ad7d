"""The counts for people and programs: tables and Markdown."""

from collections.abc import Callable, Iterator, Sequence

from resprout.experiments.bench.flips.figures import Row, total, verdicts

_COUNTS = ("flipped", "masked", "corrected", "detected", "noticed", "hung", "silent")
_AIMS = "Aims:"
_NOTE = "noticed: by the program alone, which ended with another status. silent: a wrong result."


def _sums(rows: Sequence[Row], key: Callable[[Row], str]) -> Iterator[tuple[str, ...]]:
    for name in dict.fromkeys(map(key, rows)):
        counts = total([row for row in rows if key(row) == name])
        yield (name, *(f"{getattr(counts, count):,}" for count in _COUNTS))


_TABLES: Sequence[tuple[str, Callable[[Row], str]]] = (
    ("method, replicas", lambda row: f"{row.method}, {row.degree}"),
    ("area", lambda row: row.area),
)


def print_tables(rows: Sequence[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for head, key in _TABLES:
        table = Table(box=None, pad_edge=False)
        table.add_column(head, min_width=len("msg-plus-hash, 2"))
        for name in _COUNTS:
            table.add_column(name, justify="right")
        for cells in _sums(rows, key):
            table.add_row(*cells)
        console.print(table)
    console.print(_NOTE)
    if verdicts(rows):
        console.print(_AIMS)
    for verdict in verdicts(rows):
        console.print(f"  {verdict}")


def as_markdown(rows: Sequence[Row]) -> str:
    lines = []
    for head, key in _TABLES:
        lines += [f"| {' | '.join((head, *_COUNTS))} |", "|---|" + "---:|" * len(_COUNTS)]
        lines += [f"| {' | '.join(cells)} |" for cells in _sums(rows, key)] + [""]
    return "\n".join([*lines, *(f"- {verdict}" for verdict in verdicts(rows))]) + "\n"
