"""Which ranks run without libresprout.so, so that the death of one is not survived.

The loader leaves out what it is to preload where there is no loader (static programs), where a
program has more rights than its user, and where a script has set LD_PRELOAD anew. The first two
are seen before the job starts, if the program is named itself; all while it runs, on this host.
"""

import mmap
import os
import re
import shutil
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PT_INTERP = 3
_BECOMES_THE_PROGRAM = "/resprout_start"
_LIBRARY = re.compile(r"/libresprout(_mpich)?\.so$", re.MULTILINE)
_MPI = re.compile(r"/libmpi\.so[.0-9]*$", re.MULTILINE)
OVERWRITTEN = "LD_PRELOAD did not reach it"
LINKED_STATICALLY = "it is statically linked"
_REMEDIES = {
    OVERWRITTEN: "let what starts it keep what it finds in LD_PRELOAD, as in "
    "LD_PRELOAD=mine.so:$LD_PRELOAD",
    LINKED_STATICALLY: "link it dynamically",
    "it is setuid or setgid": "run it without the s bit, as the user that it needs",
}


@dataclass(frozen=True)
class Unprotected:
    """A program into which nothing is preloaded."""

    path: str
    why: str

    def describe(self, who: str) -> str:
        return (
            f"{who} {self.path} without Resprout: {self.why}; the death of such a rank is not "
            f"survived; {_REMEDIES[self.why]}"
        )


def unprotected_program(program: Sequence[str]) -> Unprotected | None:
    """Of what is to be started, as far as it is on this host. Nothing: what it starts may be."""
    path = shutil.which(program[0])
    if path is None:
        return None
    status = Path(path).stat()
    takes_user = status.st_mode & stat.S_ISUID and status.st_uid != os.getuid()
    takes_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getgid()
    if takes_user or takes_group:
        return Unprotected(path, "it is setuid or setgid")
    return Unprotected(path, LINKED_STATICALLY) if _is_static_mpi(Path(path)) else None


def _is_static_mpi(path: Path) -> bool:
    """An ELF program that names no loader, and has MPI in it."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02" or len(head) < 64:
                return False
            at, size, count = (
                *struct.unpack_from("<Q", head, 32),
                *struct.unpack_from("<HH", head, 54),
            )
            file.seek(at)
            table = file.read(size * count)
            kinds = [struct.unpack_from("<I", table, i * size)[0] for i in range(count)]
            if _PT_INTERP in kinds:
                return False
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
                return contents.find(b"MPI_Init") >= 0
    except (OSError, ValueError, struct.error):
        return False


class Watch:
    """Looks at the ranks of a run directory that are on this host."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._protected: dict[int, str] = {}
        """By rank, the file of the program that has it preloaded."""
        self.found: dict[int, Unprotected] = {}

    def look(self) -> dict[int, Unprotected]:
        """Those that are found now."""
        new = {}
        for path in self._directory.glob("started-*"):
            rank = int(path.name.rpartition("-")[2] or -1)
            if rank in self.found or rank < 0:
                continue
            try:
                verdict = self._look_at(rank, path.read_text().split()[0])
            except (OSError, ValueError, IndexError):
                continue
            if verdict is not None:
                new[rank] = self.found[rank] = verdict
        return new

    def _look_at(self, rank: int, pid: str) -> Unprotected | None:
        executable = Path(f"/proc/{pid}/exe")
        program = str(executable.readlink())
        if self._protected.get(rank) == program or program.endswith(_BECOMES_THE_PROGRAM):
            return None
        maps = Path(f"/proc/{pid}/maps").read_text()
        if str(executable.readlink()) != program:  # of one that has become another one only a part
            return None
        if _LIBRARY.search(maps):
            self._protected[rank] = program
        elif _MPI.search(maps):  # what is preloaded is there before what a program needs
            return Unprotected(program, OVERWRITTEN)
        elif _is_static_mpi(Path(program)):
            return Unprotected(program, LINKED_STATICALLY)
        return None
