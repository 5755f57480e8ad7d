"""What an mpi4py program can ask Resprout, beyond MPI.

from resprout.mpi import contributors
comm.Allreduce(mine, total)
print(contributors(comm).Get_size(), "of", comm.Get_size(), "have contributed")
"""

import contextlib
import ctypes
import pickle
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

    A job that was started again after a loss (`resprout run --on-loss restart`) puts back the last
    checkpoint in the first call. What is protected by then has to have the sizes that it had.

    Collective over MPI.COMM_WORLD. MPI.ERR_PENDING, where messages are verified: one that was sent
    has not been received, or a receive is not complete; nothing was kept.
    """
    function = _function("resprout_checkpoint")
    # What is in these buffers belongs before the checkpoint.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.flush()
    _check(function())


class Kept:
    """Arrays and picklable objects by name, which a checkpoint keeps together.

        kept = Kept(step=0, field=numpy.zeros(1000))
        while True:
            kept.checkpoint()
            if kept.step == steps:
                break
            advance(kept.field)
            kept.step += 1

    What offers a writable, contiguous buffer, as a NumPy array, stays where it is: assigning to it
    writes into it, if the new one has its shape and type. All others are pickled, and are other
    objects when they are put back. Every life of the job, and every replica, names the same things
    before its first checkpoint, with arrays of the same sizes.
    """

    _room: bytearray
    _things: dict[str, Any]
    _arrays: dict[str, Any]
    _is_protected: bool

    def __init__(self, *, room: int = 1 << 16, **things: Any) -> None:
        """`room`: bytes for the pickled objects, all together."""
        vars(self).update(_room=bytearray(room), _things={}, _arrays={}, _is_protected=False)
        for name, thing in things.items():
            setattr(self, name, thing)

    def __getattr__(self, name: str) -> Any:
        for some in (vars(self)["_arrays"], vars(self)["_things"]):
            if name in some:
                return some[name]
        raise AttributeError(f"{name} is not kept")

    def __setattr__(self, name: str, thing: Any) -> None:
        if name in self._arrays:
            self._write(name, thing)
        elif self._is_protected and name not in self._things:
            raise AttributeError(f"{name} is not kept: name it before the first checkpoint")
        elif _is_array(thing) and name not in self._things:
            self._arrays[name] = thing
        else:
            self._things[name] = thing

    def checkpoint(self) -> None:
        """As the function of this name, of what is kept here."""
        if not self._is_protected:
            protect(self._room)
            for name in sorted(self._arrays):
                protect(self._arrays[name])
            vars(self)["_is_protected"] = True
        said = self._pickle()
        checkpoint()
        if self._room[: len(said)] != said:
            self._unpickle()

    def _write(self, name: str, thing: Any) -> None:
        old, new = (memoryview(some) for some in (self._arrays[name], thing))
        if (old.shape, old.format) != (new.shape, new.format):
            raise ValueError(f"{name} is an array of another shape or type")
        if old.nbytes:
            old.cast("B")[:] = new.tobytes()

    def _pickle(self) -> bytes:
        names = sorted(self._arrays)
        text = pickle.dumps((names, dict(sorted(self._things.items()))))
        said = len(text).to_bytes(8, "little") + text
        if len(said) > len(self._room):
            raise ValueError(
                f"what is kept takes {len(said)} bytes when it is pickled; ask for more by "
                f"Kept(room={1 << len(said).bit_length()}, ...)"
            )
        self._room[: len(said)] = said
        return said

    def _unpickle(self) -> None:
        size = int.from_bytes(self._room[:8], "little")
        names, things = pickle.loads(bytes(self._room[8 : 8 + size]))
        if names != sorted(self._arrays) or set(things) != set(self._things):
            raise RuntimeError(
                f"the checkpoint has kept {', '.join([*names, *things])}, which is not what is "
                "named here"
            )
        self._things.update(things)


def _is_array(thing: Any) -> bool:
    try:
        view = memoryview(thing)
    except TypeError:
        return False
    return not view.readonly and view.c_contiguous


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
