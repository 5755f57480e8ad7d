"""On which hosts a life runs: those of the host file, spare ones in the places of the lost.

Ranks are dealt to hosts in the order of the lines, so a spare host stands where the lost one stood:
the ranks of all others stay where they were, with what they have on their disks.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from resprout.errors import UserError
from resprout.launch.planes.placement import host_of

_SLOTS = re.compile(r"\bslots\s*=\s*(\d+)")
_SLOTS_BEHIND_COLON = re.compile(r"^\S+:(\d+)")


@dataclass(frozen=True)
class Seats:
    """What a line of a host file offers."""

    host: str
    slots: int | None
    """Nothing: as many as the host has cores, which is not known here."""
    line: str


def read_line(line: str) -> Seats:
    found = _SLOTS.search(line) or _SLOTS_BEHIND_COLON.match(line)
    return Seats(host_of(line), int(found[1]) if found else None, line)


def _sum(seats: Sequence[Seats]) -> int | None:
    """Of their slots; nothing: it is not known."""
    known = [one.slots for one in seats if one.slots is not None]
    return sum(known) if len(known) == len(seats) else None


class Hosts:
    """Of one job."""

    def __init__(self, lines: Sequence[str], ranks: int, spares: int, spare_hosts: int) -> None:
        """`spares`: slots that nobody uses at first. `spare_hosts`: the last ones, which do nothing
        at first. Raises UserError if there are too few for that."""
        self._ranks = ranks
        seats = [read_line(line) for line in lines]
        names = list(dict.fromkeys(one.host for one in seats))
        if spare_hosts >= len(names) > 0:
            raise UserError(
                f"--spare-hosts {spare_hosts} leaves none of the {len(names)} hosts of --hostfile "
                "for the job"
            )
        spare = set(names[len(names) - spare_hosts :])
        self._used = [one for one in seats if one.host not in spare]
        self._spare = [one for one in seats if one.host in spare]
        has = _sum(self._used)
        if spares > 0 and has is None:
            raise UserError("--spares needs slots=N in each line of --hostfile")
        if (spares > 0 or spare_hosts > 0) and has is not None and has < ranks + spares:
            option = f"--spares {spares}" if spares > 0 else f"--spare-hosts {spare_hosts}"
            raise UserError(
                f"{option} needs {ranks + spares} slots on hosts that are no spare ones; "
                f"--hostfile has {has} there"
            )

    @property
    def lines(self) -> list[str]:
        return [one.line for one in self._used]

    @property
    def names(self) -> set[str]:
        return {one.host for one in self._used}

    @property
    def missing_slots(self) -> int:
        """So many ranks have none of their own."""
        has = _sum(self._used)
        return 0 if has is None else max(0, self._ranks - has)

    def lose(self, names: Collection[str]) -> None:
        """These are not used any more."""
        lost = {host for one in [*self._used, *self._spare] if (host := one.host) in names}
        self._spare = [one for one in self._spare if one.host not in lost]
        left: list[Seats] = []
        for one in self._used:
            left += self._instead_of(one) if one.host in lost else [one]
        self._used = left

    def _instead_of(self, lost: Seats) -> list[Seats]:
        """Spare ones, with as many slots as it had if there are so many."""
        taken: list[Seats] = []
        need = lost.slots
        while self._spare and (need is None or need > 0):
            spare = self._spare.pop(0)
            if need is None or spare.slots is None:
                return [*taken, spare]
            if spare.slots > need:
                rest = spare.slots - need
                self._spare.insert(0, _with_slots(spare, rest))
                spare = _with_slots(spare, need)
            taken.append(spare)
            need -= spare.slots or 0
        return taken


def _with_slots(seats: Seats, slots: int) -> Seats:
    return replace(seats, slots=slots, line=f"{seats.host} slots={slots}")
