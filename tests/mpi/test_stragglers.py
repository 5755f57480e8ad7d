"""A plane that stands still does not keep two from ending that agree."""

import sys

import jobs
import pytest

RANKS = 3
# All ranks of one plane stop themselves after ten steps; the messages of the last one are out.
PROGRAM = """
import array, os, signal, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
stops = os.environ['RESPROUT_REPLICA'] == sys.argv[1]
right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
for step in range(20):
    if world.rank == 0: print('step', step, flush=True)
    request = world.Isend(array.array('i', [world.rank + step]), right)
    got = array.array('i', [0])
    world.Recv(got, left)
    request.Wait()
    assert got[0] == left + step
    if step == 9:
        world.Barrier()
        if stops: os.kill(os.getpid(), signal.SIGSTOP)
sys.exit(5)
"""


def run(plane: int, replicas: int, method: str, *options: str) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, "--heartbeat-timeout", "60000"]
    program = [sys.executable, "-c", PROGRAM, str(plane)]
    return jobs.resprout_run(RANKS, program, [*chosen, *options])


@pytest.mark.parametrize("plane", [0, 1, 2])
@pytest.mark.parametrize("method", ["async", "async-hash"])
def test_a_plane_that_stands_still_is_ended_when_the_others_agree(method: str, plane: int) -> None:
    ended = run(plane, 3, method, "--straggler-wait", "0.5")
    assert ended.status == 5, str(ended)
    how = ["whole"] * 3
    how[plane] = "ended"
    assert [end["how"] for end in ended.report["planes"]] == how, str(ended)
    assert ended.out.splitlines() == [f"step {step}" for step in range(20)]
    assert f"plane {plane} of 3 was ended: it was behind" in ended.err
    assert ended.report["corruptions"] == []
    # What the third has not said, the two have asked each other.
    done = ended.report["verification"]
    assert (done["unverified"], done["verified"]) == (0, 2 * RANKS * 20), str(ended)
