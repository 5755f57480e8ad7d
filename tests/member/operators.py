"""The command `resprout member` as a process, and what it says."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from groups import PATIENCE

Lines = Iterator[dict[str, Any]]
Running = subprocess.Popen[str]


@contextmanager
def member(*options: object, listen: str = "127.0.0.1:0") -> Iterator[tuple[Running, Lines]]:
    """The process, and what it says."""
    words = ["member", "--listen", listen, "--json", *map(str, options)]
    command = [sys.executable, "-m", "resprout", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, map(json.loads, process.stdout)
        finally:
            process.kill()


def until(lines: Lines, count: int) -> dict[str, Any]:
    """Its next view with so many members."""
    return next(e for e in lines if e["event"] == "view" and len(e["members"]) == count)


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
