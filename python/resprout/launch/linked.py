"""Which MPI library a program will load, found without running it.

A program in C, C++ or Fortran names it; of one that does so through another library the loader
knows. For Python it is the one that mpi4py looks for (mpi4py/_mpiabi.py), whether or not the script
uses it.
"""

import mmap
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

OPEN_MPI = "libmpi.so.40"
CLASSIC = "libmpi.so.12"
STANDARD = "libmpi_abi.so.1"
SONAMES = (OPEN_MPI, CLASSIC, STANDARD)

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_SONAME = 1, 5, 14
_PYTHON = re.compile(r"python[0-9.]*")
_FOUND = re.compile(r"^\s*(libmpi(?:_abi)?\.so\.\d+) => (/\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Linked:
    """An MPI library."""

    soname: str
    path: Path | None
    """Nothing: the loader does not find it here."""
    is_dlopened: bool = False
    """It is the program that loads it, by a name that it has found itself."""


def linked(program: Sequence[str], environment: Mapping[str, str]) -> Linked | None:
    """That of this program. Nothing: it is not known, or there is none."""
    found = shutil.which(program[0])
    if found is None:
        return None
    path = Path(found)
    python = _python_of(path)
    if python is not None:
        return _for_python(python, environment)
    entries = read_dynamic(path)
    if entries is None:
        return None
    named = next((name for name in entries.needed if name in SONAMES), None)
    if named == OPEN_MPI:
        return Linked(named, None)
    return _as_loaded(path) or (Linked(named, None) if named else None)


@dataclass(frozen=True)
class Dynamic:
    """What the loader finds in a file."""

    needed: tuple[str, ...]
    soname: str | None


def read_dynamic(path: Path) -> Dynamic | None:
    """Nothing: it is no dynamic ELF file of 64 bits."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return _parse(data)
    except (OSError, ValueError, OverflowError, StopIteration, struct.error):
        return None


def _parse(data: mmap.mmap) -> Dynamic | None:
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", data, table + i * size) for i in range(count)]
    dynamic = next((one for one in segments if one[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return None
    entries = []
    for offset in range(dynamic[2], dynamic[2] + dynamic[5], 16):
        tag, value = struct.unpack_from("<QQ", data, offset)
        if tag == 0:
            break
        entries.append((tag, value))
    address = next(value for tag, value in entries if tag == _DT_STRTAB)
    begin = next(
        one[2] + address - one[3]
        for one in segments
        if one[0] == _PT_LOAD and one[3] <= address < one[3] + one[5]
    )

    def text(at: int) -> str:
        return data[begin + at : data.find(b"\0", begin + at)].decode(errors="replace")

    needed = tuple(text(value) for tag, value in entries if tag == _DT_NEEDED)
    soname = next((text(value) for tag, value in entries if tag == _DT_SONAME), None)
    return Dynamic(needed, soname)


def _as_loaded(program: Path) -> Linked | None:
    """As the loader says; it does not run the program."""
    try:
        done = subprocess.run(
            ["ldd", program], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = {name: Path(path) for name, path in _FOUND.findall(done.stdout)}
    return next((Linked(name, found[name]) for name in SONAMES if name in found), None)


def _python_of(path: Path) -> Path | None:
    """The Python that runs a program, if one does."""
    if _PYTHON.fullmatch(path.name):
        return path
    with path.open("rb") as file:
        line = file.readline(256)
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode(errors="replace").split()
    if words and Path(words[0]).name == "env":
        words = words[1:]
    if not words or not _PYTHON.fullmatch(Path(words[0]).name):
        return None
    found = shutil.which(words[0])
    return None if found is None else Path(found)


def _for_python(python: Path, environment: Mapping[str, str]) -> Linked | None:
    for path in _candidates(python, environment):
        entries = read_dynamic(path) if path.is_file() else None
        if entries is not None and entries.soname in SONAMES:
            return Linked(entries.soname, path.resolve(), is_dlopened=True)
    return None


def _candidates(python: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where mpi4py looks, in its order."""
    given = environment.get("MPI4PY_LIBMPI")
    if given:
        places = [Path(text).expanduser() for text in given.split(os.pathsep) if text]
    else:
        places = [python.absolute().parent.parent / "lib", Path.home() / ".local" / "lib"]
    for place in places:
        if place.is_dir():
            yield from (place / name for name in ("libmpi.so", CLASSIC, OPEN_MPI))
        else:
            yield place
