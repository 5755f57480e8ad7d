"""Files that are there wholly or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SUFFIX = ".tmp"

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says if a disk is full, or as much of it as one may use."""

STATUS_NO_ROOM = 1
"""The exit status of a command that could not write all that it had to say."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A hidden file beside `path` to write to; it becomes `path` if the block ends well.

    It is on the disk by then, so a host that loses its power leaves no hollow file either.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileExistsError(0, "it is there and no file", str(path))
    temporary = target.with_name(f".{target.name}{_SUFFIX}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_temporaries(folder: Path) -> None:
    """What was left behind by a process that was killed in the middle of replacing()."""
    for temporary in folder.glob(f".*{_SUFFIX}"):
        temporary.unlink()
