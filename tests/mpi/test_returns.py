"""A plane that was lost comes back: real replicas are killed, and started again at checkpoints.

Programs wait at gates until the test has seen what it waits for, so that nothing depends on how
long it takes to start a plane.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import jobs
import pytest
from soak_checkpoints import PROGRAM, RANKS, RESULT, STEPS

RIGHT = sorted([f"step {step}" for step in range(1, STEPS + 1)] + RESULT)
# As PROGRAM, in Python; `salt` should have been protected.
UNPROTECTED = """
import os, sys, time
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

comm = MPI.COMM_WORLD
step, total, salt, got = (numpy.zeros(1, dtype=int) for _ in range(4))
protect(step)
protect(total)
while True:
    checkpoint()
    if step[0] == 6:
        break
    while os.path.exists(f"{sys.argv[1]}/wait-{step[0] + 1}"):
        time.sleep(0.01)
    if step[0] == 0:
        salt[0] = 7
    comm.Sendrecv(salt, (comm.rank + 1) % comm.size, 0, got)
    total += got
    step[0] += 1
print("rank", comm.rank, "has", total[0])
"""
# Waits before its first checkpoint.
LATE = """
import os, sys, time
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

def wait(step):
    while os.path.exists(f"{sys.argv[1]}/wait-{step}"):
        time.sleep(0.01)

comm = MPI.COMM_WORLD
step, total, got = (numpy.zeros(1, dtype=int) for _ in range(3))
protect(step)
protect(total)
open(f"{sys.argv[1]}/begins-{os.environ['RESPROUT_REPLICA']}-{comm.rank}", "w").close()
wait(0)
while True:
    checkpoint()
    if step[0] == 3:
        break
    wait(step[0] + 1)
    comm.Allreduce(comm.rank + step, got)
    total += got
    step[0] += 1
print("rank", comm.rank, "has", total[0])
"""
# Makes a communicator at its first step, which a plane that comes back later makes later.
LACKING = LATE.replace("comm = ", "comm, made = MPI.COMM_WORLD, []\nworld = ").replace(
    "comm.Allreduce", "made or made.append(comm.Dup())\n    made[0].Allreduce"
)
# Each rank writes its block of each step into a file that is made once.
WRITING = """
import os, sys, time
import numpy
from mpi4py import MPI
from resprout.mpi import checkpoint, protect

comm = MPI.COMM_WORLD
step, text = numpy.zeros(1, dtype=int), numpy.zeros(8, dtype="u1")
protect(step)
mode = MPI.MODE_CREATE | MPI.MODE_EXCL | MPI.MODE_RDWR
file = MPI.File.Open(comm, f"{sys.argv[1]}/out", mode)
while True:
    checkpoint()
    if step[0] == 6:
        break
    while os.path.exists(f"{sys.argv[1]}/wait-{step[0] + 1}"):
        time.sleep(0.01)
    text[:] = ord("a") + comm.rank
    text[7] = ord("0") + step[0]
    file.Write_at_all(8 * (comm.size * step[0] + comm.rank), text)
    step[0] += 1
file.Close()
"""


class Scene:
    """A job that stands at its gates, and what is done to it there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.job: jobs.Job

    def close(self, *steps: int) -> None:
        for step in steps:
            (self.folder / f"wait-{step}").touch()

    def open(self, step: int) -> None:
        (self.folder / f"wait-{step}").unlink()

    def kill(self, replica: int, rank: int) -> None:
        os.kill(self.find(replica, rank), signal.SIGKILL)

    def find(self, replica: int, rank: int) -> int:
        """The process that is this rank now."""
        found: list[int] = []

        def is_there() -> bool:
            variables = {"RESPROUT_REPLICA": str(replica), "OMPI_COMM_WORLD_RANK": str(rank)}
            found[:] = [
                pid
                for pid in self.job.processes()
                if all(jobs.variable(pid, name) == text for name, text in variables.items())
            ]
            return len(found) == 1

        self.wait_until(is_there)
        return found[0]

    def wait_until_at(self, step: int) -> None:
        """All planes that are shown are there: the leading one has said the step before."""
        self.wait_until(lambda: f"step {step - 1}\n" in self.job.said().out)

    def wait_until_said(self, text: str) -> None:
        self.wait_until(lambda: text in self.job.said().err)

    def wait_until_waiting(self, number: int, replica: int) -> None:
        """The plane that is started again is at its first checkpoint."""
        name = f"*/return-{number}/addresses-{replica}"
        self.wait_until(lambda: any(self.job.temporary.glob(name)))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        if not jobs.becomes_true(condition, jobs.WATCHDOG_SECONDS):
            pytest.fail(self.job.seen(), pytrace=False)

    def play(
        self,
        replicas: int,
        method: str,
        script: Callable[[], None],
        options: Sequence[str] = (),
        program: Sequence[str] = (str(PROGRAM), str(STEPS), "0"),
    ) -> jobs.Ended:
        def meanwhile(job: jobs.Job) -> None:
            self.job = job
            script()

        return jobs.resprout_run(
            RANKS,
            [*program, str(self.folder)],
            ["--replicas", str(replicas), "--verify", method, *options],
            meanwhile=meanwhile,
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def lines(ended: jobs.Ended) -> list[str]:
    return sorted(ended.out.splitlines())


def ends(ended: jobs.Ended) -> list[tuple[str, int]]:
    """How each plane ended, and how often it has come back."""
    return [
        (plane["how"], sum(one["joined_ns"] is not None for one in plane["returns"]))
        for plane in ended.report["planes"]
    ]


def expect_right(ended: jobs.Ended) -> None:
    assert ended.status == 0, str(ended)
    assert lines(ended) == RIGHT, str(ended)


def test_the_plane_that_is_left_waits_for_one_to_come_back_if_it_is_asked_to(scene: Scene) -> None:
    def lose_one() -> None:
        scene.wait_until_at(3)
        scene.kill(1, 1)
        scene.wait_until_said("nothing that plane 0 says is compared any more: it waits")
        scene.open(3)

    scene.close(3)
    ended = scene.play(2, "async-hash", lose_one, ["--on-unverified", "wait"])
    expect_right(ended)
    assert ends(ended) == [("whole", 0), ("whole", 1)], str(ended)
    assert ended.report["verification"]["unverified"] < ended.report["verification"]["verified"]


@pytest.mark.parametrize("method", ["async-hash", "all-to-all", "none"])
def test_a_job_of_two_planes_bears_the_loss_of_one_and_then_of_the_other(
    scene: Scene, method: str
) -> None:
    def lose_one_after_the_other() -> None:
        for number, (step, replica, rank) in enumerate([(3, 0, 1), (5, 1, 0)], start=1):
            scene.wait_until_at(step)
            scene.kill(replica, rank)
            scene.wait_until_waiting(number, replica)
            scene.open(step)
            scene.wait_until_said(f"plane {replica} of 2 is back, from checkpoint {step + 1}")

    scene.close(3, 5)
    ended = scene.play(2, method, lose_one_after_the_other)
    expect_right(ended)
    assert ends(ended) == [("whole", 1), ("whole", 1)]
    assert [one["losses"][0]["rank"] for p in ended.report["planes"] for one in p["returns"]] == [
        1,
        0,
    ]
    assert "2 of 2 planes were lost and came back" in ended.err


@pytest.mark.parametrize("method", ["async-hash", "none"])
def test_a_plane_that_is_lost_before_it_has_met_the_others_comes_back(
    scene: Scene, tmp_path: Path, method: str
) -> None:
    def lose_one_early() -> None:
        for plane in range(2):
            for rank in range(RANKS):
                scene.wait_until(lambda p=plane, r=rank: (tmp_path / f"begins-{p}-{r}").exists())
        scene.kill(0, 1)
        scene.wait_until_said("plane 0 of 2 is lost")
        scene.open(0)
        scene.wait_until_waiting(1, 0)
        scene.open(2)
        scene.wait_until_said("plane 0 of 2 is back")

    program = tmp_path / "late.py"
    program.write_text(LATE)
    scene.close(0, 2)
    ended = scene.play(2, method, lose_one_early, program=[sys.executable, str(program)])
    assert ended.status == 0, str(ended)
    assert lines(ended) == [f"rank {rank} has 18" for rank in range(RANKS)]
    assert ends(ended) == [("whole", 1), ("whole", 0)]


@pytest.mark.parametrize("method", ["async", "none"])
def test_of_three_planes_all_are_lost_in_the_course_of_time(scene: Scene, method: str) -> None:
    def lose_all() -> None:
        scene.wait_until_at(2)
        scene.kill(1, 2)
        scene.wait_until_waiting(1, 1)
        scene.open(2)
        scene.wait_until_said("plane 1 of 3 is back")
        scene.wait_until_at(4)
        # Two at once come back one after the other.
        scene.kill(0, 0)
        scene.kill(2, 0)
        scene.wait_until(lambda: scene.job.said().err.count(" of 3 is lost") == 3)
        scene.wait_until(lambda: scene.job.said().err.count("is started again") == 2)
        first = 0 if "plane 0 of 3 is started again" in scene.job.said().err else 2
        scene.wait_until_waiting(2, first)
        scene.open(4)
        scene.wait_until_waiting(3, 2 - first)
        scene.open(6)

    scene.close(2, 4, 6)
    ended = scene.play(3, method, lose_all)
    expect_right(ended)
    assert ends(ended) == [("whole", 1), ("whole", 1), ("whole", 1)]


def test_what_is_corrupted_after_a_plane_came_back_is_found_and_undone(scene: Scene) -> None:
    def lose_one() -> None:
        scene.wait_until_at(3)
        scene.kill(0, 2)
        scene.wait_until_waiting(1, 0)
        scene.open(3)

    # Of rank 1: three messages a step.
    flip = "flip:rank=1,replica=1,message=14,bit=9"
    scene.close(3)
    ended = scene.play(2, "async-hash", lose_one, ["--inject", flip])
    expect_right(ended)
    assert ends(ended) == [("whole", 1), ("whole", 0)]
    assert len(ended.report["flipped"]) == 1
    assert {one["then"] for one in ended.report["corruptions"]} == {"go_back"}
    assert ended.report["verification"]["returns"] == 2


def test_a_plane_that_dies_before_it_was_taken_in_is_not_tried_again(scene: Scene) -> None:
    def lose_twice() -> None:
        scene.wait_until_at(3)
        scene.kill(0, 1)
        scene.wait_until_waiting(1, 0)
        scene.kill(0, 0)
        scene.wait_until_said("plane 0 of 2 did not come back, and is not started again")
        scene.open(3)

    scene.close(3)
    ended = scene.play(2, "async", lose_twice)
    expect_right(ended)
    assert ends(ended) == [("lost", 0), ("whole", 0)]
    assert ended.err.count("is started again") == 1


def test_a_plane_that_lacks_what_was_not_protected_is_not_kept(
    scene: Scene, tmp_path: Path
) -> None:
    def lose_one() -> None:
        scene.wait_until(lambda: any(scene.job.temporary.glob("*/has-checkpoints")))
        scene.kill(0, 1)
        scene.wait_until_waiting(1, 0)
        scene.open(4)
        scene.wait_until_said("plane 0 of 2 is excluded")
        scene.open(6)

    program = tmp_path / "unprotected.py"
    program.write_text(UNPROTECTED)
    scene.close(4, 6)
    ended = scene.play(2, "async-hash", lose_one, program=[sys.executable, str(program)])
    assert ended.status == 0, str(ended)
    assert lines(ended) == [f"rank {rank} has 42" for rank in range(RANKS)]
    assert ends(ended) == [("excluded", 1), ("whole", 0)]


def test_planes_that_wait_for_what_one_of_them_lacks_do_not_wait_for_ever(
    scene: Scene, tmp_path: Path
) -> None:
    def lose_one() -> None:
        scene.wait_until(lambda: any(scene.job.temporary.glob("*/has-checkpoints")))
        scene.kill(0, 1)
        scene.wait_until_waiting(1, 0)
        scene.open(2)

    program = tmp_path / "lacking.py"
    program.write_text(LACKING)
    scene.close(2)
    ended = scene.play(
        2, "async-hash", lose_one, ["--straggler-wait", "6"], [sys.executable, str(program)]
    )
    assert ended.status == 0, str(ended)
    assert lines(ended) == [f"rank {rank} has 18" for rank in range(RANKS)]
    assert ends(ended) == [("ended", 1), ("whole", 0)]
    assert "plane 0 of 2 was ended: all planes waited at a checkpoint" in ended.err


@pytest.mark.parametrize("first", [0, 1])
def test_files_are_those_of_the_planes_that_were_there(
    scene: Scene, tmp_path: Path, first: int
) -> None:
    second = 1 - first

    def lose_one_after_the_other() -> None:
        scene.wait_until(lambda: any(scene.job.temporary.glob("*/has-checkpoints")))
        scene.kill(first, 1)
        scene.wait_until_said(f"plane {first} of 2 is started again")
        scene.wait_until_waiting(1, first)
        # Meanwhile the other one writes steps that this one has not seen.
        scene.open(2)
        scene.wait_until_said(f"plane {first} of 2 is back")
        scene.kill(second, 2)
        scene.wait_until_said(f"plane {second} of 2 is lost")
        scene.open(5)

    program = tmp_path / "writing.py"
    program.write_text(WRITING)
    scene.close(2, 5)
    ended = scene.play(
        2, "async-hash", lose_one_after_the_other, program=[sys.executable, str(program)]
    )
    assert ended.status == 0, str(ended)
    blocks = [f"{chr(ord('a') + rank) * 7}{step}" for step in range(6) for rank in range(RANKS)]
    assert (tmp_path / "out").read_text() == "".join(blocks)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "writing.py"]


def test_where_no_checkpoint_is_taken_a_lost_plane_stays_lost() -> None:
    ended = jobs.resprout_run(
        2,
        [str(jobs.PROGRAMS / "flips")],
        ["--replicas", "2", "--verify", "async", "--inject", "kill:rank=1,replica=0,at=0s"],
    )
    assert ended.status == 0, str(ended)
    assert ends(ended) == [("lost", 0), ("whole", 0)]
    assert "started again" not in ended.err
