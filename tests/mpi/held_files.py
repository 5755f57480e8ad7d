"""A folder with one file, `held`, that is not closed before a test says so.

It is a file system of this process's own (FUSE): a close asks it whether all is written, and gets
no answer. So a process that has the file and is killed does not end, though it runs no more.
"""

import ctypes
import os
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

NAME = "held"

# As <linux/fuse.h> has them.
_LOOKUP, _FORGET, _GETATTR, _OPEN, _STATFS, _RELEASE = 1, 2, 3, 14, 17, 18
_FLUSH, _INIT, _BATCH_FORGET = 25, 26, 42
_HEAD = struct.Struct("<IIQQIIII")
_ANSWER = struct.Struct("<IiQ")
_ROOT, _FILE = 1, 2
_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)


def _attributes(node: int) -> bytes:
    mode = stat.S_IFDIR | 0o755 if node == _ROOT else stat.S_IFREG | 0o644
    return struct.pack("<6Q3I7I", node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class _Files:
    def __init__(self, device: int) -> None:
        self._device = device
        self._lock = threading.Lock()
        self._held: list[int] | None = []
        self.is_asked = False
        """Somebody waits for the end of a close, or has."""

    def let_go(self) -> None:
        """From now on all closes end, and those that wait do."""
        with self._lock:
            held, self._held = self._held or [], None
        for unique in held:
            self._answer(unique, b"")

    def serve(self) -> None:
        with suppress(OSError):  # it is not mounted any more
            while True:
                request = os.read(self._device, 1 << 20)
                _, code, unique, node, *_ = _HEAD.unpack_from(request)
                self._handle(code, unique, node, request[_HEAD.size :])

    def _handle(self, code: int, unique: int, node: int, rest: bytes) -> None:
        answers: dict[int, Callable[[], bytes]] = {
            _INIT: lambda: struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 8, 8, 65536, 1, 1, 0, *[0] * 8),
            _LOOKUP: lambda: struct.pack("<4Q2I", _FILE, 0, 1, 1, 0, 0) + _attributes(_FILE),
            _GETATTR: lambda: struct.pack("<Q2I", 1, 0, 0) + _attributes(node),
            _OPEN: lambda: struct.pack("<Q2I", 1, 0, 0),
            _STATFS: lambda: bytes(80),
            _RELEASE: lambda: b"",
        }
        if code in (_FORGET, _BATCH_FORGET):
            return
        if code == _FLUSH:
            self._flush(unique)
        elif code == _LOOKUP and rest != NAME.encode() + b"\0":
            self._answer(unique, b"", -2)
        elif code in answers:
            self._answer(unique, answers[code]())
        else:
            self._answer(unique, b"", -38)

    def _flush(self, unique: int) -> None:
        with self._lock:
            is_held = self._held is not None
            if self._held is not None:
                self._held.append(unique)
        if is_held:
            self.is_asked = True
        else:
            self._answer(unique, b"")

    def _answer(self, unique: int, what: bytes, error: int = 0) -> None:
        with suppress(OSError):
            os.write(self._device, _ANSWER.pack(_ANSWER.size + len(what), error, unique) + what)


@contextmanager
def mounted(folder: Path) -> Iterator[_Files]:
    """There. Skips the test where that cannot be."""
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        pytest.skip("no /dev/fuse")
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if _libc.mount(b"held", os.fsencode(folder), b"fuse", 0, options) != 0:
        os.close(device)
        pytest.skip("needs a user who may mount")
    files = _Files(device)
    serving = threading.Thread(target=files.serve, daemon=True)
    serving.start()
    try:
        yield files
    finally:
        files.let_go()
        _libc.umount2(os.fsencode(folder), _MNT_DETACH)
        os.close(device)
        serving.join(10)
