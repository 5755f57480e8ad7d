"""Several hosts, which are network namespaces of this one: needs root and iproute2.

They are called A, B, C and so on. On the network that may be cut A has the address 10.77.0.1.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# The tool that makes the hosts is kept beside the work tree, or where HOSTS_TOOL says.
TOOL = Path(
    os.environ.get("HOSTS_TOOL", Path(__file__).resolve().parents[2] / "shared" / "tools" / "hosts")
)


@contextmanager
def up(count: int) -> Iterator[None]:
    """So many hosts as long as the block lasts; the test is skipped where they cannot be made."""
    if not TOOL.exists():
        pytest.skip(f"{TOOL} is not there")
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making hosts needs root and iproute2")
    # There is one set of hosts on a machine: who wants it meanwhile waits.
    with TOOL.open() as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        spaces = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True)
        if "rsw" in spaces.stdout:
            pytest.skip("somebody else's hosts are up")
        patch.setenv("HOSTS_STATE", str(Path(tempfile.gettempdir()) / f"hosts-{os.getpid()}"))
        subprocess.run([TOOL, "up", str(count)], check=True)
        try:
            yield
        finally:
            subprocess.run([TOOL, "down"], check=True)


def cut(*hosts: str, network: str = "data") -> None:
    """Each of them from all others; what runs on one of them goes on there.

    `network`: `control` is the one of the launcher's daemons.
    """
    for host in hosts:
        subprocess.run([TOOL, "cut", host, network], check=True)


def heal(*hosts: str, network: str = "data") -> None:
    for host in hosts:
        subprocess.run([TOOL, "heal", host, network], check=True)


def address(host: str) -> str:
    return f"10.77.0.{ord(host) - ord('A') + 1}"
