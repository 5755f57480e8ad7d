"""Asks the hosts of all planes who they are, before anything of the job is started there.

Two names in a host file may be one machine: its loss would be that of two planes. And what becomes
of a plane is known by what its ranks leave in the run directory, which each host has to see.
"""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.launch import processes
from resprout.launch.command import Plan
from resprout.launch.planes.placement import host_of

# As many seconds as a host that is started from sleep, or a slow directory service, may take.
_SECONDS_MAX = 120.0
_MARK = "resprout-host"
# $0 is a file in the run directory.
_ASK = f"""\
read -r boot </proc/sys/kernel/random/boot_id
if [ -e "$0" ]; then sees=sees; else sees=misses; fi
net=$(readlink /proc/self/ns/net)
echo "{_MARK} ${{PMIX_HOSTNAME:--}} $(uname -n) $boot ${{net:--}} $sees"
"""


@dataclass(frozen=True)
class Host:
    """What a host says of itself."""

    name: str
    """As the launcher calls it."""
    own_name: str
    boot: str
    """Of its kernel: containers of one machine have the same."""
    network: str
    """Its network namespace."""
    sees_run_directory: bool

    @property
    def identity(self) -> tuple[str, str, str]:
        """One host has one, whatever it is called; as runtime/lifeline/peer_address.cpp has it."""
        return self.boot, self.own_name, self.network


def survey(plans: Sequence[Plan], directory: Path) -> list[list[Host]]:
    """The hosts of each plane, in no order. Raises UserError if one cannot be asked.

    REQUIRES: each plan has a host file of its own, `directory` has a file `secret`.
    """
    questions = [_Question(plan, directory / f"asked-{i}") for i, plan in enumerate(plans)]
    deadline = time.monotonic() + _SECONDS_MAX
    try:
        return [question.answers(deadline - time.monotonic()) for question in questions]
    finally:
        for question in questions:
            question.process.kill()
            question.process.wait()


def check(hosts: Sequence[Sequence[Host]], run_directory: Path, may_share: bool) -> str | None:
    """Refuse hosts on which replicas would not protect. What else is to be said of them."""
    blind = [host.name for plane in hosts for host in plane if not host.sees_run_directory]
    if blind:
        raise UserError(
            f"{', '.join(blind)} cannot see {run_directory}, where ranks leave what became of "
            "them; name a folder that all hosts share with --run-dir"
        )
    shared = _in_several(hosts, lambda host: host.identity)
    if shared and may_share:
        return (
            f"replicas of a rank may both be on {_names(shared)}: they protect from the loss of "
            "processes there, but not from that of the host"
        )
    if shared:
        raise UserError(
            f"{_names(shared)} of --hostfile are one host, which would have several replicas of a "
            "rank; name other hosts, or have planes share them: --replica-hosts shared"
        )
    machines = _in_several(hosts, lambda host: host.boot)
    if machines:
        return f"{_names(machines)} are on one machine: its loss would be that of several planes"
    return None


def _in_several(planes: Sequence[Sequence[Host]], key: Callable[[Host], object]) -> list[Host]:
    """The hosts whose key some other plane's host has, too."""
    keys = [{key(host) for host in plane} for plane in planes]
    return [
        host
        for i, plane in enumerate(planes)
        for host in plane
        if any(key(host) in other for j, other in enumerate(keys) if j != i)
    ]


def _names(hosts: Sequence[Host]) -> str:
    names = list(dict.fromkeys(host.name for host in hosts))
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


class _Question:
    """To all hosts of a plane, each once."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        assert plan.hostfile is not None
        folder.mkdir()
        self._folder = folder
        lines = Path(plan.hostfile).read_text().splitlines()
        self._names = list(dict.fromkeys(map(host_of, lines)))
        hostfile = folder / "hosts"
        hostfile.write_text("".join(f"{name} slots=1\n" for name in self._names))
        words = [str(plan.mpi.launcher), "-n", str(len(self._names)), "--hostfile", str(hostfile)]
        words += [*plan.mpirun_args, "/bin/sh", "-c", _ASK, str(folder.parent / "secret")]
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            self.process = subprocess.Popen(
                words,
                env=plan.environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                preexec_fn=lambda: processes.end_with_parent(signal.SIGTERM),  # noqa: PLW1509
            )

    def answers(self, seconds: float) -> list[Host]:
        """Of all of them."""
        names = ", ".join(self._names)
        try:
            self.process.wait(max(0, seconds))
        except subprocess.TimeoutExpired as error:
            raise UserError(
                f"--hostfile: not all of {names} answered in {_SECONDS_MAX:.0f} s"
            ) from error
        hosts = [host for line in self._said("out") if (host := parse(line)) is not None]
        if len(hosts) < len(self._names):
            said = " ".join(line.strip() for line in self._said("err") if line.strip("- "))
            raise UserError(
                f"--hostfile: of {names} only {len(hosts)} could be asked"
                + (f"; mpirun says: {said}" if said else "")
            )
        return hosts

    def _said(self, name: str) -> list[str]:
        return (self._folder / name).read_text(errors="replace").splitlines()


def parse(line: str) -> Host | None:
    """A host's answer. Nothing: the line is something else."""
    words = line.split()
    if len(words) != 6 or words[0] != _MARK:
        return None
    _, name, own_name, boot, network, sees = words
    return Host(own_name if name == "-" else name, own_name, boot, network, sees == "sees")
