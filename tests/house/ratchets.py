"""What the house wants less of: how much there is of it now.

python tests/house/ratchets.py      writes ratchets.toml anew, after something became better
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from classes import cpp_classes
from includes import (
    folders_that_include_each_other,
    largest_cycle,
    units_of,
    upward_includes,
)
from sources import CPP, ROOT, files, name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).parent / "ratchets.toml"
LAYERS = ("protocols", "runtime", "mpi", "sim")
# Of src/mpi, from the lowest: a unit may include what stands on its own floor, or below.
FLOORS = (
    "testing",
    "process",
    "handles",
    "policies",
    "carriers",
    "operations",
    "lifecycle",
)
FUNCTIONS_MAX = 40
FIELDS_MAX = 15
COLUMNS_MAX = 120

Numbers = Mapping[str, int]

WHAT = {
    "folders_that_include_each_other": "Pairs of folders of a layer. Aim: 0.",
    "units_in_the_largest_cycle": "A unit is a header with its source. Aim: 3.",
    "upward_includes": "Of the floors of src/mpi: who includes whom above it. Aim: none.",
    "functions": f"Of classes that have more than {FUNCTIONS_MAX}.",
    "fields": f"Of classes that have more than {FIELDS_MAX}.",
    "wide_lines": f"Of texts: lines over {COLUMNS_MAX} columns, without tables and addresses.",
}


def measured() -> dict[str, Numbers]:
    """By what it is, and whose."""
    source = ROOT / "src"
    classes = {
        f"{name(path)}:{one.name}": one
        for path in files(CPP, "src")
        if not path.stem.endswith("_test")
        for one in cpp_classes(path.read_text())
    }
    return {
        "folders_that_include_each_other": {
            layer: len(folders_that_include_each_other(source, layer)) for layer in LAYERS
        },
        "units_in_the_largest_cycle": {
            layer: len(largest_cycle(units_of(source, layer))) for layer in LAYERS
        },
        "upward_includes": {
            f"{unit} -> {other}": 1 for unit, other in upward_includes(source, "mpi", FLOORS)
        },
        "functions": {n: c.functions for n, c in classes.items() if c.functions > FUNCTIONS_MAX},
        "fields": {n: c.fields for n, c in classes.items() if c.fields > FIELDS_MAX},
        "wide_lines": {
            name(path): count for path in files({".md"}) if (count := wide_lines(path.read_text()))
        },
    }


def wide_lines(text: str) -> int:
    """A row of a table cannot be broken, nor can an address."""
    lines = (line.strip() for line in text.splitlines() if len(line) > COLUMNS_MAX)
    return sum(not line.startswith("|") and " " in line for line in lines)


def allowed() -> dict[str, Numbers]:
    return dict(tomllib.loads(TABLE.read_text()))


def worse(now: Numbers, before: Numbers) -> dict[str, str]:
    return {
        n: f"{count}, and {before.get(n, 'none')} before"
        for n, count in now.items()
        if count > before.get(n, 0)
    }


def main() -> None:
    lines = ["# No number here may grow (test_ratchets.py); ratchets.py writes them anew."]
    for what, numbers in measured().items():
        lines += ["", f"# {WHAT[what]}", f"[{what}]"]
        lines += [f'"{n}" = {count}' for n, count in numbers.items()]
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
