"""Ranks on several hosts: PRRTE's prterun starts an agent on each (agent.py), which starts the
ranks there and passes on what they ask and are told.

An agent that is gone has lost its host: its ranks count as killed, and the others go on. A prterun
ends with any of its hosts, so each host has one of its own.
"""

import array
import contextlib
import fcntl
import hmac
import os
import re
import secrets
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resprout import log
from resprout.launch import processes
from resprout.launch.own.agent import SECRET, Objects, notice_silence
from resprout.launch.own.processes import FarRank

_START_SECONDS = 60.0
_GREETING_BYTES_MAX = 4096
_SIOCGIFADDR = 0x8915
_SLOTS = re.compile(r"slots\s*=\s*(\d+)|^\S+?:(\d+)")

_RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from resprout.launch.own.agent import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Host:
    name: str
    slots: int


def read_hosts(hostfile: Path) -> list[Host]:
    """Each line names a host, and how many slots it has, as in `node1 slots=4`; one if it does not
    say."""
    slots: dict[str, int] = {}
    for line in hostfile.read_text().splitlines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        found = _SLOTS.search(text)
        name = text.split(maxsplit=1)[0].partition(":")[0]
        slots[name] = slots.get(name, 0) + int((found and (found[1] or found[2])) or 1)
    return [Host(name, count) for name, count in slots.items()]


def deal(hosts: Sequence[Host], ranks: int) -> list[int]:
    """How many ranks each gets: their slots in order; of what is left, each in turn one more."""
    counts = []
    left = ranks
    for host in hosts:
        counts.append(min(host.slots, left))
        left -= counts[-1]
    for turn in range(left):
        counts[turn % len(hosts)] += 1
    return counts


class Agents:
    """Those of one job."""

    def __init__(
        self, hostfile: Path, prterun: str, words: Sequence[Sequence[str]], job: str
    ) -> None:
        """`words`: what each rank runs. Raises OSError if an agent does not come."""
        hosts = read_hosts(hostfile)
        counts = deal(hosts, len(words))
        self._hosts = [host.name for host, count in zip(hosts, counts, strict=True) if count > 0]
        self.ranks_by_host = [count for count in counts if count > 0]
        self._lines: list[Objects | None] = [None] * len(self._hosts)
        self.ranks: list[FarRank] = []
        self.lost: list[str] = []
        """Hosts whose agents were gone before their ranks had ended."""
        for index, count in enumerate(self.ranks_by_host):
            for _ in range(count):
                self.ranks.append(self._far_rank(len(self.ranks), index))
        self._secret = secrets.token_hex(16)
        listener = socket.create_server(("", 0))
        with listener:
            port = listener.getsockname()[1]
            numbers = range(len(self._hosts))
            self._prteruns = [self._start(prterun, number, port) for number in numbers]
            self._greet(listener)
        for index in range(len(self._hosts)):
            self._say(index, **self._order(index, words, job))

    def sockets(self) -> Iterator[tuple[socket.socket, int]]:
        """Where something may come, of the agent with this number."""
        for index, lines in enumerate(self._lines):
            if lines is not None:
                yield lines.connection, index

    def hear(self, index: int) -> list[dict[str, Any]]:
        """What that agent says of its ranks. Of one that is gone: that they were killed."""
        lines = self._lines[index]
        heard = None if lines is None else lines.hear()
        if heard is not None:
            return heard
        self._lines[index] = None
        lost = [rank.number for rank in self._ranks_of(index) if rank.status is None]
        if lost:
            self.lost.append(self._hosts[index])
            numbers = ", ".join(map(str, lost))
            log.warn(f"host {self._hosts[index]} is lost, with ranks {numbers}")
        return [{"what": "ended", "rank": rank, "status": -signal.SIGKILL} for rank in lost]

    def end(self) -> None:
        """Agents leave when they are let go."""
        for lines in self._lines:
            if lines is not None:
                lines.connection.close()
        processes.wait_for(lambda: all(one.poll() is not None for one in self._prteruns), 5.0)
        for one in self._prteruns:
            one.kill()
            one.wait()

    def _far_rank(self, number: int, index: int) -> FarRank:
        def say(**words: Any) -> None:
            self._say(index, **words)

        return FarRank(number, self._hosts[index], say)

    def _say(self, index: int, **words: Any) -> None:
        lines = self._lines[index]
        if lines is not None:
            lines.say(**words)

    def _ranks_of(self, index: int) -> list[FarRank]:
        begin = sum(self.ranks_by_host[:index])
        return self.ranks[begin : begin + self.ranks_by_host[index]]

    def _order(self, index: int, words: Sequence[Sequence[str]], job: str) -> dict[str, Any]:
        numbers = [rank.number for rank in self._ranks_of(index)]
        return {
            "what": "start",
            "job": job,
            "size": len(words),
            "folder": str(Path.cwd()),
            "environment": {k: v for k, v in os.environ.items() if not k.startswith("PRTE_")},
            "ranks": [(number, list(words[number])) for number in numbers],
        }

    def _start(self, prterun: str, index: int, port: int) -> subprocess.Popen[bytes]:
        package = Path(__file__).resolve().parents[3]
        # A wheel's is not where it was built to be.
        command = [prterun, "--prefix", str(Path(prterun).parent.parent)]
        command += ["--host", f"{self._hosts[index]}:1", "--bind-to", "none", "-n", "1"]
        command += ["-x", SECRET, sys.executable, "-I", "-S", "-c", _RUN, str(package)]
        environment = {**os.environ, SECRET: self._secret}
        if os.geteuid() == 0:  # it refuses to work for root otherwise
            environment |= dict.fromkeys(
                ("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"), "1"
            )
        return subprocess.Popen(
            [*command, ",".join(own_addresses()), str(port), str(index)],
            env=environment,
            stdin=subprocess.DEVNULL,
            preexec_fn=lambda: processes.end_with_parent(signal.SIGTERM),  # noqa: PLW1509
        )

    def _greet(self, listener: socket.socket) -> None:
        """Until all have come who know the secret."""
        deadline = time.monotonic() + _START_SECONDS
        listener.settimeout(0.2)
        while None in self._lines:
            there = [*zip(self._hosts, self._lines, self._prteruns, strict=True)]
            has_failed = any(lines is None and one.poll() is not None for _, lines, one in there)
            if has_failed or time.monotonic() > deadline:
                missing = [host for host, lines, _ in there if lines is None]
                self.end()
                raise OSError(f"nothing can be started on {', '.join(missing)}")
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                self._take(connection)

    def _take(self, connection: socket.socket) -> None:
        connection.settimeout(5.0)
        greeting = b""
        with contextlib.suppress(OSError):
            while b"\n" not in greeting and len(greeting) < _GREETING_BYTES_MAX:
                if not (data := connection.recv(_GREETING_BYTES_MAX)):
                    break
                greeting += data
        secret, _, number = greeting.strip().partition(b" ")
        if not hmac.compare_digest(secret, self._secret.encode()) or not number.isdigit():
            connection.close()
            return
        index = int(number)
        if index >= len(self._lines) or self._lines[index] is not None:
            connection.close()
            return
        connection.settimeout(None)
        notice_silence(connection)
        self._lines[index] = Objects(connection)


def own_addresses() -> list[str]:
    """Of this host's interfaces, in IPv4; that of the host itself last."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            request = array.array("B", struct.pack("256s", name.encode()[:15]))
            with contextlib.suppress(OSError):
                fcntl.ioctl(asked.fileno(), _SIOCGIFADDR, request)
                found.append(socket.inet_ntoa(request.tobytes()[20:24]))
    return sorted(dict.fromkeys(found), key=lambda address: address.startswith("127."))
