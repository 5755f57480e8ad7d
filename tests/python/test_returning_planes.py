"""A job whose planes are lost and come back; its programs only do as if they were replicas."""

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


def unverified(plane: int) -> str:
    """What is said once `plane` is the only one."""
    what = f"nothing that plane {plane} says is compared any more"
    return f"resprout: {what}: the job goes on unverified (--on-unverified go-on)"


# Runs a job as `resprout run` does, without preloading anything; says what is reported.
_LAUNCH = """
import json, sys
from pathlib import Path
from resprout.launch.run import Request, execute, make_plan
from resprout.report.as_json import to_json

mpi, run_dir, verify, strict, *program = sys.argv[1:]
texts = {"--replicas": "2", "--verify": verify}
inject = ["kill:rank=0,replica=0,at=1000s"]
folder = Path(run_dir)
request = Request(1, program, texts, inject, strict=strict == "strict", mpi=mpi, run_dir=folder)
report = execute(make_plan(request, shim=None), request)
(folder / "report").write_text(json.dumps(to_json(report)))
sys.exit(report.exit_status)
"""

# One rank. `stage` has what the test wants: `lines`, so many are said; `die-<plane>-<launch>`;
# `refuse-<launch>`, nobody takes it in; `end`, the program comes to its end; `over`, it is lost.
_PROGRAM = """\
    #!/usr/bin/env python3
    import json, os, sys, time
    from pathlib import Path

    stage = Path(sys.argv[1])
    own = Path(os.environ["RESPROUT_RUN_DIR"])
    plane = os.environ["RESPROUT_REPLICA"]
    rendezvous = own.parent
    is_back = (rendezvous / f"returns-{plane}").exists()
    number = int(rendezvous.name.removeprefix("return-")) if is_back else 0
    job = rendezvous.parent if is_back else rendezvous

    def say(text):
        os.write(1, b"[1,0]<stdout>: " + text)

    def there(name):
        return (stage / name).exists()

    def leave(folder, name, text=""):
        (folder / (name + ".part")).write_text(text)
        (folder / (name + ".part")).rename(folder / name)

    def end(is_whole):
        part = {"schema": 1, "rank": 0, "pid": os.getpid(), "host": "here", "started_ns": 1}
        part |= {"ended_ns": 2, "finalized": is_whole, "exit_status": 0 if is_whole else None}
        part |= {"operations": {}, "losses": [], "recoveries": []}
        leave(own, "rank-0.json", json.dumps(part))
        if there(f"lost-host-{plane}"):
            words = b"lost communication with a remote daemon.\\nRemote daemon: d on node n7\\n"
            os.write(2, words)
        if there(f"exclude-{plane}-{number}"):
            found = {"of": "message", "call": "recv", "sender": 0, "receiver": 0, "tag": 1}
            found |= {"communicator": "world", "number": 1, "bytes": 8, "wrong_replicas": []}
            found |= {"tainted": False, "replaced": False, "end": "undecided", "then": "exclude"}
            found |= {"rank": 0, "replica": int(plane), "found_ns": 1}
            leave(own, "notes-0", json.dumps({"corrupted": found}) + "\\n")
        sys.exit(0)

    def wait_for(*paths):
        while not any(path.exists() for path in paths):
            if there(f"die-{plane}-{number}") or there("over"):
                end(False)
            time.sleep(0.02)

    (stage / "here" / str(os.getpid())).touch()
    leave(stage, f"variables-{plane}-{number}", "\\n".join(sorted(os.environ)))
    seen, said = number, 0
    if is_back:
        say(b"not to be seen\\n")
        leave(rendezvous, f"addresses-{plane}")
        wait_for(rendezvous / "taken")
        said = int((rendezvous / "taken").read_text())
        say(b"\\x1eresprout-return %s\\n" % str(rendezvous).encode())
        leave(rendezvous, "joined", str(said))
    while True:
        if there(f"die-{plane}-{number}") or there("over"):
            end(False)
        newest = int((job / "returning").read_text()) if (job / "returning").exists() else 0
        if newest > seen and not there(f"refuse-{newest}"):
            seen = newest
            other = 1 - int(plane)
            folder = job / f"return-{newest}"
            wait_for(folder / f"addresses-{other}", folder / f"ended-{other}")
            if not (folder / f"ended-{other}").exists():
                say(b"begun, \\x1eresprout-return %s\\n" % str(folder).encode())
                leave(folder, "taken", str(said))
                say(b"gone on\\n")
                said += 1
        wanted = int((stage / "lines").read_text())
        if said < wanted:
            said += 1
            say(b"%d of %s\\n" % (said, plane.encode()))
        if said == wanted:
            (stage / f"said-{plane}-{said}").touch()
            (job / "has-checkpoints").touch()
            if there("end"):
                end(True)
        time.sleep(0.02)
"""


class Job:
    """The launcher, and what the programs are told."""

    def __init__(self, folder: Path, mpi: Path, verify: str, strict: str) -> None:
        self.stage = folder / "stage"
        self.stage.mkdir()
        self.here = Here(self.stage / "here")
        self.want_lines(2)
        self.runs = folder / "runs"
        self.runs.mkdir()
        self.paths = [folder / "out", folder / "err"]
        program = make_program(folder / "program", _PROGRAM)
        command = [sys.executable, "-c", _LAUNCH, mpi, self.runs, verify, strict, program]
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

    def wait_for_both(self) -> None:
        """Both planes have said their first two lines, of which those of plane 0 are shown."""
        said = [self.stage / f"said-{plane}-2" for plane in (0, 1)]
        assert eventually(lambda: all(path.exists() for path in said)), self.err()
        self.wait_for_line("2 of 0")

    def out(self) -> list[str]:
        return self.paths[0].read_text().splitlines()

    def err(self) -> list[str]:
        """All but the first line, which is about the host."""
        return self.paths[1].read_text().splitlines()[1:]

    def wait_for_words(self, words: str) -> None:
        assert eventually(lambda: any(words in line for line in self.err())), self.err()

    def wait_for_line(self, words: str) -> None:
        assert eventually(lambda: any(words in line for line in self.out())), self.out()

    def wait_for_launch(self, plane: int, number: int) -> None:
        assert eventually((self.stage / f"variables-{plane}-{number}").exists)

    def end(self) -> tuple[int, list[dict[str, Any]]]:
        """Its status, and what is reported of the planes. Nothing of it is left."""
        status = self.process.wait(WATCHDOG_SECONDS)
        assert self.here.are_gone()
        report = json.loads((self.runs / "report").read_text())
        assert [path.name for path in self.runs.iterdir()] == ["report"]
        assert report["faults_left"] == []
        return status, report["planes"]


@pytest.fixture
def launch(tmp_path: Path, fake_mpi: Path) -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def launched(verify: str = "async", strict: str = "") -> Job:
        made.append(Job(tmp_path, fake_mpi, verify, strict))
        return made[-1]

    yield launched
    for job in made:
        job.process.kill()
        job.process.wait()
        job.tell("over")  # who has not even begun by now ends by itself
        for pid in job.here.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("strict", ["", "strict"])
def test_both_planes_are_lost_one_after_the_other_and_come_back(
    launch: Callable[..., Job], strict: str
) -> None:
    job = launch(strict=strict)
    job.wait_for_both()
    job.tell("die-0-0")
    job.wait_for_words("plane 0 of 2 is back, from checkpoint 2")
    job.want_lines(4)
    job.wait_for_line("4 of 1")
    job.tell("die-1-0")
    job.wait_for_words("plane 1 of 2 is back")
    job.want_lines(6)
    job.wait_for_line("6 of 0")
    job.tell("end")
    status, planes = job.end()
    assert status == (3 if strict else 0)
    lines = ["1 of 0", "2 of 0", "begun, gone on", "4 of 1", "begun, gone on", "6 of 0"]
    assert job.out() == lines
    assert job.err() == [
        "resprout: plane 0 of 2 is lost: its MPI job ended early; 1 plane goes on",
        unverified(1),
        "resprout: plane 0 of 2 is started again",
        "resprout: plane 0 of 2 is back, from checkpoint 2",
        "resprout: plane 1 of 2 is lost: its MPI job ended early; 1 plane goes on",
        unverified(0),
        "resprout: plane 1 of 2 is started again",
        "resprout: plane 1 of 2 is back, from checkpoint 4",
    ]
    for plane, checkpoint in zip(planes, (2, 4), strict=True):
        assert (plane["how"], plane["status"]) == ("whole", 0)
        (back,) = plane["returns"]
        assert (back["how"], back["checkpoint"]) == ("lost", checkpoint)
        assert back["started_ns"] <= back["joined_ns"] <= plane["ended_ns"]
    variables = [(job.stage / f"variables-0-{n}").read_text().split() for n in (0, 1)]
    assert set(variables[0]) - set(variables[1]) == {"RESPROUT_INJECT"}


def test_a_plane_that_is_lost_before_it_is_back_is_not_started_again(
    launch: Callable[..., Job],
) -> None:
    job = launch()
    job.tell("refuse-1")
    job.wait_for_both()
    job.tell("die-0-0")
    job.wait_for_launch(0, 1)
    job.tell("die-0-1")
    job.wait_for_words("did not come back")
    job.want_lines(3)
    job.wait_for_line("3 of 1")
    job.tell("end")
    status, planes = job.end()
    assert status == 0
    assert job.out() == ["1 of 0", "2 of 0", "3 of 1"]
    (line,) = job.err()[3:]
    assert line.endswith("did not come back, and is not started again: its MPI job ended early")
    assert [plane["how"] for plane in planes] == ["lost", "whole"]
    assert [(one["joined_ns"], one["checkpoint"]) for one in planes[0]["returns"]] == [(None, None)]


def test_a_plane_that_is_not_back_when_the_others_end_is_ended(launch: Callable[..., Job]) -> None:
    job = launch()
    job.tell("refuse-1")
    job.wait_for_both()
    job.tell("die-1-0")
    job.wait_for_launch(1, 1)
    job.tell("end")
    status, planes = job.end()
    assert status == 0
    assert [plane["how"] for plane in planes] == ["whole", "lost"]
    assert job.err()[1:] == [unverified(0), "resprout: plane 1 of 2 is started again"]


def test_a_signal_ends_a_plane_that_is_not_back_too(launch: Callable[..., Job]) -> None:
    job = launch()
    job.tell("refuse-1")
    job.wait_for_both()
    job.tell("die-1-0")
    job.wait_for_launch(1, 1)
    job.process.send_signal(signal.SIGTERM)
    status, planes = job.end()
    assert status == 128 + signal.SIGTERM
    assert [plane["how"] for plane in planes] == ["interrupted", "lost"]
    assert job.err()[1:] == [unverified(0), "resprout: plane 1 of 2 is started again"]


def test_where_nothing_is_verified_planes_come_back_all_the_same(
    launch: Callable[..., Job],
) -> None:
    job = launch(verify="none")
    job.wait_for_both()
    job.tell("die-0-0")
    job.wait_for_words("plane 0 of 2 is back, from checkpoint 2")
    job.want_lines(4)
    job.wait_for_line("4 of 1")
    job.tell("end")
    status, planes = job.end()
    assert (status, [one["how"] for one in planes[0]["returns"]]) == (0, ["lost"])


def end_after_another_line(job: Job, line: str) -> list[dict[str, Any]]:
    job.want_lines(5)
    job.wait_for_line(line)
    job.tell("end")
    status, planes = job.end()
    assert status == 0
    return planes


def test_a_plane_that_has_lost_its_host_is_not_started_again(launch: Callable[..., Job]) -> None:
    job = launch()
    job.wait_for_both()
    job.tell("lost-host-0")
    job.tell("die-0-0")
    job.wait_for_words("plane 0 of 2 is lost: it lost host n7; 1 plane goes on")
    planes = end_after_another_line(job, "5 of 1")
    assert [(plane["how"], plane["returns"]) for plane in planes] == [("lost", []), ("whole", [])]


def test_a_plane_that_came_back_and_is_excluded_is_not_started_again(
    launch: Callable[..., Job],
) -> None:
    job = launch()
    job.wait_for_both()
    for how in ("exclude-1-0", "exclude-1-1", "die-1-0"):
        job.tell(how)
    job.wait_for_words("plane 1 of 2 is back")
    job.tell("die-1-1")
    excluded = "plane 1 of 2 is excluded: a rank of it has worked with corrupted data"
    assert eventually(lambda: sum(excluded in line for line in job.err()) == 2), job.err()
    planes = end_after_another_line(job, "5 of 0")
    assert [(plane["how"], len(plane["returns"])) for plane in planes] == [
        ("whole", 0),
        ("excluded", 1),
    ]
