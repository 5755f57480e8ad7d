"""Jobs of MPICH and Intel MPI whose next life waits in MPI_Init (test_standby.py)."""

from pathlib import Path

import other_mpis
import pytest
from lives import close, playing, ranks_of, wait_for_standby
from test_other_mpis_kills import with_shim


@pytest.fixture(params=other_mpis.PREFIXES)
def options(request: pytest.FixtureRequest) -> list[str]:
    return ["--standby", *other_mpis.options(with_shim(request.param))]


def test_who_stands_by_goes_on_when_a_rank_is_lost(tmp_path: Path, options: list[str]) -> None:
    close(tmp_path, "in", 0, 0, 1, 2)
    program = other_mpis.program("lives")
    with playing(tmp_path, 3, options, program=program) as scene:
        scene.wait_for("in", 0, range(3))
        wait_for_standby(scene.job, 1, 3)
        waiting = ranks_of(scene.job, 1)
        assert len(waiting) == 3 and not list(tmp_path.glob("in-1-*"))
        scene.kill(0, 1)
        ended = scene.end()
    assert ended.status == 0 and ended.out == "life 1 - read 0\n", str(ended)
    assert [life["lost"] for life in ended.report["lives"]] == [[1], []], str(ended)
    assert {rank: scene.find(1, rank)[0] for rank in range(3)} == waiting
    assert "with the ranks that stood by" in ended.err, str(ended)


def test_a_job_that_loses_nobody_ends_those_that_stand_by(
    tmp_path: Path, options: list[str]
) -> None:
    close(tmp_path, "in", 0, 0, 1)
    program = other_mpis.program("lives")
    with playing(tmp_path, 2, options, program=program) as scene:
        scene.wait_for("in", 0, range(2))
        wait_for_standby(scene.job, 1, 2)
        scene.open("in", 0, 0, 1)
        ended = scene.end()
    assert ended.status == 0 and ended.out == "life 0 - read 0\n", str(ended)
    assert [life["how"] for life in ended.report["lives"]] == ["whole"], str(ended)
