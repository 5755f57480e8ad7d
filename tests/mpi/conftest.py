"""Tests here run real processes; they need what `make build` makes."""

import jobs
import pytest


def pytest_sessionstart() -> None:
    for needed in (jobs.SHIM, jobs.RESPROUT, jobs.MPIRUN):
        if not needed.exists():
            pytest.exit(f"{needed} is missing; `make build` makes it", returncode=1)
