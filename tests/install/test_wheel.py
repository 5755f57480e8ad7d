"""`pip install .` gives a package that works without the work tree."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
IS_COMPILED = os.environ.get("EVERY_CASE", "") not in ("", "0")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder into which the wheel was unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    # What is looked at here is what a wheel carries. `make soak` has it compiled once more.
    if not IS_COMPILED:
        built = ROOT / "python" / "resprout"
        command += [f"--config-settings=cmake.define.RESPROUT_PREBUILT={built}"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("resprout-*-py3-none-*.whl")  # for every Python
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_native_libraries_stand_beside_the_modules(installed):
    package = installed / "resprout"
    assert (package / "libresprout.so").is_file()
    assert (package / "libresprout_launcher.so").is_file()
    assert (package / "libresprout_sim.so").is_file()
    assert (package / "resprout_start").is_file()
    modules = {path.name for path in (ROOT / "python" / "resprout").glob("*.py")}
    assert modules <= {path.name for path in package.iterdir()}


def test_the_header_is_where_the_package_says(installed):
    code = "import resprout; print(resprout.include_directory())"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (Path(done.stdout.strip()) / "resprout" / "resprout.h").is_file()


def test_the_simulator_of_the_wheel_can_be_loaded(installed):
    code = "from resprout import native; assert native.protocols(); print(native.__file__)"
    # -S keeps the editable install away.
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(done.stdout.strip()).is_relative_to(installed)


def test_the_wheel_carries_nothing_but_the_package(installed):
    tops = {path.name for path in installed.iterdir()}
    assert tops == {"resprout", next(top for top in tops if top.endswith(".dist-info"))}


@pytest.mark.skipif(not IS_COMPILED, reason="the build's own library has one: EVERY_CASE=1")
def test_no_path_of_the_build_stays_in_the_shim(installed):
    listing = subprocess.run(
        ["readelf", "-d", str(installed / "resprout" / "libresprout.so")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (runpath,) = (line for line in listing.splitlines() if "RUNPATH" in line)
    assert "[$ORIGIN/../../..]" in runpath
