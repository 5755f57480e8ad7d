"""`resprout sim digest-vote`: a step of a replicated program on the LogP machine."""

from typing import Any

import pytest
from resprout.native import Simulation, check_simulation

METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]


def run(method: str, degree: int, *fail_at: str, corruption: str = "none") -> dict[str, Any]:
    spec = f"digest-vote:method={method},degree={degree},corruption={corruption}"
    return Simulation(spec, procs=16 * degree).run(fail_at=list(fail_at))


@pytest.mark.parametrize("degree", [2, 3])
def test_every_copy_to_everybody_or_one_copy_and_one_digest(degree: int) -> None:
    for method in ("all-to-all", "async"):
        assert run(method, degree)["messages"] == 16 * degree**2
    for method in ("msg-plus-hash", "async-hash"):
        assert run(method, degree)["messages"] == 16 * degree * 2


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize(
    ("eager", "lazy"), [("all-to-all", "async"), ("msg-plus-hash", "async-hash")]
)
def test_a_lazy_method_delivers_earlier_and_verifies_no_later(
    eager: str, lazy: str, degree: int
) -> None:
    waits, goes_on = run(eager, degree), run(lazy, degree)
    assert goes_on["coloring_latency"] < waits["coloring_latency"]
    assert goes_on["completion_latency"] == waits["completion_latency"]


@pytest.mark.parametrize("method", METHODS)
def test_two_replicas_detect_a_corruption_and_three_outvote_it(method: str) -> None:
    # With two, no receiver that heard of the corrupted copy can say which is right.
    assert run(method, 2, corruption="sender")["uncolored"] == 2
    assert run(method, 3, corruption="sender")["uncolored"] == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("moment", [0, 1, 3, 6])
def test_everybody_goes_on_without_a_dead_replica(method: str, degree: int, moment: int) -> None:
    one_a_rank = [f"{rank * degree + rank % degree}@{moment}" for rank in range(16)]
    assert run(method, degree, *one_a_rank)["uncolored"] == 0


@pytest.mark.parametrize(
    ("machine", "complaint"),
    [
        ({"procs": 5}, "a multiple of the degree, 4 at least"),
        ({"procs": 2}, "a multiple of the degree, 4 at least"),
        ({"procs": 4, "root": 1}, "every rank sends to the next one"),
    ],
)
def test_what_cannot_be_simulated_is_refused(machine: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_simulation("digest-vote", **machine)
