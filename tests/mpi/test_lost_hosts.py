"""Jobs without replicas that lose whole hosts (whole_hosts.py).

The launcher is on A, two ranks are on each of B, C and D.
"""

import json
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import jobs
import logs
import namespaces
import pytest
from whole_hosts import HOSTS, cut, forget, heal, kill, memory_of, variables

RANKS = 6
ON = {"B": {0, 1}, "C": {2, 3}, "D": {4, 5}}


pytestmark = pytest.mark.usefixtures("four_hosts")


def command(folder: Path, *program: str | Path) -> list[str | Path]:
    hostfile = folder / "hosts"
    hostfile.write_text("".join(f"node{host} slots=2\n" for host in HOSTS))
    words: list[str | Path] = [jobs.RESPROUT, "run", "-n", str(RANKS), "--hostfile", hostfile]
    words += ["--run-dir", folder, "--report", folder / "report.json", "--", *program]
    return [namespaces.TOOL, "in", "A", *words]


def lose(folder: Path, faults: Callable[[], None]) -> jobs.Ended:
    """A job of random collectives, into which `faults` fall."""
    program = [jobs.PROGRAMS / "mixed", str(folder), "11", "0", "5"]
    with jobs.started(command(folder, *program), variables(folder)) as job:
        logs.wait_for_work(folder, RANKS, job)
        faults()
        time.sleep(0.3)
        logs.say_enough(folder)
        with suppress(subprocess.TimeoutExpired):
            job.process.wait(jobs.WATCHDOG_SECONDS)
        for host in HOSTS:
            heal(host)
        return job.wait()


def check(folder: Path, hosts: str, ended: jobs.Ended) -> None:
    """The job ended well without these hosts, and their ranks are those that were lost."""
    victims = set().union(*(ON[host] for host in hosts))
    assert ended.status == 0, str(ended)
    survivors = set(range(RANKS)) - victims
    wrong = list(logs.problems(logs.read_logs(folder, RANKS), survivors))
    assert not wrong, "\n".join([*wrong[:10], str(ended)])
    report = json.loads((folder / "report.json").read_text())
    assert {loss["rank"] for loss in report["losses"]} == victims, str(ended)
    for host in hosts:
        ranks = ", ".join(map(str, sorted(ON[host])))
        line = f"resprout: host node{host} is lost, with ranks {ranks}; going on without it"
        assert line in ended.err, str(ended)
    assert not ended.out, str(ended)


@pytest.mark.parametrize("host", HOSTS)
def test_a_job_goes_on_when_a_host_dies(folder: Path, host: str) -> None:
    check(folder, host, lose(folder, lambda: kill(host)))


def test_a_job_goes_on_when_one_host_dies_after_the_other(folder: Path) -> None:
    def kill_two() -> None:
        kill("B")
        time.sleep(1)
        kill("D")

    check(folder, "BD", lose(folder, kill_two))


def test_a_job_goes_on_when_a_host_is_cut_off(folder: Path) -> None:
    shared: set[str] = set()

    def cut_off() -> None:
        shared.update(memory_of("C"))
        cut("C")

    ended = lose(folder, cut_off)
    forget(shared)  # its daemon has killed its ranks, which leave it behind
    check(folder, "C", ended)


def test_a_host_that_dies_before_all_ranks_are_in_mpi_ends_the_job(folder: Path) -> None:
    wait = ["sh", "-c", 'echo began; sleep 60; exec "$0"', jobs.PROGRAMS / "mixed"]
    with jobs.started(command(folder, *wait), variables(folder)) as job:
        began = jobs.becomes_true(lambda: job.said().out.count("began") == RANKS)
        assert began, job.seen()
        kill("C")
        ended = job.wait()
    assert ended.status != 0, str(ended)
    assert "going on without it" not in ended.err, str(ended)


def test_what_mpirun_says_of_itself_is_said(folder: Path) -> None:
    words = command(folder, "hostname")
    at = words.index("run") + 1
    words[at:at] = [
        "--mpirun-arg=--prtemca",
        "--mpirun-arg=plm_base_verbose",
        "--mpirun-arg=5",
    ]
    ended = jobs.run(words, variables(folder))
    assert "plm:ssh: final template argv" in ended.out + ended.err, str(ended)
