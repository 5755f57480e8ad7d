"""A job whose planes go on with gaps; its programs only do as if replicas stood in."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import make_program
from test_job import WATCHDOG_SECONDS, Here, eventually

# Runs a job as `resprout run` does, without preloading anything; says what is reported.
_LAUNCH = """
import json, sys
from pathlib import Path
from resprout.launch.run import Request, execute, make_plan
from resprout.report.as_json import to_json
from resprout.report.show import show

mpi, run_dir, replicas, strict, *program = sys.argv[1:]
texts = {"--replicas": replicas, "--on-replica-loss": "stand-in"}
folder = Path(run_dir)
request = Request(3, program, texts, strict=strict == "strict", mpi=mpi, run_dir=folder)
report = execute(make_plan(request, shim=None), request)
(folder / "report").write_text(json.dumps(to_json(report)))
show(report)
sys.exit(report.exit_status)
"""

# `stage` has what the test wants: `lines`, so many are said by each rank; `die-<plane>-<rank>`, and
# rank 0, if it lives, or the last one sees it; `end`, the program comes to its end; `over`, all are
# to go away. Rank 1 has status 5, unless it is `well`.
_PROGRAM = """\
    #!/usr/bin/env python3
    import json, os, signal, sys, time
    from pathlib import Path

    stage = Path(sys.argv[1])
    own = Path(os.environ["RESPROUT_RUN_DIR"])
    plane, rank = os.environ["RESPROUT_REPLICA"], int(os.environ["OMPI_COMM_WORLD_RANK"])

    def leave(folder, name, text=""):
        (folder / (name + ".part")).write_text(text)
        (folder / (name + ".part")).rename(folder / name)

    def report(is_whole):
        status = 5 if rank == 1 and not there("well") else 0
        part = {"schema": 1, "rank": rank, "pid": os.getpid(), "host": "here", "started_ns": 1}
        part |= {"ended_ns": 2, "finalized": is_whole, "exit_status": status if is_whole else None}
        seen = [{"rank": one, "kind": "exited", "detected_ns": 2, "found_by": rank} for one in lost]
        part |= {"operations": {}, "losses": seen, "recoveries": []}
        leave(own, f"rank-{rank}.json", json.dumps(part))
        return status

    def there(name):
        return (stage / name).exists()

    (stage / "here" / str(os.getpid())).touch()
    (own.parent / "has-checkpoints").touch()
    said, lost = 0, []
    while not there("over"):
        wanted = int((stage / "lines").read_text())
        while said < wanted:
            said += 1
            text = f"{said} of {rank}\\n"
            os.write(1, f"[1,{rank}]<stdout>: {text}".encode())
        dying = [one for one in range(3) if there(f"die-{plane}-{one}")]
        if rank in dying:
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == max({0, 1, 2}.difference(dying)) and lost != dying:
            lost = dying
            report(False)
        if there("end"):
            os.write(1, f"[1,{rank}]<stdout>: end".encode())
            sys.exit(report(True))
        time.sleep(0.02)
"""


class Job:
    """The launcher, and what the programs are told."""

    def __init__(self, folder: Path, mpi: Path, replicas: int, strict: str) -> None:
        self.stage = folder / "stage"
        self.stage.mkdir()
        self.here = Here(self.stage / "here")
        self.processes = 3 * replicas
        self.want_lines(1)
        self.runs = folder / "runs"
        self.runs.mkdir()
        self.paths = [folder / "out", folder / "err"]
        program = make_program(folder / "program", _PROGRAM)
        command = [sys.executable, "-c", _LAUNCH, mpi, self.runs, replicas, strict, program]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RESPROUT_")}
        with self.paths[0].open("wb") as out, self.paths[1].open("wb") as err:
            self.process = subprocess.Popen(
                [*map(str, command), str(self.stage)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    def want_lines(self, count: int) -> None:
        draft = self.stage / "lines.part"
        draft.write_text(str(count))
        draft.rename(self.stage / "lines")

    def tell(self, name: str) -> None:
        (self.stage / name).touch()

    def lines(self, rank: int) -> list[str]:
        return [line for line in self.paths[0].read_text().splitlines() if f"of {rank}" in line]

    def err(self) -> list[str]:
        """All but the first line, which is about the host."""
        return self.paths[1].read_text().splitlines()[1:]

    def wait_for_all(self) -> None:
        assert eventually(lambda: len(self.here.pids) == self.processes)

    def wait_for_words(self, words: str) -> None:
        assert eventually(lambda: any(words in line for line in self.err())), self.err()

    def wait_for_lines(self, count: int) -> None:
        """By each rank."""
        assert eventually(lambda: all(len(self.lines(rank)) == count for rank in range(3)))

    def end(self) -> tuple[int, dict[str, Any]]:
        """Its status, and its report. Nothing of it is left."""
        status = self.process.wait(WATCHDOG_SECONDS)
        assert self.here.are_gone()
        return status, json.loads((self.runs / "report").read_text())


@pytest.fixture
def launch(tmp_path: Path, fake_mpi: Path) -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def launched(replicas: int = 2, strict: str = "") -> Job:
        made.append(Job(tmp_path, fake_mpi, replicas, strict))
        made[-1].wait_for_all()
        return made[-1]

    yield launched
    for job in made:
        job.process.kill()
        job.process.wait()
        job.tell("over")
        for pid in job.here.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def ends(report: dict[str, Any]) -> list[str]:
    return [plane["how"] for plane in report["planes"]]


def test_two_planes_lose_different_ranks_and_the_job_ends_as_if_nothing_had_been(
    launch: Callable[..., Job],
) -> None:
    job = launch()
    job.wait_for_lines(1)
    job.tell("die-0-1")
    job.wait_for_words(
        "rank 1 of plane 0 is lost (killed): its replica in plane 1 stands in for it; "
        "rank 1 has 1 replica left, whose loss would end the job"
    )
    job.want_lines(3)
    job.wait_for_lines(3)
    job.tell("die-1-2")
    job.wait_for_words("rank 2 of plane 1 is lost (killed): its replica in plane 0 stands in")
    job.want_lines(4)
    job.wait_for_lines(4)
    job.tell("end")
    status, report = job.end()
    assert status == 5  # that of rank 1, which came to its end in plane 1 alone
    assert job.paths[0].read_text().endswith("end" * 3)
    assert ends(report) == ["gaps", "gaps"]
    assert [[loss["rank"] for loss in plane["losses"]] for plane in report["planes"]] == [[1], [2]]
    assert report["replicas_left"] == [2, 1, 1]
    told = [line for line in job.err() if " is lost " in line]
    assert len(told) == 2
    assert job.err()[-1].startswith("resprout: ranks 1 and 2 had 1 replica left at the end")


def test_a_plane_that_loses_all_its_ranks_is_lost_and_not_started_again(
    launch: Callable[..., Job],
) -> None:
    job = launch(replicas=3)
    for rank in range(3):
        job.tell(f"die-1-{rank}")
    job.wait_for_words("plane 1 of 3 is lost: it")
    job.tell("die-2-0")
    job.wait_for_words("rank 0 of plane 2 is lost (killed): its replica in plane 0 stands in")
    job.want_lines(3)
    job.wait_for_lines(3)
    job.tell("end")
    status, report = job.end()
    assert status == 5
    assert ends(report) == ["whole", "lost", "gaps"]
    assert report["replicas_left"] == [1, 2, 2]
    assert not any(plane["returns"] for plane in report["planes"])


def test_a_rank_without_a_replica_ends_the_job_s_hopes(launch: Callable[..., Job]) -> None:
    job = launch()
    job.tell("die-0-2")
    job.wait_for_words("rank 2 of plane 0 is lost")
    job.tell("die-1-2")
    job.wait_for_words("rank 2 of plane 1 is lost (killed), and no replica of it is left")
    job.tell("end")
    status, report = job.end()
    assert status == 5
    assert ends(report) == ["lost", "lost"]
    assert job.err()[-1] == "resprout: no replica of rank 2 was left: the job is lost"


@pytest.mark.parametrize("strict", ["", "strict"])
def test_a_loss_that_nobody_saw_is_told_at_the_end_of_its_plane(
    launch: Callable[..., Job], strict: str
) -> None:
    job = launch(strict=strict)
    job.tell("well")
    victim = next(
        pid
        for pid in job.here.pids
        if {b"RESPROUT_REPLICA=1", b"OMPI_COMM_WORLD_RANK=0"}
        <= set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    )
    os.kill(victim, signal.SIGKILL)
    job.tell("end")
    status, report = job.end()
    assert status == (3 if strict else 0)
    assert ends(report) == ["whole", "gaps"]
    assert any("rank 0 of plane 1 is lost (killed)" in line for line in job.err())


def test_whom_the_user_ends_is_not_told_to_be_lost(launch: Callable[..., Job]) -> None:
    job = launch()
    job.process.send_signal(signal.SIGTERM)
    status, report = job.end()
    assert status == 128 + signal.SIGTERM
    assert ends(report) == ["interrupted", "interrupted"]
    assert not [line for line in job.err() if " is lost " in line]
