"""Throws garbage at ports, and says how much: scans, other protocols, silence and noise.

python garbage.py ADDRESS:PORT...    until its stdin ends; prints the number of connections
"""

import random
import re
import select
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

MAGIC = b"RESPRT01"
HELD_MAX = 100
# Before it stops: on a busy machine it may begin late.
TRIED_MIN = 20

Address = tuple[str, int]
_LISTENING = "0A"


def listening(pid: int) -> list[Address]:
    """Where a rank listens for its peers: MPI's own ports are not bound to one address."""
    inodes = set()
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if match := re.fullmatch(r"socket:\[(\d+)\]", str(fd.readlink())):
                inodes.add(match[1])
    found = []
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        address, _, port = words[1].partition(":")
        if words[3] == _LISTENING and address != "00000000" and words[9] in inodes:
            # The kernel prints the four bytes as one number of this little-endian machine.
            found.append((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return found


def throw(addresses: Sequence[Address], is_enough: Callable[[], bool]) -> int:
    """How many connections were made; some of them stay open meanwhile and say nothing more."""
    dice = random.Random(1)
    thrown = tried = 0
    held: list[socket.socket] = []
    while not is_enough() or tried < TRIED_MIN:
        tried += 1
        with suppress(OSError):
            held.append(_throw_one(dice.choice(addresses), dice))
            thrown += 1
        if len(held) > HELD_MAX:
            held.pop(dice.randrange(HELD_MAX)).close()
    for connection in held:
        connection.close()
    return thrown


def _throw_one(address: Address, dice: random.Random) -> socket.socket:
    connection = socket.create_connection(address, timeout=1)
    noise = dice.randbytes(dice.randrange(1, 5000))
    kind = dice.randrange(6)
    if kind == 0:
        connection.close()
    elif kind == 1:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
    elif kind == 2:
        connection.sendall(MAGIC)  # begins well, and stops
    elif kind == 3:
        connection.sendall(MAGIC + noise)
    elif kind == 4:
        connection.sendall(noise)
    return connection


def main() -> None:
    addresses = [(host, int(port)) for host, _, port in (a.partition(":") for a in sys.argv[1:])]
    print(throw(addresses, lambda: bool(select.select([sys.stdin], [], [], 0)[0])))


if __name__ == "__main__":
    main()
