"""Copies the output of all planes to ours, each line once (lines.py says which).

The launchers tag every line with its rank; what has no tag is the launcher's own, and is kept until
we know whether the plane's end was the job's.
"""

import os
import re
import selectors
import threading
from collections import defaultdict
from collections.abc import Iterator

from resprout.launch.planes.lines import Key, Lines

_CHUNK = 64 * 1024
_STREAMS = ("stdout", "stderr")
# As Open MPI 5 writes it for `--output tag`.
_TAG = re.compile(rb"\[\d+,(\d+)\]<(stdout|stderr)>: ?")


class Tagged:
    """Takes what a launcher says apart."""

    def __init__(self) -> None:
        self._rest = b""
        self._begun: defaultdict[Key, bytes] = defaultdict(bytes)

    def take(self, chunk: bytes) -> Iterator[tuple[Key | None, bytes]]:
        """The lines that are whole now and whose they are; nobody's are the launcher's own."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            yield from self._take_line(line + b"\n")

    def take_end(self) -> Iterator[tuple[Key | None, bytes]]:
        """The last lines, whose ends never came."""
        yield from self._take_line(self._rest)
        for key, text in self._begun.items():
            if text:
                yield key, text
        self._rest = b""
        self._begun.clear()

    def _take_line(self, line: bytes) -> Iterator[tuple[Key | None, bytes]]:
        # What a rank says last may have no line end; then the tag of another one follows.
        own, *rest = _TAG.split(line)
        if own:
            yield None, own
        for rank, stream, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            key = (int(rank), stream.decode())
            whole = self._begun.pop(key, b"") + text
            if whole.endswith(b"\n"):
                yield key, whole
            elif whole:
                self._begun[key] = whole


class Relay:
    """The pipes of all planes, read on a thread of their own from `start` to `join`."""

    def __init__(self, planes: int, descriptors: dict[str, int] | None = None) -> None:
        """`descriptors`: where "stdout" and "stderr" go; ours without it."""
        self._out = descriptors or {"stdout": 1, "stderr": 2}
        self._lock = threading.Lock()
        self._lines = Lines(planes)
        self._own = [bytearray() for _ in range(planes)]
        self._tagged = [{stream: Tagged() for stream in _STREAMS} for _ in range(planes)]
        self._pipes = [{stream: os.pipe() for stream in _STREAMS} for _ in range(planes)]
        self._drained = [threading.Event() for _ in range(planes)]
        self._thread = threading.Thread(target=self._copy, daemon=True)

    def writing_end(self, plane: int, stream: str) -> int:
        """For the plane's launcher."""
        return self._pipes[plane][stream][1]

    def start(self) -> None:
        """All launchers are started."""
        for pipes in self._pipes:
            for _, writing in pipes.values():
                os.close(writing)
        self._thread.start()

    def lose(self, plane: int) -> None:
        """What the plane has not said yet, others say. REQUIRES: all its processes have ended."""
        self._drained[plane].wait()
        with self._lock:
            for (_, stream), text in self._lines.lose(plane):
                self._write(stream, text)

    def finish(self, plane: int) -> None:
        """The plane came to its end. REQUIRES: all its processes have ended."""
        self._drained[plane].wait()
        with self._lock:
            for tagged in self._tagged[plane].values():
                for key, line in tagged.take_end():
                    self._take(plane, key, line)

    def own_words(self, plane: int) -> bytes:
        """What its launcher said of itself. REQUIRES: all the plane's processes have ended."""
        self._drained[plane].wait()
        with self._lock:
            return bytes(self._own[plane])

    def join(self) -> None:
        self._thread.join()

    def _copy(self) -> None:
        selector = selectors.DefaultSelector()
        open_pipes = [len(pipes) for pipes in self._pipes]
        for plane, pipes in enumerate(self._pipes):
            for stream, (reading, _) in pipes.items():
                selector.register(reading, selectors.EVENT_READ, (plane, stream))
        while selector.get_map():
            for key, _ in selector.select():
                plane, stream = key.data
                if chunk := os.read(key.fd, _CHUNK):
                    with self._lock:
                        for whose, line in self._tagged[plane][stream].take(chunk):
                            self._take(plane, whose, line)
                    continue
                selector.unregister(key.fd)
                os.close(key.fd)
                open_pipes[plane] -= 1
                if open_pipes[plane] == 0:
                    self._drained[plane].set()

    def _take(self, plane: int, key: Key | None, line: bytes) -> None:
        if key is None:
            self._own[plane] += line
        elif text := self._lines.take(plane, key, line):
            self._write(key[1], text)

    def _write(self, stream: str, text: bytes) -> None:
        view = memoryview(text)
        try:
            while view:
                view = view[os.write(self._out[stream], view) :]
        except OSError:
            # Whoever read it has seen enough; the job goes on, as it does under mpirun.
            self._out[stream] = os.open(os.devnull, os.O_WRONLY)
