"""Data connections between hosts that are cut without a word while everything else goes on, and
processes that are merely late."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import hosts
import jobs
import logs
import namespaces
import pytest
import silence

HOSTS = 8
RANKS = 6
# Of a job with the timeouts that there are by default, longer than the bound after which a silent
# link is decided upon.
LATE_MS = 6000


@pytest.fixture(scope="module", autouse=True)
def eight_hosts() -> Iterator[None]:
    with namespaces.up(HOSTS):
        yield


def told_to_end(ended: jobs.Ended) -> set[int]:
    """The ranks that have learned that a data link of theirs is silent."""
    pattern = r"rank (\d+) was declared lost by the others \(its data link is silent"
    return {int(rank) for rank in re.findall(pattern, ended.err)}


Disturbance = Callable[[dict[int, int]], int]


def cut_between(
    processes: dict[int, int], some: set[int], others: set[int], both_ways: bool = True
) -> int:
    """`some` and `others` hear no data of each other from now on, or only `others` hear none."""
    cut = 0
    for rank in others:
        cut += silence.cut(processes, rank, {hosts.address_of(one) for one in some})
    for rank in some if both_ways else ():
        cut += silence.cut(processes, rank, {hosts.address_of(one) for one in others})
    return cut


def run_and(cut: Disturbance, folder: Path) -> tuple[jobs.Ended, set[int]]:
    """A job whose links are cut while it works; how it ended, and who had to go."""

    def disturb(job: jobs.Job) -> None:
        logs.wait_for_work(folder, RANKS, job)
        logs.wait_for_operations(folder, RANKS, 100, job)
        assert cut(job.processes_by_rank()) > 0, "there is no connection to be cut"
        jobs.becomes_true(lambda: "its data link is silent" in job.said().err, 60)
        logs.say_enough(folder)

    program = [jobs.PROGRAMS / "mixed", str(folder), "11", "0", "5", "world"]
    options = ["-n", str(RANKS), *program]
    ended = jobs.run(hosts.mpirun(options, folder, {}), meanwhile=disturb)
    return ended, told_to_end(ended)


@pytest.mark.parametrize("both_ways", [True, False], ids=["both-ways", "one-way"])
def test_a_host_that_hears_no_data_goes_and_the_others_go_on(
    both_ways: bool, tmp_path: Path
) -> None:
    ended, gone = run_and(lambda of: cut_between(of, {0, 1, 2, 3}, {4, 5}, both_ways), tmp_path)
    assert gone == {4, 5}, str(ended)
    hosts.check(tmp_path, RANKS, gone, ended)
    kinds = {loss["kind"] for loss in hosts.part_of(tmp_path, 0)["losses"]}
    assert kinds == {"cut_off"}, str(ended)


@pytest.mark.parametrize("cut_off", [{0, 1}, {2, 3}])
def test_of_each_link_that_is_cut_one_end_at_most_goes_on(
    cut_off: set[int], tmp_path: Path
) -> None:
    others = set(range(RANKS)) - cut_off
    ended, gone = run_and(lambda of: cut_between(of, cut_off, others), tmp_path)
    survivors = set(range(RANKS)) - gone
    assert survivors and not (survivors & cut_off and survivors & others), str(ended)
    hosts.check(tmp_path, RANKS, gone, ended)


def test_data_connections_that_break_though_their_processes_live_are_silent_links(
    tmp_path: Path,
) -> None:
    """As those that a firewall has forgotten: frames are lost with them, and nobody has died."""
    elsewhere = {hosts.address_of(rank) for rank in (0, 2)}
    ended, gone = run_and(lambda of: silence.break_off(of, 4, elsewhere), tmp_path)
    assert gone == {4}, str(ended)
    hosts.check(tmp_path, RANKS, gone, ended)


def test_who_computes_for_long_or_runs_a_long_operator_is_not_accused(tmp_path: Path) -> None:
    """16 ranks."""
    program = ["-n", "16", jobs.PROGRAMS / "late", str(LATE_MS)]
    ended = jobs.run(hosts.mpirun(program, tmp_path, {}))
    assert ended.status == 0 and "lost" not in ended.err, str(ended)
    for rank in range(16):
        assert hosts.part_of(tmp_path, rank)["losses"] == [], str(ended)
