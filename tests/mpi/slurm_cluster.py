"""Slurm on this host alone: a controller, and a daemon for each of some nodes, which all are it.

    slurm_cluster.py COMMAND ARGUMENT...     runs a command there, as salloc, srun or sbatch

It needs slurmctld, slurmd and munged (Debian: slurm-wlm, munge), and root. Its files are in a
folder of its own; daemons are ended by their numbers, and nothing is left.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DAEMONS = ("slurmctld", "slurmd", "munged")
NODES = 3
CORES = 4
_SECONDS = 60
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

_CONFIGURATION = """
ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=5
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def missing() -> list[str]:
    """What keeps Slurm from running here."""
    lacking = [name for name in DAEMONS if shutil.which(name, path=_PATH) is None]
    return lacking if os.geteuid() == 0 else [*lacking, "root"]


class Cluster:
    """One that runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = [f"n{i}" for i in range(1, NODES + 1)]
        self.environment = os.environ | {
            "PATH": _PATH,
            "SLURM_CONF": str(folder / "slurm.conf"),
        }

    def run(self, *command: str | Path, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip

    def start(self) -> None:
        ports = _free_ports(1 + NODES)
        nodes = [
            f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 "
            f"Port={port} CPUs={CORES} RealMemory=1000"
            for name, port in zip(self.nodes, ports[1:], strict=True)
        ]
        text = _CONFIGURATION.format(
            host=socket.gethostname(),
            controller=ports[0],
            folder=self.folder,
            nodes="\n".join(nodes),
        )
        (self.folder / "slurm.conf").write_text(text)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self._daemon(
            "munged", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
            f"--seed-file={self.folder}/munged.seed",
        )  # fmt: skip
        (self.folder / "state").mkdir()
        self._daemon("slurmctld", "-f", str(self.folder / "slurm.conf"))
        _wait(lambda: "UP" in self.run("scontrol", "ping").stdout, "slurmctld answers")
        for node in self.nodes:
            (self.folder / f"spool.{node}").mkdir()
            self.restore(node)
        _wait(self.is_idle, "all nodes are idle")

    def is_idle(self) -> bool:
        states = self.run("sinfo", "--noheader", "--Node", "--format=%T").stdout.split()
        return states == ["idle"] * NODES

    def lose(self, node: str) -> list[int]:
        """What runs there is killed at once, its daemon first: what the loss of a host is."""
        lost = self._numbers(f"slurmd.{node}.pid")
        lost += self._processes_of(node)
        shared = {path for number in lost for path in _shared_by(number)}
        for number in lost:
            _signal(number, signal.SIGKILL)
        for path in shared:  # a host's memory is lost with it
            path.unlink(missing_ok=True)
        return lost

    def restore(self, node: str) -> None:
        """A node that was lost, or was never there, comes."""
        self._daemon("slurmd", "-f", str(self.folder / "slurm.conf"), "-N", node)

    def left(self) -> list[int]:
        """What still runs of a cluster that has stopped."""
        return [number for node in self.nodes for number in self._processes_of(node)]

    def stop(self) -> None:
        self.run("scancel", "--user=root")
        self.run("scancel", "--signal=KILL", "--user=root")
        daemons = [
            n for path in sorted(self.folder.glob("*.pid")) for n in self._numbers(path.name)
        ]
        steps = [number for node in self.nodes for number in self._processes_of(node)]
        for number in daemons:
            _signal(number, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and any(_signal(number, 0) for number in daemons):
            time.sleep(0.05)
        for number in [*daemons, *steps]:
            _signal(number, signal.SIGKILL)

    def _daemon(self, *command: str) -> None:
        done = self.run(*command)
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]} does not start: {done.stderr}")

    def _numbers(self, name: str) -> list[int]:
        path = self.folder / name
        text = path.read_text().strip() if path.exists() else ""
        return [int(text)] if text.isdigit() else []

    def _processes_of(self, node: str) -> list[int]:
        """Those that Slurm has started for that node, by their environment and their command."""
        found = []
        configuration = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for path in Path("/proc").glob("[0-9]*"):
            try:
                variables = (path / "environ").read_bytes().split(b"\0")
                words = (path / "cmdline").read_bytes()
            except OSError:
                continue
            of_node = f"SLURMD_NODENAME={node}".encode() in variables
            is_step = words.startswith(b"slurmstepd") and node.encode() in words
            if configuration in variables and (of_node or is_step):
                found.append(int(path.name))
        return found


@contextmanager
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        made = Cluster(Path(folder))
        try:
            made.start()
            yield made
        finally:
            made.stop()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _shared_by(number: int) -> set[Path]:
    """What a process, and those that it has started, share with others of their node."""
    found = set()
    with suppress(OSError):
        maps = Path(f"/proc/{number}/maps").read_text()
        found = {Path(path) for path in re.findall(r"/dev/shm/(?:mpich_shm|sm_segment)\S+", maps)}
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        found.update(*(_shared_by(int(child)) for child in children))
    return found


def _signal(number: int, which: int) -> bool:
    """False: there is no such process any more."""
    try:
        os.kill(number, which)
    except ProcessLookupError:
        return False
    return True


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not after {_SECONDS} s: {what}")
        time.sleep(0.2)


def main() -> int:
    if lacking := missing():
        print(f"slurm_cluster: needs {', '.join(lacking)}", file=sys.stderr)
        return 2
    with cluster() as made:
        return subprocess.run(
            sys.argv[1:] or ["sinfo"], env=made.environment, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
