"""The doctor's table: every MPI that there is, tried with two ranks of which one is killed."""

import os
from pathlib import Path

import pytest
from resprout.doctor import mpis, table
from resprout.doctor.mpis import Found, find_all
from resprout.doctor.table import Row, rows
from resprout.launch.mpi import Library, Mpi

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / ".venv" / "mpis"
PREFIXES = {"MPICH": WHEELS / "mpich", "Intel MPI": WHEELS / "impi-rt"}


def need(prefix: Path) -> None:
    if not (prefix / "lib" / "libmpi.so.12").exists():
        pytest.skip(f"there is no {prefix.relative_to(ROOT)}; `make .venv/mpis.stamp` gets it")


@pytest.fixture
def nothing_beside_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As where Python has no MPI of its own."""
    monkeypatch.setattr(mpis, "own_prefix", lambda: tmp_path)


@pytest.mark.usefixtures("nothing_beside_python")
def test_each_place_is_looked_at_and_each_library_stands_once(tmp_path: Path) -> None:
    for prefix in PREFIXES.values():
        need(prefix)
    link = tmp_path / "again"
    link.symlink_to(PREFIXES["MPICH"])
    environment = {
        "I_MPI_ROOT": str(PREFIXES["Intel MPI"]),
        "PATH": os.pathsep.join([str(PREFIXES["MPICH"] / "bin"), str(link / "bin")]),
        "LD_LIBRARY_PATH": str(PREFIXES["MPICH"] / "lib"),
    }
    found = [(one.mpi.library, one.how) for one in find_all(None, environment)]
    assert found == [(Library.INTEL_MPI, "I_MPI_ROOT"), (Library.MPICH, "PATH")]
    named = [*find_all(str(PREFIXES["MPICH"]), {})]
    assert [one.how for one in named] == ["--mpi"]


@pytest.mark.usefixtures("nothing_beside_python")
def test_what_is_no_mpi_is_not_in_the_table(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so.12").write_text("nothing of the kind")
    assert [*find_all(str(tmp_path), {"MPI_HOME": str(tmp_path / "none")})] == []


@pytest.mark.usefixtures("nothing_beside_python")
@pytest.mark.parametrize("name", PREFIXES)
def test_an_mpi_is_tried_with_a_rank_that_is_really_killed(name: str) -> None:
    need(PREFIXES[name])
    if not (ROOT / "python" / "resprout" / "libresprout_mpich.so").exists():
        pytest.skip("there is no libresprout_mpich.so; `make mpis` builds it")
    (row,) = rows(str(PREFIXES[name]), {})
    assert (row.starts, row.loses) == ("ok", "ok")
    assert row.bears.startswith("losses")
    assert row.to_json()["library"] == name


@pytest.mark.usefixtures("nothing_beside_python")
def test_where_nothing_of_resprout_fits_no_loss_is_borne(monkeypatch: pytest.MonkeyPatch) -> None:
    need(PREFIXES["MPICH"])
    monkeypatch.setattr(table, "shim_for", lambda _mpi: None)
    (row,) = rows(str(PREFIXES["MPICH"]), {})
    assert (row.starts, row.loses, row.bears) == ("ok", "not tried", "no loss")


def test_the_columns_of_the_table_are_under_their_names() -> None:
    mpi = Mpi(Path("/opt/mpich/bin/mpiexec"), Library.MPICH, "5.0.2", has_ulfm=False)
    row = Row(Found(mpi, Path("/opt/mpich/lib/libmpi.so.12"), "PATH"), "ok", "ok", "losses")
    head, line = table.lines([row])
    for name, text in (("MPI", "MPICH 5.0.2"), ("found by", "PATH"), ("where", "/opt")):
        assert head.index(name) == line.index(text)
