"""Makes fortran_forms.cpp from forms.txt: `generate.py FORMS OUTPUT`.

Each form is one call of the C form, with its arguments converted (arguments.hpp).
"""

import sys
from dataclasses import dataclass
from pathlib import Path

HANDLES = {
    "comm": "Comm",
    "errhandler": "Errhandler",
    "file": "File",
    "group": "Group",
    "info": "Info",
    "message": "Message",
    "op": "Op",
    "request": "Request",
    "type": "Datatype",
    "win": "Win",
}
READ = "const MPI_Fint*"
WRITTEN = "MPI_Fint*"
# Of each kind: what Fortran passes the address of, and what the C form gets. There {a} is that
# address, {length} what Fortran adds for a string; {first}, {previous}, {comm} and {buffer} are
# the first argument, the one before, and the next communicator and the last buffer around.
KINDS = {
    "int": (READ, "*{a}"),
    "ints": (READ, "{a}"),
    "int>": (WRITTEN, "{a}"),
    "ints>": (WRITTEN, "{a}"),
    "aint": ("const MPI_Aint*", "*{a}"),
    "aints": ("const MPI_Aint*", "{a}"),
    "count": ("const MPI_Count*", "*{a}"),
    "offset": ("const MPI_Offset*", "*{a}"),
    "offset>": ("MPI_Offset*", "{a}"),
    # A LOGICAL is true if its lowest bit is set; C writes 0 or 1.
    "logical": (READ, "*{a}"),
    "logicals": (READ, "{a}"),
    "logical>": (WRITTEN, "{a}"),
    "logicals>": (WRITTEN, "{a}"),
    "buffer": ("void*", "buffer({a})"),
    "address>": ("void*", "{a}"),
    "weights": (READ, "weights({a})"),
    # One for each process; for each neighbor that something goes to, or comes from.
    "types": (READ, "Datatypes({a}, processes_of({comm}), {buffer})"),
    "types-to": (READ, "Datatypes({a}, destinations_of({comm}), {buffer})"),
    "types-from": (READ, "Datatypes({a}, sources_of({comm}), {buffer})"),
    "kept-types": (READ, "kept_datatypes({a}, processes_of({comm}), {buffer})"),
    "kept-types-to": (READ, "kept_datatypes({a}, destinations_of({comm}), {buffer})"),
    "kept-types-from": (READ, "kept_datatypes({a}, sources_of({comm}), {buffer})"),
    "requests<>": (WRITTEN, "Requests({a}, *{first})"),
    "status>": (WRITTEN, "Status({a})"),
    "statuses>": (WRITTEN, "Statuses({a}, *{first})"),
    "index>": (WRITTEN, "Index({a})"),
    "indices>": (WRITTEN, "Indices({a}, {previous})"),
    "string": ("const char*", "String({a}, {length})"),
    "name>": ("char*", "Name({a}, {length})"),
    "none": ("", "nullptr"),
}
for word, type_ in HANDLES.items():
    KINDS[word] = (READ, type_ + "::In({a})")
    KINDS[word + ">"] = (WRITTEN, type_ + "::Out({a})")
    KINDS[word + "<>"] = (WRITTEN, type_ + "::InOut({a})")
STRINGS = ("string", "name>")
# Names that Open MPI has beside, for the same arguments.
ALSO = {
    "MPI_Win_allocate": ["MPI_Win_allocate_cptr"],
    "MPI_Win_allocate_shared": ["MPI_Win_allocate_shared_cptr"],
}


@dataclass(frozen=True)
class Form:
    """One function's line; `by_hand` names a file, `call` the C form."""

    name: str
    kinds: tuple[str, ...] = ()
    call: str = ""
    by_hand: str = ""
    condition: str = ""


def read_forms(table: Path) -> list[Form]:
    """The table's forms; a line that cannot be understood is an error that names it."""
    forms: dict[str, Form] = {}
    condition = ""
    for number, line in enumerate(table.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, kinds = words[0], tuple(words[1:])
        if name in ("@if", "@end"):
            condition = " ".join(kinds)
        elif name in forms:
            raise SystemExit(f"{table}:{number}: {name} stands there twice")
        elif kinds[:1] == ("by-hand",) and len(kinds) == 2:
            forms[name] = Form(name, by_hand=kinds[1], condition=condition)
        elif kinds[:1] == ("=",) and len(kinds) == 2 and kinds[1] in forms:
            forms[name] = Form(name, forms[kinds[1]].kinds, kinds[1], condition=condition)
        elif unknown := [kind for kind in kinds if kind not in KINDS]:
            valid = ", ".join(KINDS)
            raise SystemExit(f"{table}:{number}: {unknown[0]} is no kind; valid are {valid}")
        else:
            forms[name] = Form(name, kinds, name, condition=condition)
    return list(forms.values())


def names(function: str) -> str:
    """All names under which Fortran calls it."""
    return f"RESPROUT_FORTRAN_NAMES({function.lower()}, {function.upper()}, {function})"


def argument(kinds: tuple[str, ...], at: int) -> str:
    """What the C form gets at that place."""
    communicators = [i for i, kind in enumerate(kinds) if kind == "comm"]
    buffers = [i for i, kind in enumerate(kinds[:at]) if kind == "buffer"]
    words = {
        "a": f"a{at}",
        "length": f"length{at}",
        "first": "a0",
        "previous": f"a{at - 1}",
        "comm": f"a{communicators[-1]}" if communicators else "",
        "buffer": f"a{buffers[-1]}" if buffers else "",
    }
    return KINDS[kinds[at]][1].format(**words)


def definition(form: Form) -> str:
    """The C++ of one form."""
    places = range(len(form.kinds))
    parameters = [f"{KINDS[k][0]} a{i}" for i, k in enumerate(form.kinds) if KINDS[k][0]]
    parameters += ["MPI_Fint* ierror"]
    parameters += [f"int length{i}" for i in places if form.kinds[i] in STRINGS]
    arguments = ", ".join(argument(form.kinds, i) for i in places)
    lines = []
    for name in [form.name, *ALSO.get(form.name, [])]:
        lines += [
            f'extern "C" void {name.lower()}_({", ".join(parameters)}) {{',
            f"  give(ierror, {form.call}({arguments}));",
            "}",
            names(name),
        ]
    if form.condition:
        lines = [f"#if {form.condition}", *lines, "#endif"]
    return "\n".join(lines)


def source(forms: list[Form]) -> str:
    """All of it."""
    head = """\
// Made from forms.txt by generate.py.
#include "resprout/resprout.h"
#include "mpi/carriers/started/collective.hpp"
#include "mpi/operations/fortran/arguments.hpp"
#include "mpi/operations/fortran/names.hpp"
#include "openmpi/ulfm.hpp"

#ifdef OPEN_MPI  // the Fortran forms of other MPI libraries call MPI_X
using namespace resprout::shim::fortran;
"""
    return "\n".join([head, *(definition(f) for f in forms if not f.by_hand), "#endif\n"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: generate.py FORMS OUTPUT")
    Path(sys.argv[2]).write_text(source(read_forms(Path(sys.argv[1]))))
