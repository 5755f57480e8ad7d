"""The kernel's word of processes that have ended, as launchers hear it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from resprout.launch.lives.deaths import Deaths
from resprout.launch.processes import wait_for


@pytest.fixture(autouse=True)
def _without_sigchld() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def watched(deaths: Deaths) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(["sleep", "600"])
    deaths.watch(process.pid)
    return process


def descriptors_of_processes() -> list[int]:
    found = []
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if "pidfd" in str(path.readlink()):
                found.append(int(path.name))
    return found


def test_all_deaths_are_news_also_if_a_child_still_has_the_descriptor_of_the_first() -> None:
    deaths = Deaths()
    first = watched(deaths)
    copies = [os.dup(descriptor) for descriptor in descriptors_of_processes()]
    first.kill()
    assert wait_for(deaths.has_news, 60)
    second = watched(deaths)
    second.kill()
    assert wait_for(deaths.has_news, 60)
    for process in (first, second):
        process.wait()
    for copy in copies:
        os.close(copy)
