"""What the planes have written: the files of the one that counts become the user's.

Plane 0 writes the program's own files, each other plane shadows beside them
(src/mpi/policies/files, which has the format of the notes that are read here;
docs/explanation/adr/017-files-of-planes.md).
"""

import contextlib
import glob
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from resprout import log


@dataclass(frozen=True)
class Shadowed:
    """A file that planes of a job write, or delete."""

    file: Path
    shadows: tuple[Path, ...]
    """Those of plane 1 and so on."""
    done: dict[int, str]
    """By plane: "opened" or "deleted", whatever was last."""
    times: dict[str, dict[int, frozenset[str]]]
    """Where siblings stand in: what ranks have "begun", "closed" and "removed", by plane."""
    unfilled: frozenset[int]
    """Planes that are known to lack what ranks should have written that they have lost."""

    def of(self, replica: int) -> Path:
        return self.shadows[replica - 1]

    def has_all(self, replica: int) -> bool:
        """All that ranks have begun to write in this plane, lost or not, they have closed, and all
        that they have closed or removed in any other plane, too."""
        if replica in self.unfilled:
            return False

        def by(what: str) -> frozenset[str]:
            return self.times.get(what, {}).get(replica, frozenset())

        def anywhere(what: str) -> frozenset[str]:
            return frozenset().union(*self.times.get(what, {}).values())

        return by("begun") <= by("closed") and all(
            by(what) == anywhere(what) for what in ("closed", "removed")
        )


def settle(directory: Path, replica: int) -> None:
    """Put what plane `replica` has in the place of the user's files; remove what others have.

    `directory`: the job's run directory. REQUIRES: all processes of the job have ended.
    """
    for shadowed in _read(directory / "files"):
        _settle(shadowed, replica)


def settle_with_gaps(directory: Path, planes: Sequence[int], whole: Collection[int]) -> bool:
    """The same where siblings stand in: of each file what the first of `planes` has that has all of
    it, as those that have lost nobody do, the `whole` ones. What none has is left where it is, in
    all planes, and that is said: True.
    """
    is_torn = False
    for shadowed in _read(directory / "files"):
        complete = [r for r in planes if r in whole or shadowed.has_all(r)]
        if complete:
            _settle(shadowed, complete[0])
        else:
            _leave(shadowed)
            is_torn = True
    return is_torn


def _settle(shadowed: Shadowed, replica: int) -> None:
    left = list(shadowed.shadows)
    if replica > 0:
        _put(shadowed, replica)
        left.remove(shadowed.of(replica))
    for path in [*left, *_beside(shadowed)]:
        _try(path.unlink, f"cannot remove {path}")


def _leave(shadowed: Shadowed) -> None:
    others = " and ".join(str(path) for path in shadowed.shadows)
    log.warn(
        f"{shadowed.file} may lack what ranks should have written that plane 0 has lost; "
        f"what other planes have is in {others}"
    )


def _put(shadowed: Shadowed, replica: int) -> None:
    shadow, done = shadowed.of(replica), shadowed.done.get(replica)
    if shadow.exists():
        _try(lambda: shadow.replace(shadowed.file), f"cannot put {shadow} where it belongs")
    elif done == "deleted":
        _try(shadowed.file.unlink, f"cannot remove {shadowed.file}")
    elif done == "opened":
        log.warn(f"what became of {shadowed.file} is in {shadow}, which this host does not see")


def _beside(shadowed: Shadowed) -> Iterator[Path]:
    """What was made beside a file or its shadows, with longer names, and a killed plane left: by an
    MPI library; or of the file's shared pointer."""
    for shadow in shadowed.shadows:
        yield from shadow.parent.glob(f"{glob.escape(shadow.name)}?*")
    mark = shadowed.shadows[0].name.removeprefix(shadowed.file.name).removesuffix("-replica-1")
    yield from shadowed.file.parent.glob(f"{glob.escape(shadowed.file.name + mark)}-pointer-*")


def _try(action: Callable[[], object], complaint: str) -> None:
    """What is not there need not be removed."""
    try:
        with contextlib.suppress(FileNotFoundError):
            action()
    except OSError as error:
        log.warn(f"{complaint}: {error.strerror}")


def _read(folder: Path) -> Iterator[Shadowed]:
    """Those whose notes are as far that something may have been made."""
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            lines = path.read_text().split("\n")[:-1]
            if not lines:
                continue
            first, *later = map(json.loads, lines)
            yield Shadowed(
                _path(first["file"]),
                tuple(map(_path, first["shadows"])),
                {e["replica"]: e["is"] for e in later if e["is"] in ("opened", "deleted")},
                {what: _times(later, what) for what in ("begun", "closed", "removed")},
                frozenset(e["replica"] for e in later if e["is"] == "unfilled"),
            )


def _times(entries: Sequence[dict[str, Any]], what: str) -> dict[int, frozenset[str]]:
    times: defaultdict[int, set[str]] = defaultdict(set)
    for entry in entries:
        if entry["is"] == what:
            times[entry["replica"]].add(f"{entry['rank']} {entry['of']}")
    return {replica: frozenset(of_plane) for replica, of_plane in times.items()}


def _path(text: str) -> Path:
    return Path(os.fsdecode(unquote_to_bytes(text)))
