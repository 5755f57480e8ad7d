"""Jobs that lose whole hosts (whole_hosts.py) and are started again without them.

The launcher is on A; B, C and D have two slots each.
"""

from pathlib import Path

import jobs
import namespaces
import pytest
from lives import PROGRAM, Scene, close
from whole_hosts import HOSTS, kill, variables

pytestmark = pytest.mark.usefixtures("four_hosts")


def command(folder: Path, ranks: int, *options: str) -> list[str | Path]:
    hostfile = folder / "hosts"
    hostfile.write_text("".join(f"node{host} slots=2\n" for host in HOSTS))
    words: list[str | Path] = [jobs.RESPROUT, "run", "-n", str(ranks), "--hostfile", hostfile]
    words += ["--on-loss", "restart", "--run-dir", folder, "--report", folder / "report.json"]
    return [namespaces.TOOL, "in", "A", *words, *options, "--", PROGRAM, folder]


def hosts_of(scene: Scene, life: int, ranks: int) -> list[str]:
    return [scene.find(life, rank)[1] for rank in range(ranks)]


def test_a_spare_host_stands_where_one_was_that_died(folder: Path) -> None:
    close(folder, "in", 0, *range(4))
    with jobs.started(command(folder, 4, "--spare-hosts", "1"), variables(folder)) as job:
        scene = Scene(folder, job)
        scene.wait_for("in", 0, range(4))
        kill("B")
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert hosts_of(scene, 0, 4) == ["nodeB"] * 2 + ["nodeC"] * 2
    assert hosts_of(scene, 1, 4) == ["nodeD"] * 2 + ["nodeC"] * 2
    assert [life["lost_hosts"] for life in ended.report["lives"]] == [["nodeB"], []], str(ended)
    assert "host nodeB lost: what follows runs on nodeC, nodeD" in ended.err, str(ended)


def test_a_rank_that_dies_takes_no_host_out(folder: Path) -> None:
    close(folder, "in", 0, *range(4))
    with jobs.started(command(folder, 4, "--spares", "2"), variables(folder)) as job:
        scene = Scene(folder, job)
        scene.wait_for("in", 0, range(4))
        scene.kill(0, 3)
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert hosts_of(scene, 0, 4) == hosts_of(scene, 1, 4)
    assert ended.lost == {3}, str(ended)
    assert [life["lost_hosts"] for life in ended.report["lives"]] == [[], []], str(ended)


def test_a_host_that_dies_while_its_ranks_come_to_mpi_is_left_out_next_time(folder: Path) -> None:
    close(folder, "before", 0, 2)
    with jobs.started(command(folder, 6), variables(folder)) as job:
        scene = Scene(folder, job)
        scene.wait_for("pid", 0, range(6))
        kill("C")
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert {*hosts_of(scene, 1, 6)} == {"nodeB", "nodeD"}
    assert "2 more ranks than slots" in ended.err, str(ended)
