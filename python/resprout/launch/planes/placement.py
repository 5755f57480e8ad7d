"""Which hosts each plane gets: no two of them the same, unless they may share.

So no host has two replicas of a rank, however the MPI deals ranks to the hosts of a plane.
"""

from collections.abc import Sequence
from pathlib import Path

from resprout.errors import UserError


def read_hosts(hostfile: Path) -> list[str]:
    """The lines of a host file that name a host."""
    lines = [line.partition("#")[0].strip() for line in hostfile.read_text().splitlines()]
    return [line for line in lines if line]


def host_of(line: str) -> str:
    return line.split(maxsplit=1)[0].partition(":")[0]


def deal(lines: Sequence[str], planes: int, share: bool = False) -> list[list[str]]:
    """The lines of each plane: whole hosts, in turns. With `share`, fewer hosts than planes go
    around again."""
    hosts = list(dict.fromkeys(map(host_of, lines)))
    if not hosts:
        raise UserError("--hostfile names no host; write one a line, as in `node1 slots=4`")
    if len(hosts) < planes and not share:
        raise UserError(
            f"--replicas {planes} needs {planes} hosts, so that the replicas of a rank are on "
            f"different ones; --hostfile has {len(hosts)}. Name more hosts, or have planes share "
            "them: --replica-hosts shared"
        )
    own: list[set[str]] = [set() for _ in range(planes)]
    for turn in range(max(len(hosts), planes)):
        own[turn % planes].add(hosts[turn % len(hosts)])
    return [[line for line in lines if host_of(line) in mine] for mine in own]
