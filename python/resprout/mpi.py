"""What an mpi4py program can ask Resprout, beyond MPI.

from resprout.mpi import contributors
comm.Allreduce(mine, total)
print(contributors(comm).Get_size(), "of", comm.Get_size(), "have contributed")
"""

import ctypes
from typing import Any


def contributors(comm: Any) -> Any:
    """Whose data are in the result of the last collective operation on `comm`, as an MPI.Group.

    Of a reduction or a barrier all those who were not left out, of a broadcast its root; nobody if
    that operation had no result, or if there was none yet. `comm` is an mpi4py.MPI.Comm.
    Without Resprout (the program was not started by `resprout run`) a RuntimeError.
    """
    from mpi4py import MPI

    try:
        function = ctypes.CDLL(None).resprout_contributors
    except AttributeError:
        raise RuntimeError("Resprout is not there; start it by `resprout run`") from None
    group = MPI.Group()
    handle = _handle_type()
    code = function(
        handle.from_address(MPI._addressof(comm)), ctypes.c_void_p(MPI._addressof(group))
    )
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)
    return group


def _handle_type() -> Any:
    """How MPI's C handles look: pointers, or integers."""
    from mpi4py import MPI

    is_pointer = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p)
    return ctypes.c_void_p if is_pointer else ctypes.c_int
