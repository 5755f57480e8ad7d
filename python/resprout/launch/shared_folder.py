"""A folder for what the MPI shares between ranks of one host: killed ranks leave theirs."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from resprout.launch.command import Plan
from resprout.launch.owned_folder import owned_folder

_SHARED = Path("/dev/shm")


@contextlib.contextmanager
def shared_folder(plan: Plan) -> Iterator[Path | None]:
    """In shared memory, removed afterwards. Nothing: ranks may be on other hosts."""
    if plan.may_reach_other_hosts or not os.access(_SHARED, os.W_OK):
        yield None
        return
    with owned_folder(_SHARED) as folder:
        yield folder
