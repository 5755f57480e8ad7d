"""Programs in C and Fortran are built against what `cmake --install` has installed, by CMake and by
pkg-config, and run."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from strangers import ROOT

BIN = Path(sys.executable).parent
BUILD = ROOT / "build" / "release"
PROJECT = Path(__file__).parent / "project"
GFORTRAN = shutil.which("gfortran")
has_module = (BUILD / "fortran_modules" / "resprout.mod").exists()

needs_pkg_config = pytest.mark.skipif(
    shutil.which("pkg-config") is None, reason="no pkg-config in the PATH"
)
needs_fortran = pytest.mark.skipif(
    GFORTRAN is None or not has_module, reason="no gfortran in the PATH when it was built, or now"
)


def run(*words: object, **variables: str) -> str:
    done = subprocess.run(
        [str(word) for word in words], env={**os.environ, **variables},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("prefix")
    run(BIN / "cmake", "--install", BUILD, "--prefix", folder, "--strip")
    return folder


@pytest.fixture(scope="module")
def by_cmake(prefix, tmp_path_factory) -> Path:
    """Where a user's CMake has built the project."""
    folder = tmp_path_factory.mktemp("build")
    run(
        BIN / "cmake", "-S", PROJECT, "-B", folder, "-G", "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DMPI_C_COMPILER={BIN / 'mpicc'}",
        f"-DWITH_FORTRAN={'ON' if GFORTRAN and has_module else 'OFF'}",
    )  # fmt: skip
    run(BIN / "cmake", "--build", folder)
    return folder


def flags(prefix: Path, name: str) -> list[str]:
    (folder,) = prefix.rglob("pkgconfig")
    asked = run("pkg-config", "--cflags", "--libs", name, PKG_CONFIG_PATH=str(folder))
    return shlex.split(asked)


def of_the_mpi() -> list[str]:
    return shlex.split(run(BIN / "mpicc", "--showme:link"))


def libraries(prefix: Path) -> Path:
    (found,) = prefix.rglob("libresprout.so")
    return found.parent


def check_that_it_outlives_a_rank(program: Path) -> None:
    fault = "kill:rank=0,at=allreduce#2"
    said = run(BIN / "resprout", "run", "-n", "4", "--inject", fault, "--", program)
    assert said.split("\n")[0] == "sum 3 of 3"


def check_that_it_runs_without_the_command(program: Path, **variables: str) -> None:
    said = run(BIN / "mpirun", "-n", "2", "--oversubscribe", program, **variables)
    assert said.split("\n")[0] == "sum 2 of 2"


def test_a_program_of_cmake_outlives_a_rank(by_cmake):
    check_that_it_outlives_a_rank(by_cmake / "contributors_c")


def test_a_program_that_is_linked_with_resprout_needs_no_command(by_cmake):
    check_that_it_runs_without_the_command(by_cmake / "contributors_c")


def test_a_member_needs_no_mpi(by_cmake):
    needed = run("readelf", "-d", by_cmake / "member")
    assert "libresprout_sim.so" in needed
    assert "libmpi" not in needed
    assert '"event":"view"' in run(by_cmake / "member").replace(" ", "")


@needs_fortran
def test_a_program_in_fortran_of_cmake_outlives_a_rank(by_cmake):
    check_that_it_outlives_a_rank(by_cmake / "contributors_f")


@needs_pkg_config
def test_a_program_of_pkg_config_outlives_a_rank(prefix, tmp_path):
    program = tmp_path / "program"
    found = flags(prefix, "resprout")
    run(BIN / "mpicc", PROJECT / "contributors.c", "-o", program, *found)
    check_that_it_outlives_a_rank(program)


@needs_pkg_config
@needs_fortran
def test_a_program_in_fortran_of_pkg_config_outlives_a_rank(prefix, tmp_path):
    program = tmp_path / "program"
    found = flags(prefix, "resprout-fortran")
    source = PROJECT / "contributors.f90"
    run(GFORTRAN, source, f"-J{tmp_path}", "-o", program, *found, *of_the_mpi())
    check_that_it_outlives_a_rank(program)


@needs_pkg_config
def test_the_version_is_said_alike_everywhere(prefix):
    (folder,) = prefix.rglob("pkgconfig")
    version = run("pkg-config", "--modversion", "resprout", PKG_CONFIG_PATH=str(folder)).strip()
    assert run(BIN / "resprout", "--version") == f"resprout {version}\n"
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


def test_nothing_of_the_build_is_named_in_what_others_read(prefix):
    texts = [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]
    assert texts
    assert not [path.name for path in texts if str(ROOT) in path.read_text()]
