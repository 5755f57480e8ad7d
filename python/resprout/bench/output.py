"""What all benches leave: JSON and CSV, in a folder that is checked before they measure."""

import csv
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from resprout.errors import UserError
from resprout.files import replacing

SCHEMA = 1
"""Of the JSON: changes of its names change it, new names do not."""


class Row(Protocol):
    def as_dict(self) -> Mapping[str, object]: ...


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


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--output: {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"--output: {folder} is no folder that can be written to")


def write_files(contents: Mapping[str, bytes], folder: Path) -> None:
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
