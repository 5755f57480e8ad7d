"""Programs in Fortran on MPICH: `mpif.h`, `use mpi` and `use mpi_f08`, without losses and with one.

The wheel of MPICH has nothing for Fortran. This is Debian's (libmpich-dev), or another one whose
prefix MPICH_FOR_FORTRAN names. Its C library has a name of its own, by which nothing but what
Debian has compiled asks for it; a folder of links gives it the name that it has everywhere else.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import fortran
import jobs
import pytest
from test_other_mpis_kills import SHIM

STYLES = ["mpif.h", "use mpi", "use mpi_f08"]
# MPI_Waitany of mpi_f08 in MPICH 4.0.2 gives indices that begin with 0.
_WAITANY = "call MPI_Waitany(2, requests, index, status)"
_INSTEAD = "call MPI_Wait(requests(2), status)\n  index = 2"
_DEBIAN = Path("/usr/lib/x86_64-linux-gnu")


def places() -> tuple[Path, Path]:
    """Where an MPICH has what is included, and its libraries."""
    if prefix := os.environ.get("MPICH_FOR_FORTRAN"):
        return Path(prefix) / "include", Path(prefix) / "lib"
    return Path("/usr/include/x86_64-linux-gnu/mpich"), _DEBIAN


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    includes, libraries = places()
    if not (includes / "mpi_f08.mod").exists():
        pytest.skip(f"there is no {includes}/mpi_f08.mod; `apt-get install libmpich-dev` gets it")
    if not SHIM.exists():
        pytest.skip(f"there is no {SHIM.name}; `make mpis` builds it")
    made = tmp_path_factory.mktemp("mpich")
    (made / "lib").mkdir()
    for path in libraries.glob("lib*mpi*.so*"):
        (made / "lib" / path.name).symlink_to(path)
    library = made / "lib" / "libmpi.so.12"
    if not library.exists():
        library.symlink_to((libraries / "libmpich.so.12").resolve())
    return made


def compiled(source: Path) -> Path:
    """A program beside its source."""
    program = source.with_suffix("")
    includes, libraries = places()
    library = "mpichfort" if (libraries / "libmpichfort.so.12").exists() else "mpifort"
    assert fortran.COMPILER is not None
    options = ["-O2", "-fwrapv", "-fallow-argument-mismatch", "-w", f"-I{includes}"]
    links = [f"-L{libraries}", f"-l:lib{library}.so.12", "-Wl,--allow-shlib-undefined"]
    command = [fortran.COMPILER, *options, f"-J{source.parent}", source, "-o", program, *links]
    subprocess.run(command, check=True)
    return program


def in_style(style: str, folder: Path) -> Path:
    """That of tests/fortran/compiled, as this style has it."""
    name = "modern" if style == "use mpi_f08" else "classic"
    text = (fortran.SOURCES / "compiled" / f"{name}.f90").read_text()
    if style == "use mpi":
        text = text.replace("  include 'mpif.h'\n", "")
        text = text.replace("  implicit none\n", "  use mpi\n  implicit none\n")
    if style == "use mpi_f08":
        assert _WAITANY in text
        text = text.replace(_WAITANY, _INSTEAD)
    source = folder / f"{name}.f90"
    source.write_text(text)
    return compiled(source)


def run(
    program: Path, prefix: Path, *options: str, program_arguments: Sequence[str] = ()
) -> jobs.Ended:
    variables = {"LD_LIBRARY_PATH": os.pathsep.join([str(prefix / "lib"), str(places()[1])])}
    chosen = ["--mpi", str(prefix), "--on-unanswered", "ignore", *options]
    return jobs.resprout_run(4, [program, *program_arguments], chosen, variables)


@fortran.needs_compiler
@pytest.mark.parametrize("style", STYLES)
def test_the_others_go_on_without_a_killed_rank(style: str, prefix: Path, tmp_path: Path) -> None:
    program = in_style(style, tmp_path)
    ended = run(program, prefix, "--inject", "kill:rank=1,at=allreduce#4")
    assert ended.status == 0, str(ended)
    expected = [f"rank {rank} of 3 living, lost T" for rank in (0, 2, 3)]
    assert sorted(ended.out.splitlines()) == expected, str(ended)
    assert ended.lost == {1}, str(ended)


@pytest.fixture
def kernel(tmp_path: Path, prefix: Path) -> Path:
    source = tmp_path / "ft.f90"
    source.write_text((jobs.ROOT / "examples" / "kernels" / "ft.f90").read_text())
    return compiled(source)


@fortran.needs_compiler
def test_without_a_loss_a_kernel_has_its_right_result(kernel: Path, prefix: Path) -> None:
    ended = run(kernel, prefix, program_arguments=("S", "3"))
    assert (ended.status, ended.lost) == (0, set()), str(ended)
    assert ended.out.startswith("ft class=S ranks=4 iterations=3 result="), str(ended)
    assert ended.out.endswith(" verified\n"), str(ended)


@fortran.needs_compiler
def test_after_a_loss_a_kernel_does_not_call_its_result_right(kernel: Path, prefix: Path) -> None:
    fault = ["--inject", "kill:rank=1,at=alltoall#5"]
    ended = run(kernel, prefix, *fault, program_arguments=("S", "3"))
    assert ended.status != 0 and ended.lost >= {1}, str(ended)
    assert " verified" not in ended.out, str(ended)
