"""The stencil of memory.c in Python: what is kept, is kept by name.

    memory.py [STEPS [EVERY [SECONDS]]]

Under `resprout run --on-loss restart` it goes on from the last checkpoint when it is started again.
SECONDS: how long a step takes at least.
"""

import sys
import time

import numpy
from mpi4py import MPI
from resprout.mpi import Kept

CELLS = 1000

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
steps, every = (int(word) for word in [*sys.argv[1:3], "2000", "100"][:2])
pause = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
left = rank - 1 if rank > 0 else MPI.PROC_NULL
right = rank + 1 if rank + 1 < ranks else MPI.PROC_NULL

kept = Kept(step=0, hottest=[], field=numpy.zeros(CELLS + 2))
field = kept.field
if rank == ranks // 2:
    field[CELLS // 2] = 1000
is_first = True
while True:
    if kept.step % every == 0:
        kept.checkpoint()
        kept.hottest.append(float(field.max()))
    if is_first and rank == 0:
        print(f"begins at step {kept.step}", flush=True)
    is_first = False
    if kept.step == steps:
        break
    time.sleep(pause)
    comm.Sendrecv(field[1:2], left, 0, field[-1:], right, 0)
    comm.Sendrecv(field[-2:-1], right, 1, field[:1], left, 1)
    field[1:-1] = 0.25 * (field[:-2] + 2 * field[1:-1] + field[2:])
    kept.step += 1
heat = comm.reduce(float(numpy.sum(field[1:-1] ** 2)))
if rank == 0:
    print(f"after {steps} steps: {heat.hex()} {len(kept.hottest)}")
