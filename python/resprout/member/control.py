"""A Unix socket at which a member of this host answers its user.

A request is a line: `state`, `leave`, or `remove` with the number of a member. The answer is one
line of JSON: the state, or an object whose `error` says why not.
"""

import contextlib
import json
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from resprout.errors import UserError

STATE, LEAVE, REMOVE = "state", "leave", "remove"
_REQUEST_MAX = 64
_SECONDS = 10.0


class Door:
    """The member's side. It never waits."""

    def __init__(self, path: Path | None) -> None:
        """UserError: there can be no socket."""
        self._path = path
        self._socket: socket.socket | None = None
        self._callers: list[socket.socket] = []
        if path is None:
            return
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            _clear(path)
            mask = os.umask(0o177)  # its user alone may ask
            try:
                self._socket.bind(str(path))
            finally:
                os.umask(mask)
        except OSError as error:
            self._socket.close()
            raise UserError(f"--control: {path}: {error.strerror or error}") from error
        self._socket.listen()
        self._socket.setblocking(False)

    def serve(self, answer: Callable[[str], dict[str, Any] | None]) -> None:
        """Answers those who have asked. To a request that `answer` does not know there is none."""
        if self._socket is None:
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                caller, _ = self._socket.accept()
                caller.setblocking(False)
                self._callers.append(caller)
        for caller in list(self._callers):
            self._answer(caller, answer)

    def _answer(
        self, caller: socket.socket, answer: Callable[[str], dict[str, Any] | None]
    ) -> None:
        try:
            request = caller.recv(_REQUEST_MAX).decode(errors="replace").strip()
        except BlockingIOError:
            return  # it has not asked yet
        except OSError:
            request = ""
        self._callers.remove(caller)
        said = answer(request)
        with caller, contextlib.suppress(OSError):
            if said is not None:
                caller.setblocking(True)
                caller.settimeout(1.0)
                caller.sendall(json.dumps(said).encode() + b"\n")

    def close(self) -> None:
        for caller in self._callers:
            caller.close()
        if self._socket is not None and self._path is not None:
            self._socket.close()
            self._path.unlink(missing_ok=True)


def _clear(path: Path) -> None:
    """Removes a socket at which nobody answers any more."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise FileExistsError(0, "is there and no socket")
        with socket.socket(socket.AF_UNIX) as trial:
            try:
                trial.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
                return
        raise FileExistsError(0, "a member answers there already")


def ask(path: Path, request: str) -> dict[str, Any]:
    """The state of the member that answers there. UserError: none does, or it refuses."""
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(_SECONDS)
            door.connect(str(path))
            door.sendall(request.encode() + b"\n")
            with door.makefile("rb") as answer:
                found: dict[str, Any] = json.loads(answer.readline())
    except OSError as error:
        raise UserError(f"{path}: no member answers there: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path}: the member there does not answer") from error
    if "error" in found:
        raise UserError(str(found["error"]))
    return found
