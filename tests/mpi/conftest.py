"""Tests here run real processes; they need what `make build` makes."""

from collections.abc import Iterator
from pathlib import Path

import jobs
import namespaces
import pytest
import whole_hosts


def pytest_sessionstart() -> None:
    for needed in (jobs.SHIM, jobs.RESPROUT, jobs.MPIRUN):
        if not needed.exists():
            pytest.exit(f"{needed} is missing; `make build` makes it", returncode=1)


@pytest.fixture(scope="module")
def four_hosts() -> Iterator[None]:
    """The launcher's, and those of whole_hosts.py."""
    with namespaces.up(len(whole_hosts.HOSTS) + 1):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Hosts as of `four_hosts` all see it."""
    with whole_hosts.shared(tmp_path):
        yield tmp_path
