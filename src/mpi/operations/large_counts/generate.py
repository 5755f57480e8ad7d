"""Writes the forms of MPI 4 with large counts, MPI_X_c, which mpi4py calls on MPICH.

    generate.py PROTOTYPES SOURCES OUTPUT

PROTOTYPES is the mpi_proto.h of an MPICH. Each form of a call that is ours (SOURCES defines MPI_X)
calls it with counts that fit into an int; one with more is the MPI library's own. So are
non-blocking and persistent forms with arrays of counts, which would have to live as long as their
requests.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROTOTYPE = re.compile(r"^int (MPI_\w+)\(([^)]*)\)", re.MULTILINE)
_OURS = re.compile(r'extern "C" int (MPI_\w+)\(')
_COUNT = "MPI_Count"
# Their arrays have one count for each neighbor.
_NEIGHBORS = "MPI_Neighbor_"


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str
    is_array: bool


def _parameters(text: str) -> list[Parameter]:
    found = []
    for part in " ".join(text.split()).split(", "):
        match = re.fullmatch(r"(.*?[ *])(\w+)(\[\])?", part)
        if match is None:
            return []
        found.append(Parameter(match[1].strip(), match[2], match[3] is not None))
    return found


def _narrow(name: str, large: list[Parameter], small: list[Parameter]) -> list[str] | None:
    """The lines of the form's body; nothing: it is left to the library."""
    if len(large) != len(small):
        return None
    checks, lines, arguments = [], [], []
    for one, other in zip(large, small, strict=True):
        if (one.type, one.is_array) == (other.type, other.is_array):
            arguments.append(one.name)
        elif one.type == _COUNT and other.type == "int" and not one.is_array:
            checks.append(f"fits({one.name})")
            arguments.append(f"static_cast<int>({one.name})")
        elif one.is_array and other.is_array and other.type == "const int":
            checks.append(f"{one.name}_int.fits()")
            lines.append(f"  const Narrowed {one.name}_int({one.name}, {_length(name, one)});")
            arguments.append(f"{one.name}_int.data()")
        else:
            return None
    if not checks or (lines and (name.startswith("MPI_I") or name.endswith("_init"))):
        return None
    if lines and name.startswith(_NEIGHBORS):
        return None
    everything = ", ".join(one.name for one in large)
    return [
        *lines,
        f"  if (!({' && '.join(checks)})) return P{name}_c({everything});",
        f"  return {name}({', '.join(arguments)});",
    ]


def _length(name: str, parameter: Parameter) -> str:
    if name in ("MPI_Gatherv", "MPI_Scatterv"):
        return "counts_at_root(comm, root)"
    # What says where the data of others come from means nothing where they stand in place.
    if parameter.name.startswith(("send", "sdispls")):
        return "sendbuf == MPI_IN_PLACE ? 0 : counts_in(comm)"
    return "counts_in(comm)"


def _forms(prototypes: dict[str, list[Parameter]], ours: set[str]) -> Iterator[str]:
    for name in sorted(ours):
        large = prototypes.get(f"{name}_c")
        if large is None or (body := _narrow(name, large, prototypes[name])) is None:
            continue
        parameters = ", ".join(
            f"{one.type} {one.name}{'[]' if one.is_array else ''}" for one in large
        )
        yield f'extern "C" int {name}_c({parameters}) {{\n' + "\n".join(body) + "\n}\n"


def main(header: str, sources: str, output: str) -> None:
    text = Path(header).read_text()
    prototypes = {name: _parameters(parts) for name, parts in _PROTOTYPE.findall(text)}
    ours = {
        name for path in Path(sources).rglob("*.cpp") for name in _OURS.findall(path.read_text())
    }
    forms = "\n".join(_forms(prototypes, ours))
    include = '#include "mpi/operations/large_counts/narrowed.hpp"'
    head = f"{include}\n\nusing namespace resprout::shim;\n\n"
    Path(output).write_text(head + forms)


if __name__ == "__main__":
    main(*sys.argv[1:])
