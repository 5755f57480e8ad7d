"""Those who call at a member's port and are no members; and members with bad manners.

What they say is made here, byte by byte: it is the one place beside src/runtime that knows it.
"""

import hashlib
import hmac
import os
import socket
import struct

MAGIC = b"RESPRT"
VERSION = 1
SECRET = bytes(32)
"""Of members that are given none."""

_MEMBERSHIP = 3
_CODE_BYTES = 32
PATIENCE = 120.0


def call(address: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def hello(version: int = VERSION) -> bytes:
    """The first 56 bytes that a member says to another."""
    magic = MAGIC + f"{version:02}".encode()
    return magic + struct.pack("<IiiI", _MEMBERSHIP, 0, 0, 0) + os.urandom(32)


def prove(connection: socket.socket, secret: bytes = SECRET) -> None:
    """Becomes one who may speak."""
    said = hello()
    connection.sendall(said)
    answer = hear(connection, 64)

    def code(role: bytes) -> bytes:
        return hmac.new(secret, role + said + answer[:32], hashlib.sha256).digest()

    assert answer[32:] == code(b"A")
    connection.sendall(code(b"I"))
    assert hear(connection, _CODE_BYTES) == code(b"W")


def frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def hear(connection: socket.socket, size: int) -> bytes:
    """So many bytes."""
    heard = b""
    while len(heard) < size:
        more = connection.recv(size - len(heard))
        assert more, f"it hung up after {heard!r}"
        heard += more
    return heard


def hear_out(connection: socket.socket) -> bytes:
    """All that it says until it hangs up."""
    heard = b""
    try:
        while more := connection.recv(4096):
            heard += more
    except ConnectionResetError:
        pass  # it did not want to read the rest
    return heard
