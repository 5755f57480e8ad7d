"""Cuts data connections of real ranks without a word: the kernel drops what comes in on them, as a
broken network would, and nobody is told. All other connections of the ranks go on.

The filters are attached to the ranks' own sockets, which root may borrow (pidfd_getfd).
"""

import ctypes
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

# Of the kernel; Python has no names for them.
_PIDFD_GETFD = 438
_SO_ATTACH_FILTER = 26
_LOAD_WORD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_SOURCE_ADDRESS = 0xFFF00000 + 12  # in the IP header, wherever the filter starts
_KEEP, _DROP = 0xFFFFFFFF, 0

_LIBC = ctypes.CDLL(None, use_errno=True)


def cut(processes: Mapping[int, int], rank: int, sources: set[str]) -> int:
    """Drop all that comes to a rank's data connections, open or new, from these addresses.

    `processes`: all ranks' process ids. Returns how many connections that are open now are cut.
    """
    cut_now = 0
    for connection, remote in _data_sockets(processes, rank):
        _drop(connection, sources)
        cut_now += remote is not None and remote[0] in sources
    return cut_now


def break_off(processes: Mapping[int, int], rank: int, sources: set[str]) -> int:
    """End a rank's data connections with these addresses, though the processes live; how many."""
    broken = 0
    for connection, remote in _data_sockets(processes, rank):
        if remote is not None and remote[0] in sources:
            connection.shutdown(socket.SHUT_RDWR)
            broken += 1
    return broken


def _data_sockets(
    processes: Mapping[int, int], rank: int
) -> Iterator[tuple[socket.socket, tuple[str, int] | None]]:
    """A rank's connections for data, each with its other end, and where it listens for them."""
    ports = {of: data_port(pid) for of, pid in processes.items()}
    for connection in _sockets(processes[rank]):
        remote = _remote(connection)
        is_ours = connection.getsockname()[1] == ports[rank]
        if is_ours or (remote is not None and remote[1] in ports.values()):
            yield connection, remote


def data_port(pid: int) -> int:
    """Where it listens for data: of its two ports, the lifeline's is opened first."""
    listening = [
        own.getsockname()[1]
        for own in _sockets(pid)
        if own.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        and own.getsockname()[0] != "0.0.0.0"
    ]
    assert len(listening) == 2, f"a lifeline and a data port: {listening}"
    return listening[1]


def _remote(connection: socket.socket) -> tuple[str, int] | None:
    with suppress(OSError):
        return connection.getpeername()[:2]
    return None


def _sockets(pid: int) -> Iterator[socket.socket]:
    """The process's IPv4 TCP sockets, by descriptor, each for the moment only."""
    with _pidfd(pid) as process:
        for fd in sorted(int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir()):
            with suppress(OSError):
                if not str(Path(f"/proc/{pid}/fd/{fd}").readlink()).startswith("socket:"):
                    continue
            ours = _LIBC.syscall(_PIDFD_GETFD, process, fd, 0)
            if ours < 0:
                continue
            with socket.socket(fileno=ours) as borrowed:
                if borrowed.family == socket.AF_INET and borrowed.type == socket.SOCK_STREAM:
                    yield borrowed


@contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def _drop(connection: socket.socket, sources: set[str]) -> None:
    addresses = [struct.unpack("!I", socket.inet_aton(source))[0] for source in sorted(sources)]
    program = [(_LOAD_WORD, 0, 0, _SOURCE_ADDRESS)]
    for i, address in enumerate(addresses):
        program.append((_JUMP_EQUAL, len(addresses) - i, 0, address))
    program += [(_RETURN, 0, 0, _KEEP), (_RETURN, 0, 0, _DROP)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    words = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code))
    connection.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, words)
