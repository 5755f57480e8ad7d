"""The table of all MPI calls is complete, and tells the truth about what libresprout.so defines."""

import subprocess
from pathlib import Path

import calls
import pytest
from sources import BUILD, ROOT

# Of MPI-1: today's headers no longer declare them, but old programs may call them.
UNDECLARED = {
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPIX_Comm_ishrink",
}
GROUPS = calls.read_table()
ELSEWHERE = calls.read_elsewhere()
NAMES = [name for group in GROUPS for name in group.calls]
OURS = {name for g in GROUPS for name in g.calls if g.treatment != "passes through"}


LIBRARY = BUILD / "lib" / "libresprout.so"
FOR_MPICH = BUILD / "lib" / "libresprout_mpich.so"
FOR_STANDARD_ABI = BUILD / "lib" / "libresprout_mpi_abi.so"
WHEELS = ROOT / ".venv" / "mpis"
OTHER_MPIS = [WHEELS / name / "lib" / "libmpi.so.12" for name in ("mpich", "impi-rt")]


def defined(library: Path = LIBRARY) -> set[str]:
    if not library.exists():
        pytest.skip(f"there is no {library.name}; `make mpis` gets it")
    command = ["nm", "-D", "--defined-only", "-P", str(library)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listing.splitlines()}


def fortran_names(name: str) -> set[str]:
    """How compilers spell it, and what `use mpi` and `use mpi_f08` make of it."""
    names = set()
    for one in [name, *calls.generate.ALSO.get(name, [])]:
        low = one.lower()
        names |= {low, f"{low}_", f"{low}__", one.upper()}
        names |= {f"{one}_f", f"{one}_f08", f"{low}_f08_"}
    return names


def test_every_treatment_is_one_of_the_four():
    assert {group.treatment for group in GROUPS} == set(calls.TREATMENTS)
    assert {there for group in GROUPS for there in group.elsewhere} <= set(calls.TREATMENTS)


def test_no_call_stands_there_twice():
    assert len(NAMES) == len(set(NAMES))


def test_every_call_that_the_headers_declare_is_in_the_table():
    assert calls.declared() == set(NAMES) - UNDECLARED


def test_the_library_stands_in_for_exactly_the_calls_that_do_not_pass_through():
    in_c = {name for name in defined() if name.startswith(("MPI_", "MPIX_"))}
    assert in_c - {fortran for name in OURS for fortran in fortran_names(name)} == OURS


def test_the_table_of_fortran_forms_has_exactly_those_calls():
    forms = calls.read_fortran_forms()
    assert {form.name for form in forms} == OURS
    for form in forms:
        if form.by_hand:
            assert f"{form.name.lower()}_(" in (calls.FORTRAN / form.by_hand).read_text()


def test_the_library_defines_every_name_that_open_mpi_s_fortran_library_has_for_them():
    expected = {fortran for name in OURS for fortran in fortran_names(name)}
    assert expected <= defined()


@pytest.mark.parametrize("library", [FOR_MPICH, FOR_STANDARD_ABI], ids=lambda path: path.stem)
def test_what_is_for_other_mpis_stands_in_for_the_same_calls(library):
    in_c = {name for name in defined(library) if name.startswith(("MPI_", "MPIX_"))}
    assert {name for name in in_c if not name.endswith("_c")} == OURS


@pytest.mark.parametrize("library", OTHER_MPIS, ids=["MPICH", "Intel MPI"])
def test_of_other_mpis_the_table_says_what_they_do_not_have(library):
    theirs, ours = defined(library), defined(FOR_MPICH)
    # Conversions of handles are macros there, whether or not there are functions, too.
    wanted = {name for name in NAMES if not name.endswith(("_c2f", "_f2c"))}
    assert wanted - theirs - ours == {*ELSEWHERE.absent}
    assert (wanted & ours) - theirs == {*ELSEWHERE.ours_alone}
    large = {name for name in OURS if f"{name}_c" in theirs}
    assert {name for name in large if f"{name}_c" not in ours} == {
        *ELSEWHERE.large_counts_of_the_library
    }


def test_the_document_says_what_the_table_says():
    expected = calls.document(GROUPS, ELSEWHERE)
    assert calls.DOCUMENT.read_text() == expected, "run: .venv/bin/python tests/house/calls.py"


def test_the_command_line_knows_the_calls_that_are_counted():
    expected = calls.counted_calls(GROUPS)
    assert calls.COUNTED.read_text() == expected, "run: .venv/bin/python tests/house/calls.py"
