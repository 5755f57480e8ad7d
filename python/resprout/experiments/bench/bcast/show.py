"""The figures for people and programs: tables and Markdown."""

from collections.abc import Sequence

from resprout.experiments.bench.bcast.figures import Row
from resprout.experiments.bench.bcast.plan import size_text
from resprout.experiments.bench.bcast.variants import NATIVE


def print_tables(rows: Sequence[Row]) -> None:
    """One table for each number of ranks and of dead ones."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for ranks, dead in dict.fromkeys((row.ranks, row.dead) for row in rows):
        table = Table(title=title(ranks, dead), title_justify="left")
        for name in ("size", "broadcast"):
            table.add_column(name)
        against = "to native" if dead == 0 else "to no loss"
        for name in ("median us", "quartiles", "to binomial", against):
            table.add_column(name, justify="right")
        last = None
        for row in rows:
            if (row.ranks, row.dead) != (ranks, dead):
                continue
            if last not in (None, row.bytes):
                table.add_section()
            size = "" if row.bytes == last else size_text(row.bytes)
            last = row.bytes
            table.add_row(size, row.variant, time_text(row.median), _quartiles(row), *_ratios(row))
        console.print(table)


def title(ranks: int, dead: int) -> str:
    return f"{ranks} ranks" + (f", {dead} of them killed" if dead else "")


def time_text(us: float) -> str:
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def _quartiles(row: Row) -> str:
    return f"{time_text(row.lower_quartile)} to {time_text(row.upper_quartile)}"


def _ratios(row: Row) -> tuple[str, str]:
    against = row.to_native if row.dead == 0 else row.to_no_loss
    return ratio_text(row.to_binomial), "" if against is None else ratio_text(against)


def ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def as_markdown(rows: Sequence[Row]) -> str:
    """A table for each job: a line for each variant, three columns for each size.

    The ratio is to the binomial tree without correction; after a loss, to the time without one.
    """
    lines: list[str] = []
    for ranks, dead in dict.fromkeys((row.ranks, row.dead) for row in rows):
        chosen = [row for row in rows if (row.ranks, row.dead) == (ranks, dead)]
        lines += [f"### {title(ranks, dead)}", "", *_markdown_table(chosen), ""]
    return "\n".join(lines)


def _markdown_table(rows: Sequence[Row]) -> list[str]:
    sizes = list(dict.fromkeys(row.bytes for row in rows))
    cells = {(row.variant, row.bytes): row for row in rows}
    head = "".join(f" {size_text(size)} | quartiles | ratio |" for size in sizes)
    lines = [f"| broadcast |{head}", "|---|" + "---:|---:|---:|" * len(sizes)]
    for name in dict.fromkeys(row.variant for row in rows):
        line = f"| {name} |"
        for size in sizes:
            row = cells[name, size]
            compared = row.to_binomial if row.to_no_loss is None else row.to_no_loss
            line += f" {time_text(row.median)} | {_quartiles(row)} | {ratio_text(compared)} |"
        lines.append(line)
    return lines


def best_to_native(rows: Sequence[Row]) -> list[str]:
    """A sentence for each number of ranks and size: the fastest against the MPI library's own."""
    sentences = []
    for ranks, size in dict.fromkeys((row.ranks, row.bytes) for row in rows):
        rivals = [
            row
            for row in rows
            if (row.ranks, row.bytes, row.dead) == (ranks, size, 0)
            and row.variant != NATIVE
            and row.to_native is not None
        ]
        if rivals:
            best = min(rivals, key=lambda row: row.to_native or 0.0)
            sentences.append(
                f"{ranks} ranks, {size_text(size)}: {best.variant} takes "
                f"{best.to_native:.2f} of native's time"
            )
    return sentences
