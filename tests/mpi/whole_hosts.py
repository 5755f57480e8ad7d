"""Whole hosts that are lost: killed with all that runs there, or cut off.

Their jobs are started over a remote shell (remote_shell.py).
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import jobs
import namespaces
import remote_shell

HOSTS = "BCD"  # where the ranks are; the launcher is on A


@contextmanager
def shared(folder: Path) -> Iterator[None]:
    """With an agent in the folder that starts daemons. What was cut is healed afterwards."""
    with remote_shell.serving(namespaces.TOOL, folder):
        yield
        for host in HOSTS:
            heal(host)


def cut(host: str) -> None:
    """Off both networks, the launcher's and that of the data."""
    for link in ("data", "control"):
        subprocess.run([namespaces.TOOL, "cut", host, link], check=True)


def heal(host: str) -> None:
    for link in ("data", "control"):
        subprocess.run([namespaces.TOOL, "heal", host, link], check=True)


def processes_on(host: str) -> list[int]:
    said = subprocess.check_output([namespaces.TOOL, "pids", host], text=True)
    return [int(pid) for pid in said.split()]


def memory_of(host: str) -> set[str]:
    """The names in /dev/shm of what its processes share."""
    return set().union(*(jobs.mapped_files(pid) for pid in processes_on(host)))


def forget(names: set[str]) -> None:
    """Removes what is still there in /dev/shm, as it would be gone with its host."""
    for path in (Path("/dev/shm", name) for name in names):
        # What several hosts have in one folder, in here, is not one host's.
        if path.is_dir() and "." in path.name:
            shutil.rmtree(path, ignore_errors=True)
        with suppress(FileNotFoundError, IsADirectoryError):
            path.unlink()


def kill(*hosts: str) -> None:
    """All that runs there, the MPI's daemons too, and their memory; of several hosts at once."""
    mapped: set[str] = set()
    while pids := [pid for host in hosts for pid in processes_on(host)]:
        mapped |= set().union(*map(memory_of, hosts))
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    # Checkpoints stay when ranks have ended.
    for host in hosts:
        mapped |= {path.name for path in Path("/dev/shm").glob(f"resprout-*.node{host}")}
    forget(mapped)


def variables(folder: Path) -> dict[str, str]:
    return {
        "PRTE_MCA_plm_ssh_agent": str(folder / "agent"),
        "PRTE_MCA_prte_if_include": "10.78.0.0/24",
        "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/24",
        "RESPROUT_NETWORK": "10.77.0.0/24",
    }
