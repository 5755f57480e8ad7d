"""Faults on purpose: their texts, checked, and random ones turned into certain ones.

    kill:rank=3,at=2s                 SIGKILL, two seconds after MPI_Init
    kill:rank=0,at=allreduce#40       on entering its 40th MPI_Allreduce
    stop:rank=2,at=1s                 SIGSTOP
    exit:rank=1,at=bcast#3,status=1   exit(1)
    kill:rank=3,replica=1,at=2s       the copy of rank 3 in plane 1; without replica= in plane 0
    kill:count=2,seed=7,within=5s     two ranks and times, chosen by the seed
    flip:rank=3,message=100,bit=17    one bit of the 100th message that it sends is another one
    flip:rank=3,collective=20,bit=17  one bit of what it gives to the 20th collective to which it
                                      gives anything
    flip:rank=3,where=memory,checkpoint=2,bit=17    one bit of what it protects is another one after
                                      its second resprout_checkpoint
    flip:count=50,seed=1              50 messages and a bit of each, chosen by the seed among the
                                      first 100 of every rank, or the first N with messages=N
    flip:count=50,collectives=20      the same of the first 20 collectives of every rank
    flip:count=5,where=memory         the same of the first 10 checkpoints, or N with checkpoints=N
    flip:rank=3,where=heap,at=send#9,bit=17           one bit of its heap is another one; or of its
                                      stack, its data, or anywhere in the process

The ranks get the certain forms, with `;` in between (src/mpi/process/options.cpp reads them).
"""

import difflib
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from resprout.counted_calls import COUNTED_CALLS
from resprout.errors import UserError
from resprout.options import FAULT_FORMS

KINDS = ("kill", "stop", "exit", "flip")
_OPTIONAL = {"seed", "status", "bit", "messages", "collectives", "checkpoints", "replica"}
_MESSAGES = 100
_CHECKPOINTS = 10
AREAS = ("process", "stack", "heap", "data")
"""Of a process, that a flip may be in: all that it has written, or a part of it."""
_BITS = 2**40  # far more than messages have; random() has 53
_UNITS_US = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(s|ms|us)")
_CALL = re.compile(r"([a-z_]+)#([0-9]+)")


@dataclass(frozen=True)
class Fault:
    """A fault that happens to one rank at one moment."""

    kind: str
    rank: int
    at: str
    """A time (`2s`) or the entry of a call (`allreduce#40`)."""
    status: int = 1
    replica: int = 0
    area: str = ""
    """Of a flip: one of AREAS."""
    bit: int = 0
    """Of the area, modulo its number of bits."""

    def __str__(self) -> str:
        status = f",status={self.status}" if self.kind == "exit" else ""
        where = f"where={self.area}," if self.kind == "flip" else ""
        bit = f",bit={self.bit}" if self.kind == "flip" else ""
        return f"{self.kind}:rank={self.rank},{where}at={self.at}{status}{bit}"


@dataclass(frozen=True)
class Flip:
    """A bit of what a rank sends, gives to a collective or protects that is another one."""

    rank: int
    number: int
    """Of the messages that it sends in point-to-point calls, of the collectives to which it gives
    anything, or of its checkpoints; from 1."""
    bit: int
    """Of the packed data, modulo their number of bits; 0 is the lowest of the first byte."""
    replica: int = 0
    where: str = "message"
    """Or collective, or memory."""

    def __str__(self) -> str:
        where = "where=memory,checkpoint" if self.where == "memory" else self.where
        return f"flip:rank={self.rank},{where}={self.number},bit={self.bit}"


def parse_faults(texts: Iterable[str], ranks: int, replicas: int = 1) -> list[Fault | Flip]:
    """The faults of all texts, each of which may have several with `;` in between.

    A text decides alone over its times; but no rank that a text names is chosen at random to end.
    """
    parts = [part.strip() for text in texts for part in text.split(";") if part.strip()]
    parsed = [(part, _parse_fields(part)) for part in parts]
    replica_of = [_replica(part, fields, replicas) for part, (_, fields) in parsed]
    certain = [_certain(part, kind, fields, ranks) for part, (kind, fields) in parsed]
    taken = {fault.rank for fault in certain if fault is not None and fault.kind != "flip"}
    faults: list[Fault | Flip] = []
    for (part, (kind, fields)), fault, replica in zip(parsed, certain, replica_of, strict=True):
        if kind == "flip" and fault is None:
            faults.extend(_flips(part, fields, ranks, replicas))
            continue
        chosen = [fault] if fault is not None else _choose(part, kind, fields, ranks, taken)
        taken.update(fault.rank for fault in chosen if kind != "flip")
        faults.extend(replace(fault, replica=replica) for fault in chosen)
    return faults


def _replica(part: str, fields: dict[str, str], replicas: int) -> int:
    """The plane that is meant."""
    replica = _number(part, "replica", fields.get("replica", "0"))
    if replica >= replicas:
        has = "there is one without --replicas" if replicas == 1 else f"there are {replicas}"
        raise _wrong(part, f"replica={replica} is not one of the planes, of which {has}")
    return replica


def _wrong(part: str, problem: str) -> UserError:
    return UserError(f"--inject: {part!r}: {problem}. Valid are {FAULT_FORMS}")


def _parse_fields(part: str) -> tuple[str, dict[str, str]]:
    kind, _, rest = part.partition(":")
    if kind not in KINDS:
        raise _wrong(part, f"{kind!r} is none of {', '.join(KINDS)}")
    fields: dict[str, str] = {}
    for field in rest.split(","):
        key, _, value = field.partition("=")
        if key in fields:
            raise _wrong(part, f"{key}= stands there twice")
        fields[key] = value
    valid = {"count", "seed", "within"} if "count" in fields else {"rank", "at"}
    if kind == "flip":
        valid = _fields_of_flip(fields)
        if fields.get("where", "memory") not in ("memory", *AREAS):
            raise _wrong(part, f"where={fields['where']} is none of memory, {', '.join(AREAS)}")
    valid.add("replica")
    if kind == "exit":
        valid.add("status")
    for key in fields:
        if key not in valid:
            raise _wrong(part, f"{key!r} does not belong there")
    for key in sorted(valid - _OPTIONAL, reverse=True):
        if key not in fields:
            raise _wrong(part, f"{key}= is missing")
    return kind, fields


def _fields_of_flip(fields: dict[str, str]) -> set[str]:
    if fields.get("where") in AREAS:
        return {"rank", "where", "at", "bit"}
    if "where" in fields:
        of = (
            {"count", "seed", "checkpoints"} if "count" in fields else {"rank", "checkpoint", "bit"}
        )
        return of | {"where"}
    place = "collective" if {"collective", "collectives"} & fields.keys() else "message"
    return {"count", "seed", f"{place}s"} if "count" in fields else {"rank", place, "bit"}


def _certain(part: str, kind: str, fields: dict[str, str], ranks: int) -> Fault | None:
    """The fault, or nothing if its rank is to be chosen, or if it is a flip of what is counted."""
    status = _number(part, "status", fields.get("status", "1"), 255)
    area = fields.get("where", "") if kind == "flip" else ""
    if (kind == "flip" and area not in AREAS) or "count" in fields:
        return None
    rank = _number(part, "rank", fields["rank"])
    if rank >= ranks:
        raise _wrong(part, f"rank {rank} is not one of the {ranks} ranks")
    at = fields["at"]
    call = _CALL.fullmatch(at)
    is_call = call is not None and int(call[2]) > 0
    if not is_call and not _DURATION.fullmatch(at):
        raise _wrong(part, f"at={at} is neither a time nor a call")
    if call is not None and call[1] not in COUNTED_CALLS:
        raise _wrong(part, f"at={at}: {_why_not_counted(call[1])}")
    bit = _number(part, "bit", fields.get("bit", "0"))
    return Fault(kind, rank, at, status, area=area, bit=bit)


def _why_not_counted(name: str) -> str:
    """Of what looks like a call, and is none at which a fault can come."""
    close = difflib.get_close_matches(name, COUNTED_CALLS, n=3, cutoff=0.7)
    meant = f"; close to it are {', '.join(close)}" if close else ""
    where = "docs/reference/environment.md says which are"
    return f"{name!r} is no call that is counted{meant} ({where})"


def _choose(
    part: str, kind: str, fields: dict[str, str], ranks: int, taken: set[int]
) -> list[Fault]:
    count = _number(part, "count", fields["count"])
    seed = _number(part, "seed", fields.get("seed", "0"))
    within = _DURATION.fullmatch(fields["within"])
    if within is None:
        raise _wrong(part, f"within={fields['within']} is not a time")
    free = [rank for rank in range(ranks) if rank not in taken]
    if count < 1 or count > len(free) or count >= ranks:
        raise _wrong(part, f"cannot choose {count} of {ranks} ranks and leave one alive")
    within_us = int(float(within[1]) * _UNITS_US[within[2]])
    status = int(fields.get("status", "1"))
    # random() is the one method whose sequence Python promises to keep.
    generator = random.Random(seed)
    order = sorted(free, key=lambda _: generator.random())
    times = sorted(int(generator.random() * within_us) for _ in range(count))
    return [
        Fault(kind, rank, f"{time}us", status)
        for rank, time in zip(order[:count], times, strict=True)
    ]


def _flips(part: str, fields: dict[str, str], ranks: int, replicas: int) -> list[Flip]:
    replica = _number(part, "replica", fields["replica"]) if "replica" in fields else None
    if replica is not None and replica >= replicas:
        raise _wrong(part, f"replica {replica} is not one of the {replicas}")
    where = fields.get("where", "message")
    if {"collective", "collectives"} & fields.keys():
        where = "collective"
    if "count" not in fields:
        rank = _number(part, "rank", fields["rank"])
        key = "checkpoint" if where == "memory" else where
        number = _number(part, key, fields[key])
        if rank >= ranks:
            raise _wrong(part, f"rank {rank} is not one of the {ranks} ranks")
        if number == 0:
            raise _wrong(part, f"{key}=0: the first one is 1")
        bit = _number(part, "bit", fields.get("bit", "0"))
        return [Flip(rank, number, bit, replica or 0, where)]
    count = _number(part, "count", fields["count"])
    key, usual = ("checkpoints", _CHECKPOINTS) if where == "memory" else (f"{where}s", _MESSAGES)
    numbers = _number(part, key, fields.get(key, str(usual)))
    if count < 1 or count > ranks * numbers:
        raise _wrong(part, f"cannot choose {count} of {ranks * numbers} {key}")
    generator = random.Random(_number(part, "seed", fields.get("seed", "0")))
    chosen: dict[tuple[int, int], Flip] = {}
    # No message twice: two corrupted copies of one are more than three replicas can bear.
    while len(chosen) < count:
        rank, number = _below(generator, ranks), 1 + _below(generator, numbers)
        bit, plane = _below(generator, _BITS), _below(generator, replicas)
        flip = Flip(rank, number, bit, plane if replica is None else replica, where)
        chosen.setdefault((rank, number), flip)
    return [chosen[key] for key in sorted(chosen)]


def _below(generator: random.Random, bound: int) -> int:
    return min(int(generator.random() * bound), bound - 1)


def _number(part: str, key: str, text: str, largest: int = 2**63 - 1) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > largest:
        raise _wrong(part, f"{key}={text} is not a whole number from 0 to {largest}")
    return int(text)
