"""Lines of text over a connection."""

import contextlib
import socket


class Lines:
    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._unread = b""

    def say(self, line: str) -> None:
        """A connection that is closed is noticed by who hears on it."""
        with contextlib.suppress(OSError):
            self.connection.sendall(f"{line}\n".encode())

    def hear(self) -> list[str] | None:
        """What has come; nothing: the connection is closed."""
        try:
            data = self.connection.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            return None
        *lines, self._unread = (self._unread + data).split(b"\n")
        return [line.decode(errors="replace") for line in lines]
