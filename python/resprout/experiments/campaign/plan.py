"""What a campaign is to simulate: its file (docs/how-to/campaign.md) and the points of it.

A point is one combination of parameters. It is run `repetitions` times, and its runs have the seeds
S, S + 1 and so on; S follows from the campaign's seed and the point alone, so no run depends on
where, when or beside which others it is made.
"""

import difflib
import hashlib
import itertools
import json
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from resprout import native
from resprout.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NONE = "none"
# Seeds stay below 2^53: JSON's readers keep whole numbers exactly up to there.
_SEED_BITS = 52
_REPETITIONS_MAX = 10**9


@dataclass(frozen=True)
class Point:
    """One combination of parameters, named as in the file and in the results."""

    protocol: str
    procs: int
    latency: int = 2
    overhead: int = 1
    gap: int = 0
    root: int = 0
    faults: str = NONE
    fail_at: str = NONE
    late: str = NONE
    noise: str = NONE
    initiators: str = native.ROOT

    @property
    def deaths(self) -> list[str]:
        """Each death of `fail_at`."""
        return [] if self.fail_at == NONE else self.fail_at.split(",")

    def values(self) -> tuple[str | int, ...]:
        """What tells points apart, and what seeds follow from: parameters from `late` on only up to
        the last one that is given."""
        every = [getattr(self, name) for name in PARAMETERS]
        while len(every) > _ALWAYS and every[-1] == _DEFAULTS[list(PARAMETERS)[len(every) - 1]]:
            every.pop()
        return tuple(every)


PARAMETERS = {field.name: field.type for field in fields(Point)}
_NEEDED = ("protocol", "procs")
_ALWAYS = list(PARAMETERS).index("late")
_DEFAULTS = {name: getattr(Point("", 1), name) for name in PARAMETERS if name not in _NEEDED}


@dataclass(frozen=True)
class Plan:
    """A campaign: points in the order of the file, each with its number of repetitions."""

    seed: int
    runs_per_part: int | None
    points: tuple[tuple[Point, int], ...]

    @property
    def runs(self) -> int:
        return sum(repetitions for _, repetitions in self.points)

    def first_seed(self, point: Point) -> int:
        text = json.dumps([self.seed, *point.values()])
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") >> (64 - _SEED_BITS)

    def digest(self) -> str:
        """Equal digests, equal results in equal parts."""
        points = [[*point.values(), repetitions] for point, repetitions in self.points]
        text = json.dumps([self.seed, self.runs_per_part, points])
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def read_plan(path: Path) -> Plan:
    """The plan in a file, of which every point can be run."""
    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # of TOML or of UTF-8
        raise UserError(f"{path} is not TOML: {error}") from error
    try:
        return _plan(given)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


def plan_of(given: Mapping[str, Any]) -> Plan:
    """The plan of what would stand in a file."""
    try:
        return _plan(dict(given))
    except ValueError as error:
        raise UserError(f"campaign: {error}") from error


def _plan(given: dict[str, Any]) -> Plan:
    _check_keys(given, ("seed", "repetitions", "runs_per_part", "product"))
    repetitions = _number(given, "repetitions", 1, 1, _REPETITIONS_MAX)
    products = given.get("product")
    if not isinstance(products, list) or not products or not isinstance(products[0], dict):
        raise ValueError("there is no [[product]]; its keys are the parameters")
    points: dict[Point, int] = {}
    for product in products:
        own = _number(product, "repetitions", repetitions, 1, _REPETITIONS_MAX)
        for point in _points(product):
            if point in points:
                raise ValueError(f"this point is there twice: {_text(point)}")
            points[point] = own
    for point in points:
        _check(point)
    return Plan(
        seed=_number(given, "seed", 0, 0, 2**63 - 1),
        runs_per_part=_number(given, "runs_per_part", 0, 1, _REPETITIONS_MAX) or None,
        points=tuple(points.items()),
    )


def _check_keys(given: dict[str, Any], valid: Collection[str]) -> None:
    for key in given:
        if key not in valid:
            close = difflib.get_close_matches(key, valid, n=1)
            advice = f"did you mean {close[0]}?" if close else f"valid are {', '.join(valid)}"
            raise ValueError(f"unknown key {key!r}; {advice}")


def _number(given: dict[str, Any], key: str, default: int, lowest: int, highest: int) -> int:
    value = given.get(key, default)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if key in given and not (is_number and lowest <= value <= highest):
        raise ValueError(f"{key}: {value!r} is not a whole number from {lowest} to {highest}")
    return int(value)


def _points(product: dict[str, Any]) -> Iterator[Point]:
    """All combinations; the parameter that Point names last changes first."""
    _check_keys(product, (*PARAMETERS, "repetitions"))
    for key in _NEEDED:
        if key not in product:
            raise ValueError(f"a [[product]] has no {key}")
    lists = [_values(key, product.get(key, _DEFAULTS.get(key))) for key in PARAMETERS]
    return (Point(*values) for values in itertools.product(*lists))


def _values(key: str, given: Any) -> list[Any]:
    values = given if isinstance(given, list) else [given]
    if not values:
        raise ValueError(f"{key}: the list is empty")
    return [_value(key, value) for value in values]


def _value(key: str, value: Any) -> str | int:
    if isinstance(value, int) and not isinstance(value, bool):
        if PARAMETERS[key] is int:
            return value
        if key == "faults":
            return str(value)
    if PARAMETERS[key] is str and isinstance(value, str) and value.isprintable():
        return value
    kind = "whole numbers" if PARAMETERS[key] is int else "texts"
    raise ValueError(f"{key}: {value!r} is not valid; give {kind}, one or a list")


def _check(point: Point) -> None:
    machine = {name: getattr(point, name) for name in ("latency", "overhead", "gap", "root")}
    native.check_simulation(
        point.protocol,
        procs=point.procs,
        **machine,
        faults=point.faults,
        fail_at=point.deaths,
        late=point.late,
        noise=point.noise,
        initiators=point.initiators,
    )


def _text(point: Point) -> str:
    return ", ".join(f"{name} {getattr(point, name)}" for name in PARAMETERS)
