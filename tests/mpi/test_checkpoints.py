"""resprout_checkpoint: real replicas that have worked with wrong data go back, and come right."""

import sys
from pathlib import Path
from typing import Any

import covering
import jobs
import pytest
from soak_checkpoints import PROGRAM, RANKS, RESULT, STEPS, come_right

# Of rank 1: of each step the first goes to rank 2, the second to rank 0, the third to rank 0.
OF_STEP_2 = 5
RIGHT = sorted([f"step {step}" for step in range(1, STEPS + 1)] + RESULT)


def run(
    replicas: int, method: str, *faults: str, program: list[object] | None = None
) -> jobs.Ended:
    options = ["--replicas", str(replicas), "--verify", method]
    for fault in faults:
        options += ["--inject", fault]
    return jobs.resprout_run(RANKS, [str(word) for word in program or [PROGRAM]], options)


def lines(ended: jobs.Ended) -> list[str]:
    return sorted(ended.out.splitlines())


def figures(ended: jobs.Ended) -> tuple[int, int]:
    done: dict[str, Any] = ended.report["verification"]
    return done["checkpoints"], done["returns"]


def then(ended: jobs.Ended) -> set[str]:
    return {one["then"] for one in ended.report["corruptions"]}


def expect_right(ended: jobs.Ended) -> None:
    assert ended.status == 0, str(ended)
    assert lines(ended) == RIGHT, str(ended)


def test_where_nothing_is_verified_a_checkpoint_does_nothing() -> None:
    plain = jobs.resprout_run(RANKS, [str(PROGRAM)], [])
    assert (plain.status, lines(plain)) == (0, RIGHT), str(plain)


@pytest.mark.parametrize(("replicas", "method"), [(2, "async"), (3, "msg-plus-hash")])
def test_right_checkpoints_are_kept_and_nobody_goes_back(replicas: int, method: str) -> None:
    ended = run(replicas, method)
    expect_right(ended)
    assert figures(ended) == (STEPS + 1, 0)
    assert ended.report["corruptions"] == []


@pytest.mark.parametrize("replica", [0, 1, 2])
def test_of_three_replicas_the_wrong_one_goes_back_and_comes_right(replica: int) -> None:
    method = ["async", "async-hash", "msg-plus-hash"][replica]
    # What it then gives to collectives is wrong: nothing can replace that.
    ended = run(3, method, f"flip:rank=1,replica={replica},where=memory,checkpoint=2,bit=900")
    expect_right(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole"] * 3
    assert figures(ended) == (STEPS + 1, 1)
    assert "exclude" not in then(ended)
    who = {one["replica"] for one in ended.report["corruptions"] if one["then"] == "go_back"}
    assert who == {replica}
    assert f"plane {replica}, which has worked with it, goes back" in ended.err


@pytest.mark.parametrize("method", ["async", "async-hash"])
def test_a_late_mismatch_sends_the_plane_back_and_one_in_time_does_not(method: str) -> None:
    ended = run(3, method, f"flip:rank=1,replica=1,message={OF_STEP_2},bit=9")
    expect_right(ended)
    assert figures(ended) == (STEPS + 1, int("go_back" in then(ended)))
    assert "exclude" not in then(ended)


@pytest.mark.parametrize("method", ["async-hash", "all-to-all"])
def test_of_two_replicas_both_go_back(method: str) -> None:
    ended = run(2, method, f"flip:rank=1,replica=1,message={OF_STEP_2},bit=9")
    expect_right(ended)
    assert figures(ended) == (STEPS + 1, 2)
    assert "nobody can tell which copy is right; the planes go back" in ended.err


@pytest.mark.parametrize(("replicas", "method"), [(2, "msg-plus-hash"), (3, "async-hash")])
def test_corrupted_memory_is_found_at_the_next_checkpoint_if_not_before(
    replicas: int, method: str
) -> None:
    # The last one was sent to nobody any more.
    faults = [f"flip:rank=2,replica=1,where=memory,checkpoint={n},bit=700" for n in (2, STEPS)]
    ended = run(replicas, method, *faults)
    expect_right(ended)
    assert figures(ended)[0] == STEPS + 1
    assert figures(ended)[1] >= 2
    flipped = ended.report["flipped"]
    assert [(one["checkpoint"], one["message"], one["rank"]) for one in flipped] == [
        (2, 0, 2),
        (STEPS, 0, 2),
    ]
    assert "protects was flipped after its checkpoint 2 (injected)" in ended.err


@pytest.mark.parametrize("seed", covering.a_share(range(6), of_one=4))
def test_random_corruption_of_messages_and_memory_is_undone(seed: int) -> None:
    come_right(seed)


def test_a_plane_that_goes_back_does_not_need_the_one_that_dies() -> None:
    ended = run(
        3,
        "async-hash",
        f"flip:rank=1,replica=1,message={OF_STEP_2},bit=9",
        "kill:rank=0,replica=0,at=allreduce#3",
    )
    expect_right(ended)
    how = [plane["how"] for plane in ended.report["planes"]]
    # It may be back before the others are at their end.
    assert how[1:] == ["whole", "whole"]
    assert how[0] == "lost" or ended.report["planes"][0]["returns"]


def test_what_is_found_after_the_last_checkpoint_costs_the_plane(tmp_path: Path) -> None:
    program = tmp_path / "last.py"
    program.write_text(
        """
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

field, total = numpy.arange(8), numpy.zeros(8, dtype=int)
protect(field)
checkpoint()
MPI.COMM_WORLD.Allreduce(field, total)
print(total.sum())
"""
    )
    flip = "flip:rank=1,replica=1,where=memory,checkpoint=1,bit=5"
    ended = run(3, "async-hash", flip, program=[sys.executable, program])
    assert ended.status == 0, str(ended)
    assert lines(ended) == [str(RANKS * sum(range(8)))] * RANKS
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "excluded", "whole"]


def test_a_python_program_goes_back(tmp_path: Path) -> None:
    program = tmp_path / "steps.py"
    program.write_text(
        """
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

comm = MPI.COMM_WORLD
step, field = numpy.zeros(1, dtype=int), numpy.arange(8.0) + comm.rank
protect(step)
protect(field)
while True:
    checkpoint()
    if step[0] == 4:
        break
    total = numpy.empty_like(field)
    comm.Allreduce(field, total)
    others = numpy.empty_like(field)
    comm.Sendrecv(field, (comm.rank + 1) % comm.size, 0, others)
    field[:] = field * 2 + total + others
    step[0] += 1
    if comm.rank == 0:
        print("step", step[0])
print(f"rank {comm.rank}: {field.sum()}")
"""
    )
    words: list[object] = [sys.executable, program]
    plain = jobs.resprout_run(RANKS, [str(word) for word in words], [])
    assert plain.status == 0, str(plain)
    ended = run(2, "async-hash", "flip:rank=1,replica=1,message=2,bit=60", program=words)
    assert ended.status == 0, str(ended)
    assert figures(ended) == (5, 2)
    assert lines(ended) == lines(plain)


def test_a_checkpoint_with_messages_on_the_way_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "busy.py"
    program.write_text(
        """
from mpi4py import MPI
from resprout.mpi import checkpoint

comm = MPI.COMM_WORLD
if comm.rank == 0:
    comm.send(1, 1)
comm.Barrier()
try:
    checkpoint()
    print("kept")
except MPI.Exception as refusal:
    print("refused", refusal.Get_error_class() == MPI.ERR_PENDING)
if comm.rank == 1:
    comm.recv(source=0)
checkpoint()
"""
    )
    ended = run(2, "async-hash", program=[sys.executable, program])
    assert ended.status == 0, str(ended)
    assert lines(ended) == ["refused True"] * RANKS, str(ended)
    assert "every message that was sent has been received" in ended.err


@pytest.mark.parametrize("replicas", [2, 3])
def test_a_plane_that_is_led_astray_is_not_waited_for_for_ever(
    tmp_path: Path, replicas: int
) -> None:
    program = tmp_path / "astray.py"
    program.write_text(
        """
import time
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

comm = MPI.COMM_WORLD
step = numpy.zeros(1, dtype=int)
protect(step)
while True:
    checkpoint()
    if step[0] == 4:
        break
    got = numpy.zeros(1, dtype=int)
    comm.Sendrecv(step, (comm.rank + 1) % comm.size, 0, got)
    comm.Allreduce(MPI.IN_PLACE, got, MPI.MAX)
    while got[0] > 4:
        time.sleep(0.1)
    step[0] += 1
print("rank", comm.rank, "is done")
"""
    )
    options = ["--replicas", str(replicas), "--verify", "async-hash", "--straggler-wait", "1"]
    options += ["--inject", "flip:rank=1,replica=1,where=memory,checkpoint=2,bit=40"]
    ended = jobs.resprout_run(RANKS, [sys.executable, str(program)], options)
    assert ended.status == 0, str(ended)
    assert lines(ended) == [f"rank {rank} is done" for rank in range(RANKS)]
    planes = [(plane["how"], len(plane["returns"])) for plane in ended.report["planes"]]
    # It may be back before the others are at their end. It asks for the time, which nobody decides
    # there: if the others are through before it is ended, it is lost.
    assert all(plane == ("whole", 0) for plane in planes[:1] + planes[2:])
    assert planes[1] in [(how, times) for how in ("ended", "lost") for times in (0, 1)] + [
        ("whole", 1)
    ]
