"""Planes on one host have shares of its cores, and those of who is lost."""

import os
import sys
import tempfile

import jobs
from resprout.launch.planes.cores import shares

ALL = sorted(os.sched_getaffinity(0))
FIRST, SECOND = map(sorted, shares(ALL, 2))

# Goes on until it may use so many cores, and says which ones. Before that all processes have begun:
# a plane that comes late might have the cores of one that is over.
_PROGRAM = """
import os, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
began = sorted(os.sched_getaffinity(0))
open(f"{sys.argv[2]}/{os.getpid()}", "w").close()
while len(os.listdir(sys.argv[2])) < 4:
    time.sleep(0.01)
world.Barrier()
while world.allreduce(len(os.sched_getaffinity(0)) < int(sys.argv[1]), op=MPI.LOR):
    world.Barrier()
print(f"rank {world.rank} began with {began} and has {sorted(os.sched_getaffinity(0))}", flush=True)
"""


def run(cores: int, *options: str) -> jobs.Ended:
    with tempfile.TemporaryDirectory() as begun:
        program = [sys.executable, "-c", _PROGRAM, str(cores), begun]
        ended = jobs.resprout_run(2, program, ["--replicas", "2", *options])
    assert ended.status == 0, str(ended)
    return ended


def test_a_plane_has_its_share() -> None:
    ended = run(0)
    for rank in range(2):
        assert f"rank {rank} began with {FIRST} and has {FIRST}\n" in ended.out, str(ended)


def test_who_is_left_has_all_cores() -> None:
    ended = run(len(ALL), "--inject=kill:rank=0,replica=0,at=barrier#1")
    assert [plane["how"] for plane in ended.report["planes"]] == ["lost", "whole"], str(ended)
    for rank in range(2):
        assert f"rank {rank} began with {SECOND} and has {ALL}\n" in ended.out, str(ended)
