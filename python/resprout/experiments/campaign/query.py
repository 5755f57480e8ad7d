"""What `resprout query` does: SQL over the results of campaigns, by DuckDB."""

import csv
import decimal
import glob
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import duckdb

from resprout.errors import UserError
from resprout.experiments.campaign.dataset import part_files, read_header
from resprout.files import replacing

TABLE = "runs"
_FORMATS = ("table", "json", "csv", "parquet")
# A table is for people; who wants more rows takes another format.
_TABLE_ROWS_MAX = 1000
_ROWS_AT_A_TIME = 10_000

Rows = Iterator[tuple[Any, ...]]


def query(sql: str, sources: list[Path], format: str, output: Path | None) -> int:
    if format not in _FORMATS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(_FORMATS)}")
    if format == "parquet" and output is None:
        raise UserError("--format: parquet is for files; give --output too")
    with answered(sql, sources) as answer:
        _give(answer, format, output)
    return 0


@contextmanager
def answered(sql: str, sources: list[Path]) -> Iterator[duckdb.DuckDBPyRelation]:
    """What DuckDB answers, to be read within."""
    files = [file for source in sources for file in _files(source)]
    with _database() as database:
        if files:
            # DuckDB takes names for patterns.
            names = [glob.escape(str(file)) for file in files]
            database.read_parquet(names).create_view(TABLE)
        try:
            answer = database.sql(sql)
            if answer is None:
                raise UserError("SQL: it has no rows for an answer; give a SELECT")
            yield answer
        except duckdb.Error as error:
            advice = "" if files else f" (the table {TABLE} is there if you name a FILE or DIR)"
            raise UserError(f"SQL: {_first_line(error)}{advice}") from error


@contextmanager
def _database() -> Iterator[duckdb.DuckDBPyConnection]:
    # It has all that it needs, and fetches nothing from anywhere.
    database = duckdb.connect(config={"autoinstall_known_extensions": False})
    database.execute("SET enable_progress_bar = false")
    try:
        yield database
    finally:
        database.close()


def _files(source: Path) -> list[Path]:
    """The files of results that a file or folder stands for, each of them looked at."""
    if not source.is_dir():
        read_header(source)
        return [source]
    files = part_files(source)
    if not files:
        raise UserError(f"{source} has no results of a campaign")
    headers = [read_header(file) for file in files]
    for file, header in zip(files, headers, strict=True):
        if header.campaign != headers[0].campaign:
            raise UserError(f"{source} has results of several campaigns, as {file}")
    if len(files) < headers[0].parts:
        print(
            f"resprout: the campaign in {source} is not finished: "
            f"{len(files)} of {headers[0].parts} parts are there",
            file=sys.stderr,
        )
    return files


def _first_line(error: Exception) -> str:
    """What DuckDB says, without the quotation of the SQL that follows."""
    return " ".join(str(error).split("\n\nLINE")[0].split())


def _give(answer: duckdb.DuckDBPyRelation, format: str, output: Path | None) -> None:
    if output is None:
        _WRITERS[format](answer.columns, _rows(answer), sys.stdout)
        return
    try:
        with replacing(output) as path:
            if format == "parquet":
                answer.write_parquet(str(path))
            else:
                with path.open("w", encoding="utf-8", newline="") as file:
                    _WRITERS[format](answer.columns, _rows(answer), file)
    except OSError as error:
        raise UserError(f"--output: {output} cannot be written: {error.strerror}") from error


def _rows(answer: duckdb.DuckDBPyRelation) -> Rows:
    while rows := answer.fetchmany(_ROWS_AT_A_TIME):
        yield from rows


def _write_json(columns: list[str], rows: Rows, file: TextIO) -> None:
    """One object a row, one row a line."""
    for row in rows:
        cells = [_json_value(cell) for cell in row]
        print(json.dumps(dict(zip(columns, cells, strict=True)), default=str), file=file)


def _json_value(cell: Any) -> Any:
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    return float(cell) if isinstance(cell, decimal.Decimal) else cell


def _write_csv(columns: list[str], rows: Rows, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def _write_table(columns: list[str], rows: Rows, file: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(file=file, highlight=False)
    if not file.isatty():
        console.width = 10_000
    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    is_cut = False
    for number, row in enumerate(rows):
        if number == 0:
            for column, cell in zip(table.columns, row, strict=True):
                column.justify = "right" if isinstance(cell, int | float) else "left"
        if number == _TABLE_ROWS_MAX:
            is_cut = True
            break
        table.add_row(*(_cell(cell) for cell in row))
    console.print(table, markup=False)
    if is_cut:
        print(
            f"resprout: the table ends after {_TABLE_ROWS_MAX} rows; --format csv has all",
            file=sys.stderr,
        )


def _cell(value: Any) -> Any:
    from rich.text import Text

    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return Text(str(value))


_WRITERS: dict[str, Callable[[list[str], Rows, TextIO], None]] = {
    "table": _write_table,
    "json": _write_json,
    "csv": _write_csv,
}
