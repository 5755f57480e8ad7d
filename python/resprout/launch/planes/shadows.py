"""What the planes have written: the files of the one that counts become the user's.

Plane 0 writes the program's own files, each other plane shadows beside them (src/shim/files, which
has the format of the notes that are read here; docs/adr/017-files-of-planes.md).
"""

import contextlib
import glob
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote_to_bytes


@dataclass(frozen=True)
class Shadowed:
    """A file that planes of a job write, or delete."""

    file: Path
    shadows: tuple[Path, ...]
    """Those of plane 1 and so on."""
    done: dict[int, str]
    """By plane: "opened" or "deleted", whatever was last."""

    def of(self, replica: int) -> Path:
        return self.shadows[replica - 1]


def settle(directory: Path, replica: int) -> None:
    """Put what plane `replica` has in the place of the user's files; remove what others have.

    `directory`: the job's run directory. REQUIRES: all processes of the job have ended.
    """
    for shadowed in _read(directory / "files"):
        left = list(shadowed.shadows)
        if replica > 0:
            _put(shadowed, replica)
            left.remove(shadowed.of(replica))
        for path in [*left, *_beside(shadowed.shadows)]:
            _try(path.unlink, f"cannot remove {path}")


def leave(directory: Path) -> bool:
    """Leave what all planes have where it is, as none has all of it, and say so. False: nothing
    was written.
    """
    written = list(_read(directory / "files"))
    for shadowed in written:
        others = " and ".join(str(path) for path in shadowed.shadows)
        _say(
            f"{shadowed.file} may lack what ranks should have written that plane 0 has lost; "
            f"what other planes have is in {others}"
        )
    return bool(written)


def _put(shadowed: Shadowed, replica: int) -> None:
    shadow, done = shadowed.of(replica), shadowed.done.get(replica)
    if shadow.exists():
        _try(lambda: shadow.replace(shadowed.file), f"cannot put {shadow} where it belongs")
    elif done == "deleted":
        _try(shadowed.file.unlink, f"cannot remove {shadowed.file}")
    elif done == "opened":
        _say(f"what became of {shadowed.file} is in {shadow}, which this host does not see")


def _beside(shadows: Sequence[Path]) -> Iterator[Path]:
    """What an MPI library has made beside shadows, with longer names, and a killed plane left."""
    for shadow in shadows:
        yield from shadow.parent.glob(f"{glob.escape(shadow.name)}?*")


def _try(action: Callable[[], object], complaint: str) -> None:
    """What is not there need not be removed."""
    try:
        with contextlib.suppress(FileNotFoundError):
            action()
    except OSError as error:
        _say(f"{complaint}: {error.strerror}")


def _say(what: str) -> None:
    with contextlib.suppress(OSError):
        print(f"resprout: {what}", file=sys.stderr, flush=True)


def _read(folder: Path) -> Iterator[Shadowed]:
    """Those whose notes are as far that something may have been made."""
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            lines = path.read_text().split("\n")[:-1]
            if not lines:
                continue
            first, *later = map(json.loads, lines)
            done = {entry["replica"]: entry["is"] for entry in later if "replica" in entry}
            yield Shadowed(_path(first["file"]), tuple(map(_path, first["shadows"])), done)


def _path(text: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(text)))
