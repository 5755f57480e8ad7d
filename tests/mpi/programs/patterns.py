"""Lines of what programs do that may come out differently in each replica.

patterns.py PATTERN...
"""

import os
import random
import secrets
import socket
import sys
import threading
import uuid

import numpy
from mpi4py import MPI


def _draw(found: list[str]) -> None:
    found.append(secrets.token_hex())


def _draw_in_thread() -> str:
    found: list[str] = []
    thread = threading.Thread(target=_draw, args=(found,))
    thread.start()
    thread.join()
    return found[0]


PATTERNS = {
    "hash": lambda: hash("a string"),
    "set-order": lambda: list({str(i) for i in range(50)}),
    "random": random.random,
    "secrets": secrets.token_hex,
    "numpy": lambda: float(numpy.random.default_rng().random()),
    "uuid": lambda: str(uuid.uuid4()),
    "getpid": os.getpid,
    "gethostname": socket.gethostname,
    "secrets-in-thread": _draw_in_thread,
}


def main() -> None:
    comm = MPI.COMM_WORLD
    for tag, name in enumerate(sys.argv[1:], 1):
        found = [PATTERNS[name]() for _ in range(3)]
        comm.sendrecv(
            found, (comm.rank + 1) % comm.size, tag, None, (comm.rank - 1) % comm.size, tag
        )
        comm.allgather(found)
    if comm.rank == 0:
        print("done", flush=True)


main()
