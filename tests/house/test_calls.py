"""The table of all MPI calls is complete, and tells the truth about what libresprout.so defines."""

import subprocess

import calls
from sources import BUILD

# Of MPI-1: today's headers no longer declare them, but old programs may call them.
UNDECLARED = {
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPIX_Comm_ishrink",
}
GROUPS = calls.read_table()
NAMES = [name for group in GROUPS for name in group.calls]


def test_every_treatment_is_one_of_the_four():
    assert {group.treatment for group in GROUPS} == set(calls.TREATMENTS)


def test_no_call_stands_there_twice():
    assert len(NAMES) == len(set(NAMES))


def test_every_call_that_the_headers_declare_is_in_the_table():
    assert calls.declared() == set(NAMES) - UNDECLARED


def test_the_library_stands_in_for_exactly_the_calls_that_do_not_pass_through():
    command = ["nm", "-D", "--defined-only", "-P", str(BUILD / "lib" / "libresprout.so")]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    defined = {line.split()[0] for line in listing.splitlines()}
    ours = {name for g in GROUPS for name in g.calls if g.treatment != "passes through"}
    assert {name for name in defined if name.startswith(("MPI_", "MPIX_"))} == ours


def test_the_document_says_what_the_table_says():
    written = calls.DOCUMENT.read_text()
    assert written == calls.document(GROUPS), "run: .venv/bin/python tests/house/calls.py"
