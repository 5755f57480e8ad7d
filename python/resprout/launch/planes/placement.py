"""Which hosts each plane gets: no two of them the same.

So no host has two replicas of a rank, however the MPI deals ranks to the hosts of a plane.
"""

from collections.abc import Sequence
from pathlib import Path

from resprout.errors import UserError


def read_hosts(hostfile: Path) -> list[str]:
    """The lines of a host file that name a host."""
    lines = [line.partition("#")[0].strip() for line in hostfile.read_text().splitlines()]
    return [line for line in lines if line]


def deal(lines: Sequence[str], planes: int) -> list[list[str]]:
    """The lines of each plane: whole hosts, in turns."""
    hosts = list(dict.fromkeys(line.split()[0].partition(":")[0] for line in lines))
    if len(hosts) < planes:
        raise UserError(
            f"--replicas {planes} needs {planes} hosts, so that the replicas of a rank are on "
            f"different ones; --hostfile has {len(hosts)}. Name more hosts, or leave --hostfile "
            "out to run all replicas on this host"
        )
    plane_of = {host: index % planes for index, host in enumerate(hosts)}
    dealt: list[list[str]] = [[] for _ in range(planes)]
    for line in lines:
        dealt[plane_of[line.split()[0].partition(":")[0]]].append(line)
    return dealt
