"""The wheel has what works without the work tree, and nothing else."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from strangers import IS_COMPILED, ROOT

NATIVE = ["libresprout.so", "libresprout_launcher.so", "libresprout_sim.so", "resprout_start"]
FOR_OTHER_MPIS = ("libresprout_mpich.so", "libresprout_mpi_abi.so")
MPICH = ROOT / ".venv" / "mpis" / "mpich"
NATIVE += [name for name in FOR_OTHER_MPIS if (ROOT / "python" / "resprout" / name).exists()]


def test_the_wheel_is_for_every_python_and_every_linux_with_this_c_library(wheel):
    tags = rf"resprout-[\d.]+-py3-none-manylinux_2_\d+_{platform.machine()}"
    assert re.fullmatch(tags, wheel.stem)


def test_the_native_libraries_stand_beside_the_modules(unpacked):
    package = unpacked / "resprout"
    assert all((package / name).is_file() for name in NATIVE)
    modules = {path.name for path in (ROOT / "python" / "resprout").glob("*.py")}
    assert modules <= {path.name for path in package.iterdir()}


def test_no_mpi_is_carried(unpacked):
    libraries = {path.name for path in unpacked.rglob("*.so*")}
    assert libraries == {name for name in NATIVE if name.endswith(".so")}


def test_nothing_for_debuggers_is_carried(unpacked):
    for name in NATIVE:
        command = ["readelf", "-S", "-W", str(unpacked / "resprout" / name)]
        sections = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert ".text" in sections
        assert ".debug_" not in sections


def test_the_header_is_where_the_package_says(unpacked):
    code = "import resprout; print(resprout.include_directory())"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(unpacked)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (Path(done.stdout.strip()) / "resprout" / "resprout.h").is_file()


def test_the_simulator_of_the_wheel_can_be_loaded(unpacked):
    code = "from resprout import native; assert native.protocols(); print(native.__file__)"
    # -S keeps the editable install away.
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(unpacked)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(done.stdout.strip()).is_relative_to(unpacked)


def test_the_wheel_carries_nothing_but_the_package(unpacked):
    tops = {path.name for path in unpacked.iterdir()}
    assert {top.partition("-")[0] for top in tops} == {"resprout"}
    assert {Path(top).suffix for top in tops} == {"", ".dist-info", ".data"}


@pytest.mark.skipif(FOR_OTHER_MPIS[0] not in NATIVE, reason="`make mpis` builds what it is about")
def test_a_program_of_mpich_outlives_a_loss_under_the_wheel(fresh, tmp_path):
    program = tmp_path / "collectives"
    source = ROOT / "tests" / "mpi" / "other" / "collectives.c"
    subprocess.run([MPICH / "bin" / "mpicc", "-o", program, source], check=True)
    fault = "kill:rank=1,at=allreduce#5"
    done = fresh.resprout(
        "run", "-n", "3", "--inject", fault, "--", str(program), "allreduce", "50"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0 ok", "rank 2 ok"], done.stderr


@pytest.mark.skipif(not IS_COMPILED, reason="the build's own library has one: EVERY_CASE=1")
def test_no_path_of_the_build_stays_in_what_loads_the_mpi(unpacked):
    for name, folder in (("libresprout.so", "../../.."), ("demo_programs/pi", "../../../..")):
        command = ["readelf", "-d", str(unpacked / "resprout" / name)]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (runpath,) = (line for line in listing.splitlines() if "RUNPATH" in line)
        assert f"[$ORIGIN/{folder}]" in runpath
