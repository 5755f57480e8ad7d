"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.replication.figures import Row, mean_ratio
from resprout.experiments.bench.replication.measure import COPIES
from resprout.experiments.bench.replication.paper import ratio_in_figures
from resprout.experiments.bench.replication.verdicts import beside_the_paper, verdicts

_COLUMNS = ("kernel", "replicas", "method", "time", "quartiles", "to limit", "to copies",
            "to plain", "computed", "command", "open", "kept", "B each", "paper 1",
            "paper 2")  # fmt: skip
_SHORT = ("kernel", "method", "time", "to limit", "copies", "plain", "open", "kept", "paper")
_METHOD_WIDTH = len("msg-plus-hash")
_AIMS = "Aims, over the kernels (ratios are geometric means of medians):"
_PAPER = "Beside the paper, over the kernels that both have:"
_NOTE = (
    "Seconds from when all processes have begun until the last one is through MPI_Finalize. The "
    "limit is what as many copies without any tie take: plain ones or, where these are quicker, "
    "planes that compare nothing. open, kept: the most incomplete requests, "
    "and bytes of copies, of one process. The paper's ratios are those to Open MPI, where each "
    "copy had cores of its own."
)


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def method_name(row: Row) -> str:
    return "plain" if row.degree == 1 else row.method


def _paper(row: Row) -> list[str]:
    if row.degree == 1 or row.method in (COPIES, "none"):
        return ["", ""]
    return [_number(ratio_in_figures(e, row.kernel, row.degree, row.method)) for e in (1, 2)]


def _cells(row: Row) -> tuple[str, ...]:
    quartiles = f"{row.time.lower:.3f} to {row.time.upper:.3f}"
    return (row.kernel, str(row.degree), method_name(row), _number(row.time.median, 3), quartiles,
            _number(row.to_limit), _number(row.to_copies), _number(row.to_plain),
            _number(row.computed, 3), _number(row.wall, 3),
            _count(row.open_max), _count(row.bytes_max), _number(row.bytes_per_request, 0),
            *_paper(row))  # fmt: skip


def _short_cells(row: Row) -> list[str]:
    first, second = _paper(row)
    return [row.kernel, method_name(row), _number(row.time.median, 3), _number(row.to_limit),
            _number(row.to_copies), _number(row.to_plain), _count(row.open_max),
            _count(row.bytes_max), first or second]  # fmt: skip


def _means(rows: Sequence[Row], degree: int) -> list[tuple[str, str, str, str]]:
    """By method: its name, and means over the kernels to the limit, the copies and the plain."""
    methods = list(dict.fromkeys(row.method for row in rows if row.degree == degree))
    return [
        (
            method,
            _number(mean_ratio(rows, degree, method, lambda row: row.to_limit)),
            _number(mean_ratio(rows, degree, method, lambda row: row.to_copies)),
            _number(mean_ratio(rows, degree, method, lambda row: row.to_plain)),
        )
        for method in methods
    ]


def print_tables(rows: Sequence[Row]) -> None:
    """What fits a narrow terminal; Markdown, CSV and JSON have more."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for degree in sorted({row.degree for row in rows}):
        title = "the plain program, s" if degree == 1 else f"{degree} replicas, s"
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for number, name in enumerate(_SHORT):
            wide = _METHOD_WIDTH if name == "method" else None
            table.add_column(name, justify="left" if number < 2 else "right", min_width=wide)
        last = None
        for row in rows:
            if row.degree == degree:
                cells = _short_cells(row)
                if row.kernel == last:
                    cells[0] = ""
                last = row.kernel
                table.add_row(*cells)
        for method, to_limit, to_copies, to_plain in _means(rows, degree) if degree > 1 else []:
            table.add_row("all", method, "", to_limit, to_copies, to_plain)
        console.print(table)
    console.print(_NOTE)
    for title, sentences in _sentences(rows):
        console.print(title)
        for sentence in sentences:
            console.print(f"  {sentence}")


def _sentences(rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    found = [(_AIMS, [str(v) for v in verdicts(rows)]), (_PAPER, beside_the_paper(rows))]
    return [(title, sentences) for title, sentences in found if sentences]


def as_markdown(rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join(_COLUMNS) + " |"]
    lines += ["|---|---:|---|" + "---:|" * (len(_COLUMNS) - 3)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    lines += ["", _NOTE, "", "| replicas | method | to limit | to copies | to plain |"]
    lines += ["|---:|---|---:|---:|---:|"]
    for degree in sorted({row.degree for row in rows if row.degree > 1}):
        lines += [f"| {degree} | " + " | ".join(cells) + " |" for cells in _means(rows, degree)]
    for title, sentences in _sentences(rows):
        lines += ["", title, "", *(f"- {sentence}" for sentence in sentences)]
    return "\n".join(lines) + "\n"
