"""What the doctor runs on each MPI: barriers, of which the launcher's injector may end a rank.

    barriers.py LIBRARY COUNT

LIBRARY is the MPI library's file, so that neither a compiler nor mpi4py is needed. Rank 0 prints
`ok` when it has come to the end.
"""

import ctypes
import sys

# MPI_COMM_WORLD, in the two binary interfaces where it is a number; in Open MPI it is an object.
_CLASSIC = 0x44000000
_STANDARD = 0x101
_OF_OPEN_MPI = "ompi_mpi_comm_world"


def _world(library: ctypes.CDLL, path: str) -> ctypes.c_void_p | ctypes.c_int:
    if hasattr(library, _OF_OPEN_MPI):
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, _OF_OPEN_MPI)))
    return ctypes.c_void_p(_STANDARD) if "libmpi_abi" in path else ctypes.c_int(_CLASSIC)


def main(path: str, count: int) -> int:
    library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    calls = ctypes.CDLL(None)  # Resprout's stand in front of the library's
    world, rank = _world(library, path), ctypes.c_int(-1)
    codes = [calls.MPI_Init(None, None), calls.MPI_Comm_rank(world, ctypes.byref(rank))]
    codes += [calls.MPI_Barrier(world) for _ in range(count)]
    codes.append(calls.MPI_Finalize())
    if rank.value == 0 and not any(codes):
        sys.stdout.write("ok\n")
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
