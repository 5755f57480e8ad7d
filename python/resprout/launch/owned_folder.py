"""Folders that go with the process that made them; if it is killed, the next one removes them.

Whether the owner of a folder lives says the lock on a file in it, which the kernel gives back.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "resprout-"
_OWNER = ".owner"
_CLAIM = ".claim"


@contextlib.contextmanager
def owned_folder(parent: Path, *, clears: bool = True) -> Iterator[Path]:
    """A new one, removed afterwards. `clears`: before that, those in `parent` that were left."""
    if clears:
        clear_left(parent)
    with contextlib.ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        # Without a lock it is never cleared by others.
        with contextlib.suppress(OSError):
            stack.enter_context(_locked(folder / _CLAIM, os.O_CREAT))
            # Others find it only now that it is locked.
            (folder / _CLAIM).rename(folder / _OWNER)
        yield folder


def clear_left(parent: Path) -> None:
    """Removes folders of ours whose owners have ended without doing so."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid != os.getuid():
                continue
            with _locked(folder / _OWNER, 0):
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path, flags: int) -> Iterator[None]:
    """Raises OSError if there is no such file, or somebody else has it."""
    descriptor = os.open(path, os.O_RDWR | flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
