"""What becomes of checkpoints: in which folders they are written, and what is refused."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.options import BY_FLAG, check_value

# As src/runtime/checkpoints/file_store.hpp has it.
_NAME = re.compile(r"checkpoint-[0-9]+\.rank-([0-9]+)-of-([0-9]+)")


@dataclass(frozen=True)
class Files:
    """What the user asks for, unchecked."""

    folder: Path | None = None
    every: str | None = None
    resume: Path | None = None
    code: str | None = None

    @property
    def flags(self) -> list[str]:
        """Of the options that were given."""
        given = {
            "--checkpoint-dir": self.folder, "--files-every": self.every, "--resume": self.resume,
            "--checkpoint-code": self.code,
        }  # fmt: skip
        return [flag for flag, value in given.items() if value is not None]

    def variables(self, ranks: int) -> Mapping[str, str]:
        """For the ranks. Raises UserError if the folders are not what they have to be."""
        if self.every is not None and self.folder is None and self.resume is None:
            raise UserError("--files-every needs --checkpoint-dir or --resume")
        found: dict[str, str] = {}
        if self.code is not None:
            found["--checkpoint-code"] = check_value("--checkpoint-code", self.code)
        if self.every is not None:
            found["--files-every"] = check_value("--files-every", self.every)
        if self.resume is not None:
            _check_has_checkpoints(self.resume, ranks)
            found["--resume"] = str(self.resume.absolute())
        if self.folder is not None:
            _check_folder("--checkpoint-dir", self.folder)
            if self.folder != self.resume and _sizes_in(self.folder):
                raise UserError(
                    f"--checkpoint-dir: {self.folder} has checkpoints of an earlier job; go on "
                    "from them with --resume, or name another folder"
                )
            found["--checkpoint-dir"] = str(self.folder.absolute())
        return {BY_FLAG[flag].variable: value for flag, value in found.items()}


def _check_folder(flag: str, folder: Path) -> None:
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        raise UserError(f"{flag}: {folder} is no folder that can be written to")


def _sizes_in(folder: Path) -> set[int]:
    """The numbers of ranks of the jobs that have left checkpoints there."""
    names = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return {int(name[2]) for name in names if name is not None}


def _check_has_checkpoints(folder: Path, ranks: int) -> None:
    _check_folder("--resume", folder)
    sizes = _sizes_in(folder)
    if not sizes:
        raise UserError(f"--resume: {folder} has no checkpoints")
    if ranks not in sizes:
        had = ", ".join(map(str, sorted(sizes)))
        raise UserError(f"--resume: {folder} has checkpoints of {had} ranks, and the job {ranks}")
