"""The table of all MPI calls (src/mpi/operations/calls.toml).

Run as a program it writes docs/reference/calls.md and python/resprout/counted_calls.py.
"""

import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = ROOT / "src" / "mpi" / "operations" / "calls.toml"
FORTRAN = ROOT / "src" / "mpi" / "operations" / "fortran"
COUNTED = ROOT / "python" / "resprout" / "counted_calls.py"
DOCUMENT = ROOT / "docs" / "reference" / "calls.md"
NOT_EVERYWHERE = "#not-everywhere"
TREATMENTS = {
    "fault-tolerant": "goes on among the survivors; all of them get the same",
    "guarded": "never waits for the lost, and says so if one is needed",
    "refused": "returns an error, on all members alike, once one of them is lost",
    "passes through": "the MPI library's own, untouched",
}
HEAD = """\
For those who ask what becomes of a call when ranks are lost. The page has every function of
MPI-3.1, and of MPI 4 and ULFM as far as Open MPI 5.0 has them, on Open MPI 5, MPICH 5 and Intel
MPI 2021. It is made from `src/mpi/operations/calls.toml` by `tests/house/calls.py`.

What is said here of lost processes holds with `--on-loss continue`. With `--on-loss error`
collectives that a loss has touched return `MPIX_ERR_PROC_FAILED`, too
([run.md](../how-to/run.md)). Collectives on inter-communicators pass through, and so do calls
with arguments that are not valid: the MPI library reports those.

Ranks whose arguments do not fit together are a mistake of the program. In what Resprout carries
nobody writes beyond a receive buffer. A rank that is sent more than it takes gets
`MPI_ERR_TRUNCATE`. If one rank gives another count to a reduction or a scan, all ranks get that
error. Where only the root has the result, the root alone gets it. A rank that is sent less than
it takes gets what was sent, and no error. Only what a rank gives to itself, in an MPI_Alltoall
and its kin, is an exception. What the MPI library carries is its own: its MPI_Bcast writes more
than fits ([open-mpi.md](open-mpi.md)).

Not all mistakes are noticed. Ranks may differ in what chooses the way of a message: in the call
or the order of calls, in roots, in operators of which one commutes, and in some counts. They then
wait for each other, where the library may return or fail. The rank that notices first ends the
job where errors are fatal. These counts choose a way:

- A broadcast: the root sends 120 bytes or less and another rank takes more, or one of them leaves
  the call to the library.
- An allreduce: the ranks have other numbers of [slices](../explanation/protocols/slices.md).
- An MPI_Alltoall: one rank has more than 1 MiB for all, and another one less.
- A scan: the segments end elsewhere.
- Any call that goes over [shared slots](../explanation/protocols/shared_slots.md) at one rank, and
  has too much for that at another.

The MPI library may carry such a call at one rank, and Resprout at another. Then they do not wait
for long. A rank that has waited for 0.2 s asks the others where they are, and gets
`MPI_ERR_TRUNCATE`. To all others that communicator is revoked (`MPIX_ERR_REVOKED`). If Resprout
carries the call at all of them, they wait until one of them calls something else there. The same
holds for the library's first call on a communicator, because the ranks agree on it before.

Programs in Fortran (`mpif.h`, `use mpi`, `use mpi_f08`) get the same: every call that does not
pass through has its Fortran form ([adr/013](../explanation/adr/013-fortran-forms.md)). On MPICH
the forms of the library come to Resprout ([mpi-libraries.md](mpi-libraries.md#fortran)).
"""


sys.path.insert(0, str(FORTRAN))
import generate  # noqa: E402


def read_fortran_forms() -> list[generate.Form]:
    return generate.read_forms(FORTRAN / "forms.txt")


def filled(text: str) -> str:
    """A paragraph, or a list of lines that begin with "- "."""
    items = re.split(r"\n(?=- )", text)
    return "\n".join(
        textwrap.fill(
            " ".join(item.split()),
            120,
            subsequent_indent="  " if item.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for item in items
    )


@dataclass(frozen=True)
class Group:
    title: str
    treatment: str
    why: str
    calls: tuple[str, ...]
    elsewhere: tuple[str, str]
    """Its treatment on MPICH and on Intel MPI."""
    tried: tuple[str, ...]
    """Calls that are made there after a loss."""
    counted: tuple[str, ...]
    """Calls at which faults on purpose may come."""


@dataclass(frozen=True)
class Elsewhere:
    """What differs on MPICH and Intel MPI from call to call."""

    ours_alone: tuple[str, ...]
    absent: tuple[str, ...]
    large_counts_of_the_library: tuple[str, ...]


def read_table() -> list[Group]:
    return [_group(entry) for entry in tomllib.loads(TABLE.read_text())["group"]]


def _group(entry: dict[str, Any]) -> Group:
    there = [entry.get(name, entry["treatment"]) for name in ("mpich", "intel_mpi")]
    calls, tried = tuple(entry["calls"]), tuple(entry.get("tried", ()))
    uncounted = entry.get("uncounted", ())
    is_ours = entry["treatment"] != "passes through" and uncounted is not True
    counted = tuple(name for name in calls if is_ours and name not in uncounted)
    return Group(entry["title"], entry["treatment"], entry["why"], calls, (*there,), tried, counted)


def read_elsewhere() -> Elsewhere:
    entry = tomllib.loads(TABLE.read_text())["elsewhere"]
    return Elsewhere(**{name: tuple(calls) for name, calls in entry.items()})


def by_library(groups: list[Group], elsewhere: Elsewhere) -> list[str]:
    """A table: what becomes of each group on each library."""
    lines = ["| calls | Open MPI | MPICH | Intel MPI |", "|---|---|---|---|"]
    for group in groups:
        alone = len({*group.calls} & {*elsewhere.ours_alone})
        more = f", {alone} of {len(group.calls)} [only here]({NOT_EVERYWHERE})" if alone else ""
        there = [f"{treatment}{more}" for treatment in group.elsewhere]
        lines.append(f"| {' | '.join([group.title, group.treatment, *there])} |")
    return lines


def on_other_libraries(groups: list[Group], elsewhere: Elsewhere) -> list[str]:
    count = sum(len(group.calls) for group in groups) - len(elsewhere.absent)
    names = ", ".join(elsewhere.ours_alone), ", ".join(elsewhere.absent)
    return [
        "\n## Not everywhere",
        filled(f"MPICH 5.0.2 and Intel MPI 2021.18 have {count} of these functions, or get them:"),
        "",
        "| functions | on MPICH and Intel MPI |",
        "|---|---|",
        f"| {names[0]} | Resprout's alone: the library has none |",
        f"| {names[1]} | absent |",
        "",
        filled(
            "**Forms with large counts** (`MPI_Bcast_c`). On MPICH and Intel MPI such a form is "
            "treated as its call is, if all counts fit into an `int`. Larger counts are the "
            "library's own. So are the forms of these calls, whatever their counts:"
        ),
        "",
        filled(", ".join(f"{name}_c" for name in elsewhere.large_counts_of_the_library)),
    ]


def document(groups: list[Group], elsewhere: Elsewhere) -> str:
    lines = [
        "# What becomes of each MPI call",
        "\n\n".join(filled(paragraph) for paragraph in HEAD.split("\n\n")),
        "",
        "| treatment | | calls |",
        "|---|---|---|",
    ]
    for treatment, meaning in TREATMENTS.items():
        count = sum(len(g.calls) for g in groups if g.treatment == treatment)
        lines.append(f"| [{treatment}](#{treatment.replace(' ', '-')}) | {meaning} | {count} |")
    for treatment in TREATMENTS:
        these = [group for group in groups if group.treatment == treatment]
        lines += [f"\n## {treatment.capitalize()}", *by_library(these, elsewhere)]
        for group in these:
            lines += ["", filled(f"**{group.title}.** {group.why}")]
            lines += ["", filled(", ".join(group.calls))]
    lines += on_other_libraries(groups, elsewhere)
    return "\n".join(lines) + "\n"


def counted_calls(groups: list[Group]) -> str:
    """The module that tells the command line of them."""
    names = sorted(name.partition("_")[2].lower() for group in groups for name in group.counted)
    lines = textwrap.wrap(" ".join(names), 96)
    return "\n".join([
        '"""The MPI calls at which faults on purpose may come, by their lower-case names.',
        "",
        "Made by tests/house/calls.py.",
        '"""',
        "",
        '_NAMES = """',
        *lines,
        '"""',
        "COUNTED_CALLS = frozenset(_NAMES.split())",
        "",
    ])  # fmt: skip


def declared() -> set[str]:
    """What the headers of the MPI at hand declare."""
    mpicc = Path(sys.executable).parent / "mpicc"
    done = subprocess.run(
        [mpicc, "-E", "-x", "c", "-"],
        input="#include <mpi.h>\n#include <mpi-ext.h>\n",
        capture_output=True,
        text=True,
        check=True,
    )
    return set(re.findall(r"\b(MPIX?_[A-Z]\w*)\s*\(", done.stdout))


if __name__ == "__main__":
    DOCUMENT.write_text(document(read_table(), read_elsewhere()))
    COUNTED.write_text(counted_calls(read_table()))
