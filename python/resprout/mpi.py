"""What an mpi4py program can ask Resprout, beyond MPI.

from resprout.mpi import contributors
comm.Allreduce(mine, total)
print(contributors(comm).Get_size(), "of", comm.Get_size(), "have contributed")
"""

import contextlib
import ctypes
import sys
from typing import Any


def contributors(comm: Any) -> Any:
    """Whose data are in the result of the last collective operation on `comm`, as an MPI.Group.

    Of a reduction or a barrier all those who were not left out, of a broadcast or a scatter its
    root; nobody if that operation had no result, or if there was none yet. What makes communicators
    of `comm` is one, too; of MPI.COMM_WORLD so is MPI_Init. `comm` is an mpi4py.MPI.Comm.
    Without Resprout (the program was not started by `resprout run`) a RuntimeError.
    """
    from mpi4py import MPI

    function = _function("resprout_contributors")
    group = MPI.Group()
    handle = _handle_type()
    _check(
        function(handle.from_address(MPI._addressof(comm)), ctypes.c_void_p(MPI._addressof(group)))
    )
    return group


def protect(data: Any) -> None:
    """What a checkpoint keeps: `data` is a writable, contiguous buffer, as a NumPy array.

    It has to stay where it is: assign to `data[:]`, not to `data`. Everything has to be protected
    that the program changes from one checkpoint to the next, its loop counters too (a NumPy array
    of one element), in the same order in all replicas.
    Without Resprout a RuntimeError, as of all functions here.
    """
    function = _function("resprout_protect")
    view = memoryview(data).cast("B")
    begin = ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else None
    _check(function(ctypes.c_void_p(begin), ctypes.c_size_t(view.nbytes)))


def checkpoint() -> None:
    """Keeps what is protected; or puts back what the last checkpoint has kept.

    The latter where `resprout run --verify` has found that this replica has worked with wrong data
    since, or one of two has; the program then does it all again. So call it at one place:

        while True:
            checkpoint()
            if step[0] == steps:
                break
            advance(field)
            step[0] += 1

    A replica that was lost and is started again has here what the others have protected.

    Collective over MPI.COMM_WORLD. MPI.ERR_PENDING, where messages are verified: one that was sent
    has not been received, or a receive is not complete; nothing was kept.
    """
    function = _function("resprout_checkpoint")
    # What is in these buffers belongs before the checkpoint.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.flush()
    _check(function())


def _function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name)
    except AttributeError:
        raise RuntimeError("Resprout is not there; start it by `resprout run`") from None


def _check(code: int) -> None:
    from mpi4py import MPI

    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


def _handle_type() -> Any:
    """How MPI's C handles look: pointers, or integers."""
    from mpi4py import MPI

    is_pointer = MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_void_p)
    return ctypes.c_void_p if is_pointer else ctypes.c_int
