"""The table of all MPI calls (src/mpi/operations/calls.toml).

Run as a program it writes docs/reference/calls.md.
"""

import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = ROOT / "src" / "mpi" / "operations" / "calls.toml"
FORTRAN = ROOT / "src" / "mpi" / "operations" / "fortran"
DOCUMENT = ROOT / "docs" / "reference" / "calls.md"
TREATMENTS = {
    "fault-tolerant": "goes on among the survivors; all of them get the same",
    "guarded": "never waits for the lost, and says so if one is needed",
    "refused": "returns an error, on all members alike, once one of them is lost",
    "passes through": "the MPI library's own, untouched",
}
HEAD = """\
Every function of MPI-3.1, and of MPI 4 and ULFM as far as Open MPI 5.0 has them. Made from
`src/mpi/operations/calls.toml` by `tests/house/calls.py`. What is said here of lost processes holds
with `--on-loss continue`; with `--on-loss error` collectives that a loss has touched return
`MPIX_ERR_PROC_FAILED` too ([run.md](../how-to/run.md)). Collectives on inter-communicators pass
through, as do calls with arguments that are not valid: the MPI library knows what to say.

Ranks whose arguments do not fit together are a mistake of the program. In what Resprout carries
nobody writes beyond a receive buffer. A rank that is sent more than it takes gets
`MPI_ERR_TRUNCATE`. If one rank gives another count to a reduction or a scan, all ranks get it, or
the root alone where only the root has the result. A rank that is sent less than it takes gets that,
and no error, but for what it gives to itself in an MPI_Alltoall and its kin. What the MPI library
carries is its own: its MPI_Bcast writes more than fits ([open-mpi.md](open-mpi.md)).

Not all mistakes are noticed. Ranks that differ in what chooses the way of a message wait for each
other, where the library may return or fail: in the call or the order of calls, in roots, in
operators of which one commutes, and in counts where these choose the way. Those are: a broadcast
whose root sends 120 bytes or less where another rank takes more, or which one of them leaves to the
library; an allreduce with other numbers of [slices](../explanation/protocols/slices.md); an
MPI_Alltoall of which one rank has more than 1 MiB for all and another one less; a scan whose
segments end elsewhere; any call that goes over [lanes](../explanation/protocols/lanes.md) at one
rank and has too much for that at another. The rank that notices first ends the job where errors are
fatal.

Where the MPI library carries such a call at one rank, and Resprout at another, they do not wait for
long: who has waited for 0.2 s asks the others where they are, and gets `MPI_ERR_TRUNCATE`. To all
others that communicator is revoked (`MPIX_ERR_REVOKED`). Where Resprout carries it at all of them
they wait until one of them calls something else there. So they do where it was about to be the
library's first call on that communicator, for before that they agree on it.

Programs in Fortran (`mpif.h`, `use mpi`, `use mpi_f08`) get the same: every call that does not pass
through has its Fortran form ([adr/013](../explanation/adr/013-fortran-forms.md)).
"""


sys.path.insert(0, str(FORTRAN))
import generate  # noqa: E402


def read_fortran_forms() -> list[generate.Form]:
    return generate.read_forms(FORTRAN / "forms.txt")


def filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


@dataclass(frozen=True)
class Group:
    title: str
    treatment: str
    why: str
    calls: tuple[str, ...]


def read_table() -> list[Group]:
    groups = tomllib.loads(TABLE.read_text())["group"]
    return [Group(g["title"], g["treatment"], g["why"], tuple(g["calls"])) for g in groups]


def document(groups: list[Group]) -> str:
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
        lines.append(f"\n## {treatment.capitalize()}")
        for group in groups:
            if group.treatment == treatment:
                lines += ["", filled(f"**{group.title}.** {group.why}")]
                lines += ["", filled(", ".join(group.calls))]
    return "\n".join(lines) + "\n"


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
    DOCUMENT.write_text(document(read_table()))
