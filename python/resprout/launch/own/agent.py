"""What starts the ranks of one host, for the launcher on another one (hosts.py).

    agent.py ADDRESS[,ADDRESS]... PORT NUMBER        secret: in RESPROUT_AGENT_SECRET

It connects to the launcher, says the job's secret and its number, and is told what to start. Then
both say lines of JSON: it passes on what the ranks say and how they end, and tells them what the
launcher says. When the launcher is gone, it ends the ranks.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

from resprout.launch.own.lines import Lines
from resprout.launch.own.processes import NearRank, Place, Segments

SECRET = "RESPROUT_AGENT_SECRET"
_CONNECT_SECONDS = 20.0
# Of the environment that the launcher sends, what belongs to a host stays that host's.
OF_A_HOST = ("HOSTNAME", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY")


class Objects:
    """Objects of JSON, a line each, over a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._lines = Lines(connection)

    def say(self, **words: Any) -> None:
        self._lines.say(json.dumps(words))

    def hear(self) -> list[dict[str, Any]] | None:
        """What has come; nothing: the connection is closed."""
        lines = self._lines.hear()
        return None if lines is None else [json.loads(line) for line in lines]


class Agent:
    """Of one host, until all its ranks have ended or the launcher is gone."""

    def __init__(self, launcher: Objects) -> None:
        self._launcher = launcher
        self._ranks: dict[int, NearRank] = {}
        self._segments = Segments()
        self._selector = selectors.DefaultSelector()
        self._selector.register(launcher.connection, selectors.EVENT_READ, launcher)
        self._listen_to_children()

    def run(self) -> None:
        try:
            while self._take_turn():
                pass
        finally:
            for rank in self._ranks.values():
                rank.send(signal.SIGKILL)
            self._segments.remove()

    def _listen_to_children(self) -> None:
        self._children, writes = os.pipe()
        os.set_blocking(self._children, False)
        os.set_blocking(writes, False)
        signal.set_wakeup_fd(writes)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self._selector.register(self._children, selectors.EVENT_READ, None)

    def _take_turn(self) -> bool:
        """False: the launcher is gone."""
        looks = self._segments.is_looking
        for key, _ in self._selector.select(Segments.LOOK_SECONDS if looks else 1.0):
            if isinstance(key.data, NearRank):
                self._pass_on(key.data)
            elif key.data is None:
                os.read(self._children, 64)
            else:
                orders = self._launcher.hear()
                if orders is None:
                    return False
                for order in orders:
                    self._obey(order)
        if looks:
            self._segments.look([*self._ranks.values()])
        self._note_ends()
        return True

    def _obey(self, order: dict[str, Any]) -> None:
        if order["what"] == "start":
            self._start(order)
        elif (rank := self._ranks.get(order["rank"])) is not None:
            if order["what"] == "tell":
                rank.tell(order["line"])
            else:
                rank.send(signal.Signals(order["signal"]))

    def _start(self, order: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.chdir(order["folder"])
        kept = {name: os.environ[name] for name in OF_A_HOST if name in os.environ}
        environment = {**order["environment"], **kept}
        ranks = order["ranks"]
        for local, (number, words) in enumerate(ranks):
            place = Place(number, order["size"], local, len(ranks))
            rank = NearRank(order["job"], place, words, environment)
            self._ranks[number] = rank
            self._selector.register(rank.connection, selectors.EVENT_READ, rank)
            self._launcher.say(what="started", rank=number, pid=rank.pid)

    def _pass_on(self, rank: NearRank) -> None:
        lines = rank.hear()
        if lines is None:
            self._selector.unregister(rank.connection)
            self._launcher.say(what="gone", rank=rank.number)
            return
        for line in lines:
            self._launcher.say(what="said", rank=rank.number, line=line)

    def _note_ends(self) -> None:
        for rank in [rank for rank in self._ranks.values() if rank.status is not None]:
            del self._ranks[rank.number]
            self._launcher.say(what="ended", rank=rank.number, status=rank.status)


def _connect(addresses: Sequence[str], port: int) -> socket.socket:
    """To the first that answers."""
    errors: list[OSError] = []
    for address in addresses:
        try:
            connection = socket.create_connection((address, port), _CONNECT_SECONDS)
        except OSError as error:
            errors.append(error)
            continue
        connection.settimeout(None)
        notice_silence(connection)
        return connection
    raise errors[-1]


def notice_silence(connection: socket.socket) -> None:
    """It counts as closed when the other host has not answered for 10 s; nothing is delayed."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 10_000)


def main() -> int:
    addresses, port = sys.argv[1].split(","), int(sys.argv[2])
    try:
        launcher = Objects(_connect(addresses, port))
    except OSError as error:
        host = socket.gethostname()
        print(f"resprout: {host} does not reach the launcher: {error}", file=sys.stderr)
        return 1
    greeting = f"{os.environ.pop(SECRET, '')} {sys.argv[3]}\n"
    launcher.connection.sendall(greeting.encode())
    Agent(launcher).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
