"""Checkpoints in memory of jobs over several hosts, of which some die (whole_hosts.py).

The launcher is on A; B, C and D have two slots each. The program is programs/lasting.c.
"""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import jobs
import namespaces
import pytest
from lasting import PROGRAM, begun, result_of, undisturbed, wait_for_step
from whole_hosts import HOSTS, kill, variables

pytestmark = pytest.mark.usefixtures("four_hosts")

RANKS, KIB = 4, 1024


def run(
    folder: Path,
    steps: int,
    *options: str,
    meanwhile: Callable[[jobs.Job], None] = lambda _: None,
    hosts: str = "".join(f"node{host} slots=2\n" for host in HOSTS),
    ranks: int = RANKS,
) -> jobs.Ended:
    hostfile = folder / "hosts"
    hostfile.write_text(hosts)
    words: list[str | Path] = [namespaces.TOOL, "in", "A", jobs.RESPROUT, "run", "-n", str(ranks)]
    words += ["--hostfile", hostfile, "--on-loss", "restart", "--run-dir", folder, *options, "--"]
    return jobs.run([*words, PROGRAM, str(steps), str(KIB), folder], variables(folder), meanwhile)


def test_a_host_that_dies_is_replaced_and_its_ranks_have_their_data_from_its_neighbor(
    folder: Path,
) -> None:
    gate = folder / "wait-3"
    gate.touch()

    def lose(job: jobs.Job) -> None:
        # All have checkpoint 3, that of step 2, and all copies of it have come.
        wait_for_step(job, folder, 3, RANKS)
        kill("B")
        gate.unlink()

    ended = run(folder, 6, "--spare-hosts", "1", meanwhile=lose)
    assert result_of(ended) == undisturbed(RANKS, 6, KIB), str(ended)
    assert begun(ended) == [0, 2], str(ended)
    assert "host nodeB lost: what follows runs on nodeC, nodeD" in ended.err, str(ended)


@pytest.mark.parametrize("seed", range(2))
def test_a_host_dies_at_any_moment_and_the_result_has_the_same_bits(
    seed: int, folder: Path
) -> None:
    draw = random.Random(seed)
    host = draw.choice("BC")

    def lose(job: jobs.Job) -> None:
        wait_for_step(job, folder, 4, RANKS)
        time.sleep(draw.random() * 0.1)
        kill(host)

    ended = run(folder, 90, "--spare-hosts", "1", meanwhile=lose)
    assert result_of(ended) == undisturbed(RANKS, 90, KIB), f"{host} {ended}"
    begins = begun(ended)
    assert len(begins) == 2 and begins[1] >= 2, f"{host} {ended}"


def test_if_both_copies_are_lost_the_job_goes_on_from_files(folder: Path) -> None:
    ended = lose_two_hosts(folder, "--checkpoint-dir", str(folder / "files"), "--files-every", "2")
    assert result_of(ended) == undisturbed(RANKS, 6, KIB), str(ended)
    # Of checkpoint 4, that of step 3, not all files may have been there.
    assert begun(ended)[-1] in (1, 3), str(ended)


def test_if_both_copies_are_lost_and_there_are_no_files_a_line_says_so(folder: Path) -> None:
    ended = lose_two_hosts(folder)
    assert ended.status == 75, str(ended)
    said = (
        r"resprout: the job ends: checkpoint \d+ is lost: nobody has the part of ranks? [\d, ]+\n"
    )
    assert re.search(said, ended.err), str(ended)


def lose_two_hosts(folder: Path, *options: str) -> jobs.Ended:
    """At once, of three."""
    (folder / "files").mkdir()
    gate = folder / "wait-3"
    gate.touch()

    def lose(job: jobs.Job) -> None:
        wait_for_step(job, folder, 3, RANKS)
        # One after the other, the job might go on between them.
        kill("B", "C")
        gate.unlink()

    hosts = "nodeB slots=1\nnodeC slots=1\nnodeD slots=2\n"
    return run(folder, 6, *options, meanwhile=lose, hosts=hosts)


def test_a_host_dies_and_its_ranks_are_rebuilt_from_a_code(folder: Path) -> None:
    # Each of the two groups has a rank on each host.
    gate = folder / "wait-3"
    gate.touch()

    def lose(job: jobs.Job) -> None:
        wait_for_step(job, folder, 3, 6)
        kill("C")
        gate.unlink()

    ended = run(folder, 6, "--checkpoint-code", "xor:3", meanwhile=lose, ranks=6)
    assert result_of(ended) == undisturbed(6, 6, KIB), str(ended)
    assert begun(ended) == [0, 3], str(ended)
    assert "resprout: checkpoint 4: the part of ranks 2, 3 was lost, and rebuilt\n" in ended.err


def test_what_has_not_changed_does_not_cross_hosts(folder: Path) -> None:
    ended = run(folder, 10, "--verbose")
    assert result_of(ended) == undisturbed(RANKS, 10, KIB), str(ended)
    found = re.search(r"(\d+) of (\d+) bytes had changed and were sent", ended.err)
    assert found is not None, str(ended)
    # Half of what is protected changes, and a block of the other half; the first copy is whole.
    sent, whole = int(found[1]), int(found[2])
    assert 0.5 * whole <= sent < 0.65 * whole, str(ended)
