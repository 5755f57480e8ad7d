"""Jobs over several hosts whose next life waits in MPI_Init (test_standby.py).

The launcher is on A; B, C and D have two slots each.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jobs
import pytest
from lasting import begun, result_of, undisturbed, wait_for_step
from lives import Scene, close, ranks_of, wait_for_standby
from test_memory_checkpoint_hosts import KIB, RANKS, run
from test_restart_hosts import command, hosts_of
from whole_hosts import kill, variables

pytestmark = pytest.mark.usefixtures("four_hosts")


@contextmanager
def standing_by(folder: Path, *options: str) -> Iterator[Scene]:
    """A job of four ranks that compute, whose next life waits."""
    close(folder, "in", 0, *range(4))
    with jobs.started(command(folder, 4, "--standby", *options), variables(folder)) as job:
        scene = Scene(folder, job)
        scene.wait_for("in", 0, range(4))
        wait_for_standby(job, 1, 4, folder)
        assert len(ranks_of(job, 1)) == 4 and not list(folder.glob("in-1-*"))
        yield scene


def test_when_a_rank_is_lost_those_who_stood_by_on_the_same_hosts_go_on(folder: Path) -> None:
    with standing_by(folder) as scene:
        waiting = ranks_of(scene.job, 1)
        scene.kill(0, 3)
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert {rank: scene.find(1, rank)[0] for rank in range(4)} == waiting
    assert hosts_of(scene, 0, 4) == hosts_of(scene, 1, 4) == ["nodeB"] * 2 + ["nodeC"] * 2
    assert ended.lost == {3}, str(ended)
    assert "with the ranks that stood by" in ended.err, str(ended)


def test_when_a_host_is_lost_the_job_starts_anew_without_it(folder: Path) -> None:
    with standing_by(folder, "--spare-hosts", "1") as scene:
        waiting = ranks_of(scene.job, 1)
        kill("B")
        ended = scene.end()
    assert (ended.status, ended.out) == (0, "life 1 - read 0\n"), str(ended)
    assert {scene.find(1, rank)[0] for rank in range(4)}.isdisjoint(waiting.values())
    assert hosts_of(scene, 1, 4) == ["nodeD"] * 2 + ["nodeC"] * 2
    assert [life["lost_hosts"] for life in ended.report["lives"]] == [["nodeB"], []], str(ended)
    assert "with the ranks that stood by" not in ended.err, str(ended)


def test_those_who_stood_by_have_the_data_that_all_hosts_kept_in_memory(folder: Path) -> None:
    gate = folder / "wait-3"
    gate.touch()

    def lose(job: jobs.Job) -> None:
        wait_for_step(job, folder, 3, RANKS)
        wait_for_standby(job, 1, RANKS, folder)
        jobs.kill_together([ranks_of(job, 0)[2]])
        gate.unlink()

    ended = run(folder, 6, "--standby", meanwhile=lose)
    assert result_of(ended) == undisturbed(RANKS, 6, KIB), str(ended)
    # Of checkpoint 4, that of step 3, not all copies may have come.
    assert begun(ended)[0] == 0 and begun(ended)[1] in (2, 3), str(ended)
    assert "with the ranks that stood by" in ended.err, str(ended)
