"""What all benches leave: figures on stdout and in a folder, checked before they measure."""

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from resprout.errors import UserError
from resprout.extras import need
from resprout.files import replacing

FORMATS = ("table", "json", "csv")
SCHEMA = 1
"""Of the JSON: changes of its names change it, new names do not."""


class Row(Protocol):
    def as_dict(self) -> Mapping[str, object]: ...


SomeRow = TypeVar("SomeRow", bound=Row)


def check_output(format: str, folder: Path | None) -> None:
    """REQUIRES: nothing was measured yet."""
    if format not in FORMATS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(FORMATS)}")
    if folder is not None:
        need("--output", "plot")
        _make_folder(folder)


def print_rows(
    rows: Sequence[SomeRow], about: Mapping[str, object], format: str,
    print_tables: Callable[[Sequence[SomeRow]], None],
) -> None:  # fmt: skip
    """REQUIRES: the format was checked."""
    if format == "json":
        print(as_json(rows, about), end="")
    elif format == "csv":
        print(as_csv(rows), end="")
    else:
        print_tables(rows)


def write_rows(
    rows: Sequence[Row], about: Mapping[str, object], name: str, markdown: str,
    pictures: Mapping[str, bytes], folder: Path,
) -> None:  # fmt: skip
    """`name`.json, .csv and .md, and the pictures by the names of their files."""
    contents = {
        f"{name}.json": as_json(rows, about).encode(),
        f"{name}.csv": as_csv(rows).encode(),
        f"{name}.md": markdown.encode(),
    }
    _write_files({**contents, **pictures}, folder)


def as_json(rows: Sequence[Row], about: Mapping[str, object]) -> str:
    whole = {"schema": SCHEMA, **about, "rows": [row.as_dict() for row in rows]}
    return json.dumps(whole, indent=1) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """REQUIRES: there are rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0].as_dict()), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.as_dict() for row in rows)
    return text.getvalue()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--output: {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"--output: {folder} is no folder that can be written to")


def _write_files(contents: Mapping[str, bytes], folder: Path) -> None:
    """Each file is there wholly or not at all; says on stderr which there are."""
    for name, content in contents.items():
        try:
            with replacing(folder / name) as unfinished:
                unfinished.write_bytes(content)
        except OSError as error:
            raise UserError(
                f"--output: {folder / name} cannot be written: {error.strerror}"
            ) from error
    print(f"{folder}: {', '.join(contents)}", file=sys.stderr)
