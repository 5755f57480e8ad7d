"""The folder for what a bench leaves: checked before it measures, each file there wholly or not."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from resprout.errors import UserError
from resprout.files import replacing


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--output: {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"--output: {folder} is no folder that can be written to")


def write_files(contents: Mapping[str, bytes], folder: Path) -> None:
    """Files by their names; says on stderr which."""
    for name, content in contents.items():
        try:
            with replacing(folder / name) as unfinished:
                unfinished.write_bytes(content)
        except OSError as error:
            raise UserError(
                f"--output: {folder / name} cannot be written: {error.strerror}"
            ) from error
    print(f"{folder}: {', '.join(contents)}", file=sys.stderr)
