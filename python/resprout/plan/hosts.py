"""The hosts of a job, and which rank stands on which."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resprout.errors import UserError
from resprout.launch.order import read_order

_SLOTS_MAX = 1 << 16


@dataclass(frozen=True)
class Host:
    name: str
    slots: int
    rack: str | None
    """None: it is in none that could fail."""


def read_hosts(file: Path, order: Path | None) -> list[Host]:
    """Lines `NAME [slots=N]`, as mpirun reads them; racks are the groups of `--order`."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UserError(f"{file}: {why}") from error
    racks = {} if order is None else _racks(order)
    slots: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        count = 1
        for word in words[1:]:
            name, _, value = word.partition("=")
            if name == "slots":
                if not value.isdecimal() or not 1 <= int(value) <= _SLOTS_MAX:
                    raise UserError(f"{file}:{number}: {word!r} is not slots=1 to {_SLOTS_MAX}")
                count = int(value)
        slots[words[0]] = slots.get(words[0], 0) + count
    if not slots:
        raise UserError(f"{file}: it names no host; a line is NAME slots=N")
    return [Host(name, count, racks.get(name)) for name, count in slots.items()]


def _racks(order: Path) -> dict[str, str]:
    read_order(order)  # refuses what is malformed
    racks = {}
    for line in order.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if len(words) > 1:
            racks[words[0]] = words[1]
    return racks


def _by_slot(hosts: Sequence[Host]) -> list[Host]:
    return [host for host in hosts for _ in range(host.slots)]


def _by_host(hosts: Sequence[Host]) -> list[Host]:
    dealt = []
    for turn in range(max(host.slots for host in hosts)):
        dealt += [host for host in hosts if host.slots > turn]
    return dealt


def _by_rack(hosts: Sequence[Host]) -> list[Host]:
    """Hosts of racks in turns, then as by host."""
    racks: dict[str, list[Host]] = {}
    for host in hosts:
        racks.setdefault(host.rack or host.name, []).append(host)
    turns = max(map(len, racks.values()))
    alternating = [own[turn] for turn in range(turns) for own in racks.values() if len(own) > turn]
    return _by_host(alternating)


ORDERS: dict[str, Callable[[Sequence[Host]], list[Host]]] = {
    "slot": _by_slot,
    "host": _by_host,
    "rack": _by_rack,
}
"""Host of rank 0, rank 1 and so on: each host full before the next one, hosts in turns, or hosts in
turns of which the next one is in another rack."""
