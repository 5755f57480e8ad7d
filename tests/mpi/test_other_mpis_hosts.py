"""Ranks of MPICH on several hosts, which PRRTE's prterun reaches: who is left goes on without a
killed one, or without a whole host, and nobody is left when the launcher is killed.

The launcher is on A, and so are ranks 0 and 1; rank 2 is on B, and rank 3 on C.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import jobs
import lives
import namespaces
import other_mpis
import pytest
import remote_shell
import whole_hosts
from lives import Scene
from test_other_mpis_kills import with_shim


@pytest.fixture(scope="module", autouse=True)
def three_hosts() -> Iterator[None]:
    with_shim("MPICH")
    with namespaces.up(3):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "hosts").write_text("nodeA slots=2\nnodeB\nnodeC\n")
    with remote_shell.serving(namespaces.TOOL, tmp_path):
        yield tmp_path


def command(folder: Path, options: list[str], *program: str | Path) -> list[str | Path]:
    words: list[str | Path] = [jobs.RESPROUT, "run", "-n", "4", "--hostfile", folder / "hosts"]
    return [namespaces.TOOL, "in", "A", *words, *options, "--", *program]


def test_who_is_on_either_host_goes_on_without_a_killed_rank(folder: Path) -> None:
    fault = "kill:rank=3,at=allreduce#50"
    program = [other_mpis.program("collectives"), "allreduce", "200"]
    done = jobs.run(command(folder, ["--inject", fault], *program), whole_hosts.variables(folder))
    assert done.status == 0, str(done)
    assert sorted(done.out.splitlines()) == ["rank 0 ok", "rank 1 ok", "rank 2 ok"], str(done)
    assert "rank 3" in done.err and "was killed (injected)" in done.err, str(done)


@pytest.mark.parametrize("lose", [whole_hosts.kill, whole_hosts.cut], ids=["dies", "is cut off"])
def test_a_job_goes_on_when_a_host(lose: Callable[[str], None], folder: Path) -> None:
    program = [other_mpis.program("collectives"), "allreduce", "8000"]
    report = folder / "report.json"
    options = ["--run-dir", str(folder), "--report", str(report)]
    with jobs.started(command(folder, options, *program), whole_hosts.variables(folder)) as job:
        entered = jobs.becomes_true(lambda: len([*folder.glob("resprout-*/entered-*")]) == 4, 60.0)
        assert entered, job.seen()
        starting = [path.parent / "starting" for path in folder.glob("resprout-*/entered-0")]
        assert jobs.becomes_true(lambda: not any(path.exists() for path in starting)), job.seen()
        time.sleep(0.5)
        lose("C")
        with suppress(subprocess.TimeoutExpired):
            job.process.wait(jobs.WATCHDOG_SECONDS)
        whole_hosts.heal("C")
        ended = job.wait()
    assert ended.status == 0, str(ended)
    assert sorted(ended.out.splitlines()) == ["rank 0 ok", "rank 1 ok", "rank 2 ok"], str(ended)
    assert "resprout: host nodeC is lost, with ranks 3" in ended.err, str(ended)
    losses = json.loads(report.read_text())["losses"]
    assert {loss["rank"] for loss in losses} == {3}, str(ended)


def started_again(folder: Path, faults: Callable[[Scene], None], *more: str) -> jobs.Ended:
    """A job into whose first life `faults` fall, and whose second one is left in peace."""
    lives.close(folder, "in", 0, *range(4))
    options = ["--on-loss", "restart", "--run-dir", str(folder), *more]
    options += ["--report", str(folder / "report.json")]
    words = command(folder, options, other_mpis.program("lives"), folder)
    with jobs.started(words, whole_hosts.variables(folder)) as job:
        scene = Scene(folder, job)
        scene.wait_for("in", 0, range(4))
        faults(scene)
        return scene.end()


def test_a_job_that_has_lost_a_rank_starts_again(folder: Path) -> None:
    ended = started_again(folder, lambda scene: scene.kill(0, 3))
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert ended.lost == {3}, str(ended)
    assert [life["lost_hosts"] for life in ended.report["lives"]] == [[], []], str(ended)


def test_a_job_that_has_lost_a_host_starts_again_without_it(folder: Path) -> None:
    ended = started_again(folder, lambda _: whole_hosts.kill("C"))
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert [life["lost_hosts"] for life in ended.report["lives"]] == [["nodeC"], []], str(ended)
    hosts = [(folder / f"pid-1-{rank}").read_text().split()[1] for rank in range(4)]
    assert {*hosts} == {"nodeA", "nodeB"}, str(ended)


def test_those_who_stood_by_go_on_when_a_rank_is_lost(folder: Path) -> None:
    waiting = {}

    def lose(scene: Scene) -> None:
        lives.wait_for_standby(scene.job, 1, 4, folder)
        waiting.update(lives.ranks_of(scene.job, 1))
        scene.kill(0, 3)

    ended = started_again(folder, lose, "--standby")
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    pids = {rank: int((folder / f"pid-1-{rank}").read_text().split()[0]) for rank in range(4)}
    assert len(waiting) == 4 and pids == waiting, str(ended)


def test_if_the_launcher_is_killed_no_rank_is_left_on_any_host(folder: Path) -> None:
    program = [other_mpis.program("collectives"), "allreduce", "100000000"]
    with jobs.started(command(folder, [], *program), whole_hosts.variables(folder)) as job:
        assert jobs.becomes_true(lambda: len(job.processes_by_rank()) == 4)
        os.kill(job.process.pid, signal.SIGKILL)
        job.process.wait()
        assert jobs.becomes_true(lambda: not job.processes()), job.seen()
