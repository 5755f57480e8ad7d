"""What is seen of planes that are lost and come back: nothing in output, input and result."""

import pytest
import soak_returns
from soak_returns import Stage, check_output, returns_of


@pytest.mark.parametrize("method", ["async", "msg-plus-hash"])
def test_of_two_planes_one_after_the_other_is_lost_and_comes_back(method: str) -> None:
    def script(stage: Stage) -> None:
        for plane, times in ((0, 1), (1, 1), (0, 2)):
            stage.some_steps()
            stage.kill(plane, rank=1)
            stage.go_on_until_back(plane, times)
        stage.end()

    ended, steps = soak_returns.run(2, method, script)
    assert ended.status == 0, str(ended)
    check_output(ended, steps)
    assert returns_of(ended) == [2, 1]
    assert ended.report["corruptions"] == []


def test_strict_counts_planes_that_came_back() -> None:
    def script(stage: Stage) -> None:
        stage.some_steps()
        stage.kill(1, rank=0)
        stage.go_on_until_back(1)
        stage.end()

    ended, steps = soak_returns.run(2, "async", script, "--strict")
    assert ended.status == 3, str(ended)
    check_output(ended, steps)
    assert returns_of(ended) == [0, 1]


def test_a_job_whose_only_plane_is_lost_while_another_one_waits_ends() -> None:
    def script(stage: Stage) -> None:
        stage.some_steps()
        stage.kill(0, rank=2)
        stage.wait_until(0, "is started again")
        stage.kill(1, rank=1)

    ended, _ = soak_returns.run(2, "async-hash", script)
    assert ended.status == 137, str(ended)
    assert returns_of(ended) == [0, 0]
    assert [plane["how"] for plane in ended.report["planes"]] == ["lost", "lost"]


@pytest.mark.parametrize("seed", range(2))
def test_whenever_planes_are_lost_the_job_goes_on_with_those_that_are_there(seed: int) -> None:
    soak_returns.come_back(seed)
