"""What a job of MPICH or Intel MPI cannot have yet, refused before anything is started."""

from collections.abc import Mapping, Sequence

from resprout.errors import UserError
from resprout.launch.mpi import Mpi


def check_own(
    mpi: Mpi,
    texts: Mapping[str, str | None],
    inject: Sequence[str],
    hostfile: str | None,
    mpirun_args: Sequence[str],
) -> None:
    """Of a job that we start ourselves."""
    if hostfile is not None:
        raise UserError(f"--hostfile: ranks of {mpi} can be started on this host only")
    if mpirun_args:
        raise UserError(f"--mpirun-arg: ranks of {mpi} are not started by its mpirun")
    if texts.get("--replicas") not in (None, "1"):
        raise UserError(f"--replicas needs Open MPI 5, and the program uses {mpi}")
    if inject:
        raise UserError(f"--inject needs Open MPI 5, and the program uses {mpi}")
    if (on_loss := texts.get("--on-loss")) not in (None, "continue", "restart"):
        raise UserError(
            f"--on-loss {on_loss} needs Open MPI 5, and the program uses {mpi}: its job ends at "
            "its first loss, or starts again with --on-loss restart"
        )
