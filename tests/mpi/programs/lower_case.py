"""mpi4py's functions for Python objects among those who are left: each rank says what it got."""

import os
import signal
import sys
import time

from mpi4py import MPI

FUNCTION, VICTIM = sys.argv[1], int(sys.argv[2])
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
last = size - 1
mine = {"of": rank}
calls = {
    "bcast": lambda: world.bcast(mine if rank == last else None, root=last),
    "scatter": lambda: world.scatter([f"for {r}" for r in range(size)], root=last),
    "gather": lambda: world.gather(mine, root=last),
    "allgather": lambda: world.allgather(mine),
    "alltoall": lambda: world.alltoall([(rank, r) for r in range(size)]),
    "reduce": lambda: world.reduce(rank, root=last),
    "allreduce": lambda: world.allreduce(rank),
    "scan": lambda: world.scan(rank),
    "exscan": lambda: world.exscan(rank),
}
calls[FUNCTION]()
world.Barrier()
if rank == VICTIM:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(0.1)
for _ in range(2):
    try:
        print(rank, calls[FUNCTION](), flush=True)
    except MPI.Exception as error:
        print(rank, "raised", error.Get_error_class() == MPI.ERR_PROC_FAILED, flush=True)
