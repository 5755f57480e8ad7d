"""What ranks say, each line with the rank in front, as Open MPI's launcher has it with `--output
tag-fullname`: by that planes of replicas are told apart (planes/relay.py)."""

import os
from collections.abc import Iterator

_CHUNK = 64 * 1024


class Stream:
    """stdout or stderr of a rank, read from a pipe and written to ours."""

    def __init__(self, job: str, rank: int, to: int) -> None:
        """`to`: 1 or 2."""
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.reading, False)
        self._tag = f"[{job},{rank}]<{('stdout', 'stderr')[to - 1]}>: ".encode()
        self._to = to

    def pass_on(self) -> bool:
        """All that is there now. False: nothing more comes."""
        try:
            while chunk := os.read(self.reading, _CHUNK):
                text = memoryview(b"".join(tagged(self._tag, chunk)))
                while text:
                    text = text[os.write(self._to, text) :]
        except BlockingIOError:
            return True
        return False


def tagged(tag: bytes, chunk: bytes) -> Iterator[bytes]:
    """A line that ends in a later chunk is in two pieces, and each has a tag."""
    *whole, begun = chunk.split(b"\n")
    for line in whole:
        yield tag + line + b"\n"
    if begun:
        yield tag + begun
