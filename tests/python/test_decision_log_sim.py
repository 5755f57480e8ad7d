"""`resprout sim decision-log`: the replicas of ranks decide on the LogP machine."""

from typing import Any

import pytest
from resprout.native import Simulation, check_simulation


def run(degree: int, *fail_at: str, decisions: int = 4, window: int = 1024) -> dict[str, Any]:
    spec = f"decision-log:degree={degree},decisions={decisions},window={window}"
    return Simulation(spec, procs=4 * degree, latency=2, overhead=1).run(fail_at=list(fail_at))


@pytest.mark.parametrize(("degree", "messages"), [(2, 4), (3, 12)])
def test_a_decision_acknowledgments_of_all_to_all_and_a_farewell(
    degree: int, messages: int
) -> None:
    assert run(degree, decisions=1)["messages"] == 4 * messages


@pytest.mark.parametrize("degree", [2, 3])
def test_what_is_decided_meanwhile_travels_together(degree: int) -> None:
    assert run(degree, decisions=100)["messages"] == run(degree, decisions=1)["messages"]


@pytest.mark.parametrize("degree", [2, 3])
def test_the_leader_waits_for_who_is_a_window_behind(degree: int) -> None:
    wide, narrow = run(degree, decisions=64), run(degree, decisions=64, window=4)
    assert narrow["coloring_latency"] > 8 * wide["coloring_latency"]
    assert narrow["uncolored"] == 0


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("moment", [0, 1, 4, 7, 20])
def test_everybody_goes_on_without_the_leader(degree: int, moment: int) -> None:
    leaders = [f"{rank * degree}@{moment}" for rank in range(4)]
    assert run(degree, *leaders, decisions=20, window=4)["uncolored"] == 0


@pytest.mark.parametrize("moment", [0, 3, 8, 13])
def test_the_last_of_three_goes_on_alone(moment: int) -> None:
    deaths = [f"{rank * 3 + k}@{moment + k}" for rank in range(4) for k in range(2)]
    assert run(3, *deaths, decisions=20, window=4)["uncolored"] == 0


@pytest.mark.parametrize(
    ("machine", "complaint"),
    [
        ({"procs": 5}, "a multiple of the degree, 2"),
        ({"procs": 4, "root": 1}, "the lowest replica leads"),
    ],
)
def test_what_cannot_be_simulated_is_refused(machine: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_simulation("decision-log", **machine)
