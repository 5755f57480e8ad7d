"""Copies the output of all planes to ours, each line once (lines.py says which, or first_lines.py).

The launchers tag every line with its rank; what has no tag is the launcher's own, and is kept until
we know whether the plane's end was the job's.
"""

import os
import queue
import re
import selectors
import threading
from collections import defaultdict
from collections.abc import Iterator

from resprout.launch.planes.first_lines import FirstLines
from resprout.launch.planes.lines import Key, Lines, Marker
from resprout.launch.planes.voted_lines import Difference, VotedLines

_CHUNK = 64 * 1024
_STREAMS = ("stdout", "stderr")
# As Open MPI 5 writes it for `--output tag-fullname`: the job, which no other has the name of, and
# the rank.
_TAG = rb"\[(%s),(\d+)\]<(stdout|stderr)>: ?"
_FIRST_TAG = re.compile(_TAG % rb"[^\s\[\],]+")
# As a rank writes it when a plane is back: where it meets the others. Its line goes on behind it.
_MARKER = rb"\x1eresprout-return %s/return-(\d+)\n\Z"


class Tagged:
    """Takes what a launcher says apart. What a rank says stays as it is, whatever it looks like."""

    def __init__(self, number: int = 0, directory: str = "") -> None:
        """`number`: of its own marker, before which nothing counts. `directory`: of the run."""
        self._number = number
        self._marker = re.compile(_MARKER % re.escape(directory.encode()))
        self._tag: re.Pattern[bytes] | None = None
        self._rest = b""
        self._begun: defaultdict[Key, bytes] = defaultdict(bytes)

    def take(self, chunk: bytes) -> Iterator[tuple[Key | None, bytes | Marker]]:
        """What is whole now, and whose it is; nobody's lines are the launcher's own."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            yield from self._take_line(line + b"\n")

    def take_end(self) -> Iterator[tuple[Key | None, bytes | Marker]]:
        """The last lines, whose ends never came."""
        yield from self._take_line(self._rest)
        for key, text in self._begun.items():
            if text:
                yield key, text
        self._rest = b""
        self._begun.clear()

    def _take_line(self, line: bytes) -> Iterator[tuple[Key | None, bytes | Marker]]:
        if self._tag is None:
            if not (first := _FIRST_TAG.match(line)):
                if line:
                    yield None, line
                return
            self._tag = re.compile(_TAG % re.escape(first[1]))
        # What a rank says last may have no line end; then the tag of another one follows.
        own, *rest = self._tag.split(line)
        if own:
            yield None, own
        for rank, stream, text in zip(rest[1::4], rest[2::4], rest[3::4], strict=True):
            key = (int(rank), stream.decode())
            whole = self._begun.pop(key, b"") + text
            if match := self._marker.search(whole):
                number = int(match[1])
                begun = b"" if number == self._number else whole[: match.start()]
                self._begun[key] = begun
                yield key, Marker(number, begun)
            elif whole.endswith(b"\n"):
                yield key, whole
            elif whole:
                self._begun[key] = whole


class _Copy:
    """What one launch of a plane says."""

    def __init__(self, number: int, directory: str) -> None:
        self.pipes = {stream: os.pipe() for stream in _STREAMS}
        self.tagged = {stream: Tagged(number, directory) for stream in _STREAMS}
        self.own = bytearray()
        self.is_started = False
        self.open_pipes = len(_STREAMS)
        self.is_drained = threading.Event()

    def begun(self) -> dict[Key, bytes]:
        """Lines that have no end, now that nothing comes any more."""
        found: dict[Key, bytes] = {}
        for tagged in self.tagged.values():
            for key, text in tagged.take_end():
                if key is not None and isinstance(text, bytes):
                    found[key] = text
                elif isinstance(text, bytes):
                    self.own += text
        return found


class Relay:
    """The pipes of all launches, read on a thread of their own from `start` to `join`."""

    def __init__(
        self,
        planes: int,
        directory: str,
        descriptors: dict[str, int] | None = None,
        stands_in: bool = False,
        voted: VotedLines | None = None,
    ) -> None:
        """`directory`: of the run. `descriptors`: where "stdout" and "stderr" go; ours without it.
        `stands_in`: no plane leads, and none is started again. `voted`: decides what of stdout is
        shown."""
        self._out = descriptors or {"stdout": 1, "stderr": 2}
        self._lock = threading.Lock()
        self._voted = voted
        self._lines: Lines | FirstLines = FirstLines(planes) if stands_in else Lines(planes)
        if voted is not None:
            self._lines = voted
        self._directory = directory
        self._copies = [_Copy(0, directory) for _ in range(planes)]
        self._started: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._bell, self._rope = os.pipe()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def add(self, number: int) -> int:
        """A plane is to be started again, as that start again of the job: its index, as those of
        the planes are for their first launches."""
        assert isinstance(self._lines, Lines)
        with self._lock:
            self._copies.append(_Copy(number, self._directory))
            return self._lines.add(number)

    def writing_end(self, index: int, stream: str) -> int:
        """For the launcher."""
        return self._copies[index].pipes[stream][1]

    def start(self) -> None:
        """All launchers that there are now are started."""
        for index, copy in enumerate(self._copies):
            if copy.is_started:
                continue
            copy.is_started = True
            for _, writing in copy.pipes.values():
                os.close(writing)
            self._started.put(index)
        os.write(self._rope, b".")
        if not self._thread.ident:
            self._thread.start()

    def lose(self, index: int) -> None:
        """What it has not said yet, others say. REQUIRES: all its processes have ended."""
        self._copies[index].is_drained.wait()
        with self._lock:
            for (_, stream), text in self._lines.lose(index, self._copies[index].begun()):
                self._write(stream, text)

    def finish(self, index: int) -> None:
        """It came to its end. REQUIRES: all its processes have ended."""
        self._copies[index].is_drained.wait()
        with self._lock:
            for (_, stream), text in self._lines.finish(index, self._copies[index].begun()):
                self._write(stream, text)

    def lose_rank(self, index: int, rank: int) -> None:
        """The copy goes on without it."""
        if self._voted is not None:
            with self._lock:
                for (_, stream), text in self._voted.lose_rank(index, rank):
                    self._write(stream, text)

    def take_differences(self) -> list[Difference]:
        """Between copies, that were found since it was asked last."""
        if self._voted is None:
            return []
        with self._lock:
            found, self._voted.differences = self._voted.differences, []
        return found

    def own_words(self, index: int) -> bytes:
        """What its launcher said of itself. REQUIRES: all its processes have ended."""
        self._copies[index].is_drained.wait()
        with self._lock:
            return bytes(self._copies[index].own)

    def join(self) -> None:
        """REQUIRES: all that were started have ended, and none is started any more."""
        os.close(self._rope)
        self._thread.join()

    def _read(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._bell, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                if key.fd == self._bell:
                    self._read_started(selector)
                else:
                    index, stream = key.data
                    self._take(index, stream, chunk)

    def _read_started(self, selector: selectors.BaseSelector) -> None:
        while not self._started.empty():
            index = self._started.get()
            for stream, (reading, _) in self._copies[index].pipes.items():
                selector.register(reading, selectors.EVENT_READ, (index, stream))

    def _take(self, index: int, stream: str, chunk: bytes) -> None:
        """The next of it; nothing: its end."""
        copy = self._copies[index]
        if not chunk:
            copy.open_pipes -= 1
            if copy.open_pipes == 0:
                copy.is_drained.set()
            return
        with self._lock:
            for key, said in copy.tagged[stream].take(chunk):
                if key is not None:
                    self._write(key[1], self._lines.take(index, key, said))
                elif isinstance(said, bytes):
                    copy.own += said

    def _write(self, stream: str, text: bytes) -> None:
        view = memoryview(text)
        try:
            while view:
                view = view[os.write(self._out[stream], view) :]
        except OSError:
            # Whoever read it has seen enough; the job goes on, as it does under mpirun.
            self._out[stream] = os.open(os.devnull, os.O_WRONLY)
