"""What ranks of planes say is shown as they have said it, whatever it looks like."""

import sys

import jobs

PROGRAM = r"""
import sys
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
for said in TEXTS:
    if rank == 0: sys.stdout.write(said)
    sys.stdout.flush()
    MPI.COMM_WORLD.Barrier()
"""
TEXTS = [
    "log [1,0]<stdout>: step\n",
    "[1,1]<stderr>: [prterun-here-1@1,0]<stdout>: at the beginning\n",
    "\x1eresprout-return 1\n",
    "\x1eresprout-return /tmp/resprout-k3x9a2lm/return-1\n",
    "in two [1,1]<stdout>: ",
    "parts\n",
    "[1,0]<stdout>: without an end",
]


def test_text_that_looks_like_the_launchers_is_shown() -> None:
    program = PROGRAM.replace("TEXTS", repr(TEXTS))
    ended = jobs.resprout_run(2, [sys.executable, "-c", program], ["--replicas", "2"])
    assert ended.status == 0, str(ended)
    assert ended.out == "".join(TEXTS), str(ended)
