"""Which units of the sources include which. A unit: a header with its source and its test."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from sources import CPP

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
Graph = Mapping[str, set[str]]


def units_of(root: Path, layer: str) -> dict[str, set[str]]:
    """By its path below `root` without a suffix, what a unit of the layer includes of the layer."""
    found: dict[str, set[str]] = {}
    for path in sorted((root / layer).rglob("*")):
        if path.suffix not in CPP or path.stem.endswith("_test"):
            continue
        unit = str(path.relative_to(root).with_suffix(""))
        included = {str(Path(i).with_suffix("")) for i in INCLUDE.findall(path.read_text())}
        found.setdefault(unit, set()).update(i for i in included if i.startswith(f"{layer}/"))
    return {unit: (includes & found.keys()) - {unit} for unit, includes in found.items()}


def folders_that_include_each_other(root: Path, layer: str) -> list[tuple[str, str]]:
    """Files beside the folders count as one more folder."""
    pairs = {
        (str(Path(unit).parent), str(Path(other).parent))
        for unit, includes in units_of(root, layer).items()
        for other in includes
    }
    folders = sorted({folder for pair in pairs for folder in pair})
    return [(a, b) for a, b in combinations(folders, 2) if (a, b) in pairs and (b, a) in pairs]


def upward_includes(root: Path, layer: str, floors: Sequence[str]) -> list[tuple[str, str]]:
    """Who includes whom above it. `floors`: the folders of the layer, from the lowest."""
    level = {f"{layer}/{floor}": i for i, floor in enumerate(floors)}

    def level_of(unit: str) -> int:
        return level["/".join(Path(unit).parts[:2])]

    return [
        (unit, other)
        for unit, includes in units_of(root, layer).items()
        for other in sorted(includes)
        if level_of(unit) < level_of(other)
    ]


def reached(graph: Graph, start: str) -> set[str]:
    """From `start`; itself only if there is a way back."""
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for other in graph.get(ahead.pop(), set()) - seen:
            seen.add(other)
            ahead.append(other)
    return seen


def largest_cycle(graph: Graph) -> set[str]:
    """The most units of which each reaches each; none if there is no circle."""
    reach = {unit: reached(graph, unit) for unit in graph}
    cycles = [
        {other for other in reach[unit] if unit in reach[other]}
        for unit in graph
        if unit in reach[unit]
    ]
    return max(cycles, key=len, default=set())
