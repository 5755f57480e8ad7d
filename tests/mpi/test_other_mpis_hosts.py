"""Ranks of MPICH on two hosts, which PRRTE's prterun reaches: who is left goes on without a killed
one, and nobody is left when the launcher is killed.

The launcher is on A, and so are ranks 0 and 1; the others are on B.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import jobs
import namespaces
import other_mpis
import pytest
import remote_shell
import whole_hosts
from test_other_mpis_kills import with_shim


@pytest.fixture(scope="module", autouse=True)
def two_hosts() -> Iterator[None]:
    with_shim("MPICH")
    with namespaces.up(2):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "hosts").write_text("nodeA slots=2\nnodeB slots=2\n")
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


def test_if_the_launcher_is_killed_no_rank_is_left_on_any_host(folder: Path) -> None:
    program = [other_mpis.program("collectives"), "allreduce", "100000000"]
    with jobs.started(command(folder, [], *program), whole_hosts.variables(folder)) as job:
        assert jobs.becomes_true(lambda: len(job.processes_by_rank()) == 4)
        os.kill(job.process.pid, signal.SIGKILL)
        job.process.wait()
        assert jobs.becomes_true(lambda: not job.processes()), job.seen()
