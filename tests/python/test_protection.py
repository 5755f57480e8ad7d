"""Who runs without Resprout is found, and nobody else."""

import struct
import subprocess
import sys
from pathlib import Path

from resprout.launch.protection import LINKED_STATICALLY, OVERWRITTEN, Watch, unprotected_program

PT_LOAD, PT_INTERP = 1, 3


def elf(path: Path, kinds: list[int], contents: bytes) -> Path:
    head = b"\x7fELF\x02\x01\x01".ljust(32, b"\0") + struct.pack(
        "<QQIHHHHHH", 64, 0, 0, 64, 56, len(kinds), 0, 0, 0
    )
    path.write_bytes(
        head + b"".join(struct.pack("<I", kind).ljust(56, b"\0") for kind in kinds) + contents
    )
    path.chmod(0o755)
    return path


def test_a_static_program_with_mpi_in_it_is_unprotected(tmp_path: Path) -> None:
    found = unprotected_program([str(elf(tmp_path / "a", [PT_LOAD], b"\0MPI_Init\0"))])
    assert found is not None and found.why == LINKED_STATICALLY
    line = found.describe("all ranks run")
    assert "\n" not in line and str(tmp_path / "a") in line and "link it dynamically" in line


def test_a_dynamic_program_a_static_one_without_mpi_and_a_script_are_not(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nMPI_Init\n")
    script.chmod(0o755)
    dynamic = elf(tmp_path / "dynamic", [PT_LOAD, PT_INTERP], b"\0MPI_Init\0")
    without = elf(tmp_path / "without", [PT_LOAD], b"nothing of it")
    short = tmp_path / "short"
    short.write_bytes(b"\x7fELF\x02")
    short.chmod(0o755)
    for program in (script, dynamic, without, short, Path(sys.executable)):
        assert unprotected_program([str(program)]) is None


def look_at(directory: Path, *preloaded: Path) -> tuple[Watch, subprocess.Popen[bytes]]:
    """A process that has these mapped, and is rank 3 of the run directory."""
    code = (
        "import mmap, os, sys\n"
        "files = [os.open(name, os.O_RDONLY) for name in sys.argv[1:]]\n"
        "maps = [mmap.mmap(file, 0, access=mmap.ACCESS_READ) for file in files]\n"
        "print(flush=True)\n"
        "sys.stdin.read()\n"
    )
    words = [sys.executable, "-c", code, *map(str, preloaded)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n"
    (directory / "started-3").write_text(f"{process.pid}\n")
    return Watch(directory), process


def library(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(b"x")
    return path


def test_a_rank_that_has_mpi_and_not_resprout_is_named_once(tmp_path: Path) -> None:
    watch, process = look_at(tmp_path, library(tmp_path, "libmpi.so.40"))
    with process:
        found = watch.look()
        assert found[3].why == OVERWRITTEN and "LD_PRELOAD" in found[3].describe("rank 3 runs")
        assert watch.look() == {} and watch.found == found
        process.kill()


def test_a_rank_that_has_both_or_no_mpi_is_not(tmp_path: Path) -> None:
    both = [library(tmp_path, "libmpi.so.40"), library(tmp_path, "libresprout.so")]
    for preloaded in (both, []):
        watch, process = look_at(tmp_path, *preloaded)
        with process:
            assert watch.look() == {}
            process.kill()
