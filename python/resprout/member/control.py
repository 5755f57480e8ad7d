"""A Unix socket at which a member of this host answers: who is a member, what has it cost, leave.

A request is one word and a newline: `state` or `leave`. The answer is one line of JSON, the state.
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

STATE, LEAVE = "state", "leave"
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

    def serve(self, state: Callable[[], dict[str, Any]]) -> bool:
        """Answers those who have asked. Whether one of them says that the member shall leave."""
        if self._socket is None:
            return False
        with contextlib.suppress(BlockingIOError):
            while True:
                caller, _ = self._socket.accept()
                caller.setblocking(False)
                self._callers.append(caller)
        asks = [self._answer(caller, state) for caller in list(self._callers)]
        return LEAVE in asks

    def _answer(self, caller: socket.socket, state: Callable[[], dict[str, Any]]) -> str | None:
        try:
            word = caller.recv(_REQUEST_MAX).decode(errors="replace").strip()
        except BlockingIOError:
            return None  # it has not asked yet
        except OSError:
            word = ""
        self._callers.remove(caller)
        with caller, contextlib.suppress(OSError):
            if word in (STATE, LEAVE):
                caller.setblocking(True)
                caller.settimeout(1.0)
                caller.sendall(json.dumps(state()).encode() + b"\n")
        return word

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


def ask(path: Path, word: str) -> dict[str, Any]:
    """The state of the member that answers there. UserError: none does."""
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(_SECONDS)
            door.connect(str(path))
            door.sendall(word.encode() + b"\n")
            with door.makefile("rb") as answer:
                found: dict[str, Any] = json.loads(answer.readline())
    except OSError as error:
        raise UserError(f"{path}: no member answers there: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path}: the member there does not answer") from error
    return found
