"""`resprout run --shadow-lag`: a plane waits where it would be too far ahead of a slower one."""

import sys
from pathlib import Path

import jobs
import pytest

LAZY = ["async", "async-hash"]
# Each step is two messages of a rank. Plane 0 writes down how many it has done; the others, which
# are slower, look there how far ahead it is, and begin when argv[4] says that it is so far.
PROGRAM = """
import array, os, pathlib, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
folder, steps, size, first = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
seen = folder / str(world.rank)
right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
is_fast = os.environ['RESPROUT_REPLICA'] == '0'
def done():
    return int.from_bytes(seen.read_bytes(), 'little') if seen.exists() else 0
while not is_fast and done() < first: time.sleep(0.01)
ahead = 0
with (open(seen, 'wb', buffering=0) if is_fast else open(os.devnull, 'wb')) as file:
    for step in range(steps):
        if not is_fast:
            time.sleep(0.001)
            ahead = max(ahead, done() - step)
        request = world.Isend(bytes(size), right, step % 3)
        world.Recv(bytearray(size), left, step % 3)
        request.Wait()
        if step % 50 == 49: world.Barrier()
        if is_fast: os.pwrite(file.fileno(), (step + 1).to_bytes(4, 'little'), 0)
mine = f"ahead-{os.environ['RESPROUT_REPLICA']}-{world.rank}"
if not is_fast: (folder / mine).write_text(str(ahead))
"""
RANKS = 3


def run(folder: Path, replicas: int, method: str, bound: str, *words: object, steps: int = 300,
        size: int = 8, first: int = 0) -> jobs.Ended:  # fmt: skip
    options = ["--replicas", str(replicas), "--verify", method, "--shadow-lag", bound]
    program = [sys.executable, "-c", PROGRAM, folder, steps, size, first]
    ended = jobs.resprout_run(RANKS, list(map(str, program)), [*options, *map(str, words)])
    assert ended.status == 0, str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    return ended


def how(ended: jobs.Ended) -> list[str]:
    return [plane["how"] for plane in ended.report["planes"]]


def steps_ahead(folder: Path) -> int:
    return max(int(path.read_text()) for path in folder.glob("ahead-*"))


@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize("method", LAZY)
def test_nobody_is_further_ahead_than_so_many_messages(
    method: str, replicas: int, tmp_path: Path
) -> None:
    ended = run(tmp_path, replicas, method, "20", first=5)
    assert how(ended) == ["whole"] * replicas
    assert 5 <= steps_ahead(tmp_path) <= 10
    done = ended.report["verification"]
    assert done["open_max"] <= 20
    assert done["unverified"] == 0
    assert done["verified"] >= replicas * RANKS * 300


def test_nor_than_so_many_bytes_of_copies(tmp_path: Path) -> None:
    ended = run(tmp_path, 2, "async", "256KiB", size=16 << 10, first=8)
    assert 8 <= steps_ahead(tmp_path) <= 16
    # What verified messages keep until the others have said that they are over is not much.
    assert ended.report["verification"]["bytes_max"] <= 512 << 10


def test_without_a_bound_a_plane_may_be_done_before_another_begins(tmp_path: Path) -> None:
    ended = run(tmp_path, 2, "async", "none", size=16 << 10, first=300)
    assert steps_ahead(tmp_path) == 300
    assert ended.report["verification"]["open_max"] >= 300
    # Some of the last may be on their way when the other plane begins.
    assert ended.report["verification"]["bytes_max"] >= 270 * 16 << 10


@pytest.mark.parametrize("method", LAZY)
def test_who_waits_for_a_plane_that_dies_goes_on(method: str, tmp_path: Path) -> None:
    ended = run(tmp_path, 3, method, "20", "--inject", "kill:rank=1,replica=2,at=isend#100",
                first=5)  # fmt: skip
    assert how(ended) == ["whole", "whole", "lost"], str(ended)
    assert steps_ahead(tmp_path) <= 10


# The first plane has sent 10 of its messages, waits for the other, and hears that it is gone.
def test_who_waits_for_the_last_other_plane_goes_on_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, 2, "async-hash", "20", "--inject", "kill:rank=0,replica=1,at=isend#2",
                first=5)  # fmt: skip
    assert how(ended) == ["whole", "lost"], str(ended)
    assert ended.report["verification"]["unverified"] > 0


def test_a_program_that_sends_everything_before_it_receives_ends(tmp_path: Path) -> None:
    program = (
        "import os, time; from mpi4py import MPI\n"
        "world = MPI.COMM_WORLD\n"
        "if os.environ['RESPROUT_REPLICA'] == '1': time.sleep(0.3)\n"
        "to, of = (world.rank + 1) % world.size, (world.rank - 1) % world.size\n"
        "sent = [world.Isend(bytes(1 << 17), to, n) for n in range(40)]\n"
        "got = [world.Irecv(bytearray(1 << 17), of, n) for n in reversed(range(40))]\n"
        "MPI.Request.Waitall(got); MPI.Request.Waitall(sent)\n"
    )
    for method in LAZY:
        options = ["--replicas", "2", "--verify", method, "--shadow-lag", "2"]
        ended = jobs.resprout_run(RANKS, [sys.executable, "-c", program], options)
        assert ended.status == 0, str(ended)
        assert how(ended) == ["whole", "whole"]
        assert ended.report["verification"]["unverified"] == 0
