"""Which MPI library a program will load."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import make_program
from resprout.launch.linked import CLASSIC, OPEN_MPI, Linked, linked, read_dynamic


def library(folder: Path, file: str, soname: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    command = ["cc", "-shared", "-o", folder / file, f"-Wl,-soname,{soname}", "-x", "c", "-"]
    subprocess.run(command, input=b"int MPI_Init(void) { return 0; }", check=True)
    return folder / file


def program(path: Path, against: Path, *options: str) -> Path:
    command = ["cc", "-o", path, "-x", "c", "-", "-x", "none", against, *options]
    code = b"int MPI_Init(void); int main(void) { return MPI_Init(); }"
    subprocess.run(command, input=code, check=True)
    return path


def test_a_program_names_its_library_and_the_loader_finds_it(tmp_path: Path) -> None:
    mpi = library(tmp_path / "lib", CLASSIC, CLASSIC)
    made = program(tmp_path / "mine", mpi, f"-Wl,-rpath,{mpi.parent}")
    assert linked([str(made)], {}) == Linked(CLASSIC, mpi)


def test_a_library_that_the_loader_does_not_find_has_no_path(tmp_path: Path) -> None:
    made = program(tmp_path / "mine", library(tmp_path / "lib", CLASSIC, CLASSIC))
    assert linked([str(made)], {}) == Linked(CLASSIC, None)


def test_one_that_is_needed_by_another_library_is_found_too(tmp_path: Path) -> None:
    mpi = library(tmp_path / "lib", CLASSIC, CLASSIC)
    between = tmp_path / "lib" / "libsolver.so"
    code = b"int MPI_Init(void); int solve(void) { return MPI_Init(); }"
    command = ["cc", "-shared", "-o", between, "-Wl,-soname,libsolver.so", "-x", "c", "-"]
    command += ["-x", "none", mpi, f"-Wl,-rpath,{mpi.parent}"]
    subprocess.run(command, input=code, check=True)
    made = tmp_path / "mine"
    command = ["cc", "-o", made, "-x", "c", "-", "-x", "none", between, f"-Wl,-rpath,{mpi.parent}"]
    code = b"int solve(void); int main(void) { return solve(); }"
    subprocess.run(command, input=code, check=True)
    assert linked([str(made)], {}) == Linked(CLASSIC, mpi)


def test_a_program_without_mpi_and_a_text_have_none(tmp_path: Path) -> None:
    assert linked(["/bin/sh"], {}) is None
    assert linked([str(make_program(tmp_path / "script", "#!/bin/sh\n"))], {}) is None
    assert linked([str(tmp_path / "absent")], {}) is None


def test_what_is_no_elf_file_has_no_entries(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF", b"\x7fELF\x02\x01" + b"\xff" * 60):
        (tmp_path / "file").write_bytes(content)
        assert read_dynamic(tmp_path / "file") is None


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return make_program(tmp_path / "venv" / "bin" / "python3", "#!/bin/sh\n")


def test_a_python_gets_what_stands_in_its_own_folder(python: Path, tmp_path: Path) -> None:
    (tmp_path / "venv" / "lib").mkdir()
    (tmp_path / "venv" / "lib" / "libmpi.so").write_text("INPUT(libmpi.so.40)")
    mpi = library(tmp_path / "venv" / "lib", OPEN_MPI, OPEN_MPI)
    assert linked([str(python), "script.py"], {}) == Linked(OPEN_MPI, mpi, is_dlopened=True)


def test_what_mpi4py_is_told_goes_first(python: Path, tmp_path: Path) -> None:
    library(tmp_path / "venv" / "lib", OPEN_MPI, OPEN_MPI)
    mpi = library(tmp_path / "other", "libmpi.so", CLASSIC)
    for text in (str(mpi), str(mpi.parent), f"/nowhere:{mpi}"):
        found = linked([str(python)], {"MPI4PY_LIBMPI": text})
        assert found == Linked(CLASSIC, mpi, is_dlopened=True)


def test_a_script_is_run_by_the_python_of_its_first_line(python: Path, tmp_path: Path) -> None:
    mpi = library(tmp_path / "venv" / "lib", CLASSIC, CLASSIC)
    script = make_program(tmp_path / "script.py", f"#!{python}\n")
    assert linked([str(script)], {}) == Linked(CLASSIC, mpi, is_dlopened=True)
    script = make_program(tmp_path / "script.py", f"#!/usr/bin/env {sys.executable}\n")
    assert linked([str(script)], {"MPI4PY_LIBMPI": str(mpi)}) is not None
