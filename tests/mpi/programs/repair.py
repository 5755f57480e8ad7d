"""ULFM's names of mpi4py: the last rank dies, the others revoke, agree, shrink and go on."""

import os
import signal
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
world.Set_errhandler(MPI.ERRORS_RETURN)
comm = world.Dup()
comm.Set_errhandler(MPI.ERRORS_RETURN)
total = array("i", [0])
comm.Allreduce(array("i", [1]), total, MPI.SUM)
assert total[0] == world.size
try:
    world.Barrier()  # all have seen the sum
    if comm.rank == comm.size - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    while True:
        comm.Barrier()
except MPI.Exception as error:
    assert error.Get_error_class() in (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED), error
comm.Revoke()
assert comm.Is_revoked() and not world.Is_revoked()
try:
    comm.Recv(array("i", [0]), source=0)
    raise SystemExit("received on a revoked communicator")
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_REVOKED, error
while comm.Ack_failed() < 1:
    pass
assert MPI.Group.Translate_ranks(comm.Get_failed(), [0], comm.group) == [comm.size - 1]
assert comm.Agree(6 if comm.rank == 0 else 3) == (2 if world.size > 2 else 6)
flag = array("i", [5])
comm.Iagree(flag).Wait()
assert flag[0] == 5
left = comm.Shrink()
left.Allreduce(array("i", [1]), total, MPI.SUM)
assert total[0] == left.size == world.size - 1
assert left.Dup().allgather(left.rank) == list(range(left.size))
if left.rank == 0:
    print(f"{left.size} are left")
