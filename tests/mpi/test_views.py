"""The survivors of a job agree on views, and of a cut job one side goes on."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import covering
import hosts
import jobs
import logs
import namespaces
import pytest
from resprout import native

RANKS = 6
UNNAMED = "resprout: the order of hosts does not name"
ISOLATED = "hears of too few others"
# From the last death on: what agreeing takes on a machine that is busy with other things.
AGREEING_SECONDS = 4.0


def mixed(folder: Path) -> list[str | Path]:
    return [jobs.PROGRAMS / "mixed", str(folder), "11", "0", "2"]


def check_epochs(views: list[dict[str, Any]]) -> None:
    """All that installed a view of some epoch installed the same one; who is lost stays so."""
    epochs = [view["epoch"] for view in views]
    assert epochs == sorted(set(epochs)), views
    for before, after in pairwise(views):
        assert set(before["lost"]) < set(after["lost"]), views


def killing(ranks: int, victims: list[int], folder: Path) -> Callable[[jobs.Job], None]:
    """Kills these when all work, and lets the others end once they have had time to agree."""

    def kill(job: jobs.Job) -> None:
        logs.wait_for_work(folder, ranks, job)
        processes = job.processes_by_rank()
        for rank in victims:
            os.kill(processes[rank], 9)
        time.sleep(AGREEING_SECONDS)
        logs.say_enough(folder)

    return kill


# Of so many ranks.
LOST = [(8, [3]), (8, [0, 1, 5]), (16, [0, 4, 7, 8, 15]), (16, list(range(1, 16)))]


@pytest.mark.parametrize(
    ("lost", "transport"), covering.with_every_value(LOST, ["auto", "tcp"]), ids=str
)
def test_all_survivors_are_in_the_same_views(
    lost: tuple[int, list[int]], transport: str, tmp_path: Path
) -> None:
    ranks, victims = lost
    options = ["--transport", transport]
    meanwhile = killing(ranks, victims, tmp_path)
    ended = jobs.resprout_run(ranks, mixed(tmp_path), options, meanwhile=meanwhile)
    assert ended.lost == set(victims), str(ended)
    views = ended.report["views"]
    check_epochs(views)
    assert views[-1]["lost"] == victims, f"{views}\n{ended}"
    assert views[-1]["ranks"] == ranks - len(victims), f"{views}\n{ended}"
    for view in views:
        assert view["detected_ns"] <= view["installed_ns"], view
        if view["decided_ns"] is not None:
            assert view["decided_ns"] <= view["installed_ns"], view
            assert view["decided_by"] not in view["lost"], view
    assert " agreed on, the last by " in ended.err


@pytest.mark.parametrize("radix", [2, 16])
def test_the_radix_is_what_the_job_is_given(radix: int, tmp_path: Path) -> None:
    """And an order that names this host, and others, changes nothing on one host."""
    ranks, victims = 8, [0, 2, 5]
    order = tmp_path / "order"
    order.write_text(f"# by racks\nnode1 rack1\n{socket.gethostname()} rack2\nnode2 rack1\n")

    options = ["--radix", str(radix), "--order", str(order)]
    meanwhile = killing(ranks, victims, tmp_path)
    ended = jobs.resprout_run(ranks, mixed(tmp_path), options, meanwhile=meanwhile)
    assert ended.lost == set(victims), str(ended)
    check_epochs(ended.report["views"])
    assert ended.report["views"][-1]["lost"] == victims, str(ended)
    assert ended.report["tree"] == {"radix": radix, "places": list(range(ranks))}, str(ended)
    assert UNNAMED not in ended.err, str(ended)


def test_where_the_ranks_have_different_radixes_that_of_rank_0_counts(tmp_path: Path) -> None:
    ranks = 4
    own_radix = 'export RESPROUT_RADIX=$((2 << OMPI_COMM_WORLD_RANK)); exec "$@"'

    program = ["sh", "-c", own_radix, "sh", *mixed(tmp_path)]
    ended = jobs.resprout_run(ranks, program, meanwhile=killing(ranks, [0], tmp_path))
    assert ended.lost == {0}, str(ended)
    assert ended.report["views"][-1]["ranks"] == 3, str(ended)
    assert ended.report["tree"] == {"radix": 2, "places": list(range(ranks))}, str(ended)


def test_hosts_that_an_order_does_not_name_are_said(tmp_path: Path) -> None:
    order = tmp_path / "order"
    order.write_text("node1\n10.0.0.2\n")
    program = [jobs.PROGRAMS / "mixed", str(tmp_path), "11", "20", "2"]
    ended = jobs.resprout_run(2, program, ["--order", str(order)])
    assert ended.status == 0, str(ended)
    assert ended.err.count(f"{UNNAMED} {socket.gethostname()} (127.0.0.1)") == 1, str(ended)


def test_without_a_loss_there_is_no_view(tmp_path: Path) -> None:
    ended = jobs.resprout_run(4, [jobs.PROGRAMS / "mixed", str(tmp_path), "11", "200", "2"])
    assert ended.status == 0, str(ended)
    assert ended.report["views"] == []


@pytest.fixture
def three_hosts() -> Iterator[None]:
    with namespaces.up(3):
        yield


def becomes(condition: Callable[[], bool]) -> bool:
    return jobs.becomes_true(condition, jobs.WATCHDOG_SECONDS)


def isolated(job: jobs.Job) -> int:
    return job.said().err.count(ISOLATED)


@pytest.mark.usefixtures("three_hosts")
def test_the_tree_follows_an_order_of_hosts_and_so_does_who_takes_over(tmp_path: Path) -> None:
    """C is the root's host, A stands with it in a rack."""
    victims = {4, 0}  # the root, and the first of A
    order = native.order_of_hosts(b"nodeC rack1\n10.77.0.2 rack2 # B\nnodeA rack1\n")
    variables = {"RESPROUT_RADIX": "2", "RESPROUT_ORDER": f"lines:{order}"}

    def kill(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        processes = job.processes_by_rank()
        for rank in victims:
            os.kill(processes[rank], 9)
        time.sleep(AGREEING_SECONDS)
        logs.say_enough(tmp_path)

    ended = jobs.run(hosts.mpirun(mixed(tmp_path), tmp_path, variables), meanwhile=kill)
    hosts.check(tmp_path, RANKS, victims, ended)
    assert UNNAMED not in ended.err, str(ended)
    parts = {rank: hosts.part_of(tmp_path, rank) for rank in set(range(RANKS)) - victims}
    assert parts[1]["tree"] == {"radix": 2, "places": [2, 5, 3, 7, 0, 1]}, f"{parts[1]}\n{ended}"
    for rank, part in parts.items():
        check_epochs(part["views"])
        assert set(part["views"][-1]["lost"]) == victims, f"{part}\n{ended}"
        # Rank 5 has place 1.
        assert (part["views"][-1]["decided_ns"] is not None) == (rank == 5), f"{part}\n{ended}"


@pytest.mark.usefixtures("three_hosts")
@pytest.mark.parametrize("host", ["A", "C"])
def test_of_a_cut_job_the_majority_goes_on(host: str, tmp_path: Path) -> None:
    """Of the network that carries our connections; the launcher has another one."""
    first = 2 * (ord(host) - ord("A"))
    victims = {first, first + 1}

    def cut(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        namespaces.cut(host)
        assert becomes(lambda: isolated(job) == 2), job.said()
        time.sleep(AGREEING_SECONDS)
        logs.say_enough(tmp_path)

    ended = jobs.run(hosts.mpirun(mixed(tmp_path), tmp_path, {}), meanwhile=cut)
    hosts.check(tmp_path, RANKS, victims, ended)
    for rank in victims:
        assert f"resprout: rank {rank} {ISOLATED}" in ended.err, str(ended)
        log = logs.read_logs(tmp_path, RANKS)[rank]
        assert not log.is_done, str(ended)
    for rank in set(range(RANKS)) - victims:
        views = hosts.part_of(tmp_path, rank)["views"]
        check_epochs(views)
        assert set(views[-1]["lost"]) == victims, f"{views}\n{ended}"


@pytest.mark.usefixtures("three_hosts")
def test_the_majority_comes_to_its_end_though_the_launcher_cannot_reach_all(tmp_path: Path) -> None:
    """It then waits in MPI_Finalize until the launcher can, or gives up after minutes."""
    victims = {4, 5}
    survivors = set(range(RANKS)) - victims

    def cut(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        for network in ("data", "control"):
            namespaces.cut("C", network=network)
        assert becomes(lambda: set(job.processes_by_rank()) == survivors), job.said()
        time.sleep(AGREEING_SECONDS)
        logs.say_enough(tmp_path)
        parts = [tmp_path / f"rank-{rank}.json" for rank in survivors]
        assert becomes(lambda: all(part.exists() for part in parts)), job.said()
        for network in ("data", "control"):
            namespaces.heal("C", network=network)

    ended = jobs.run(hosts.mpirun(mixed(tmp_path), tmp_path, {}), meanwhile=cut)
    hosts.check(tmp_path, RANKS, victims, ended)
    for rank in victims:
        assert f"resprout: rank {rank} {ISOLATED}" in ended.err, str(ended)


@pytest.mark.usefixtures("three_hosts")
def test_of_a_job_that_is_cut_in_three_nobody_goes_on(tmp_path: Path) -> None:
    def cut(job: jobs.Job) -> None:
        logs.wait_for_work(tmp_path, RANKS, job)
        namespaces.cut("A", "B", "C")

    ended = jobs.run(hosts.mpirun(mixed(tmp_path), tmp_path, {}), meanwhile=cut)
    assert ended.err.count(ISOLATED) == RANKS, str(ended)
